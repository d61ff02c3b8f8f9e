extension TagContainer {
  /// The number of bytes that `init(header:)` examines.
  package static let headerByteCount = 16

  /// Detects the container of a file from its first bytes, for files that FFmpeg does not open. Unknown bytes give
  /// `edges`, because these tags do not depend on the format of the file.
  ///
  /// - Parameter header: the first `headerByteCount` bytes, or those after an ID3v2 tag.
  package init(header: [UInt8]) {
    func has(_ text: String, at offset: Int = 0) -> Bool { header.dropFirst(offset).starts(with: text.utf8) }
    self =
      if has("fLaC") {
        .flac
      } else if has("OggS") {
        .ogg
      } else if ["ftyp", "moov", "mdat", "wide", "free", "skip"].contains(where: { has($0, at: 4) }) {
        .mp4
      } else if has("RIFF"), has("WAVE", at: 8) {
        .wav
      } else if has("FORM"), has("AIF", at: 8) {
        .aiff
      } else if header.starts(with: [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]) {
        .asf
      } else if header.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
        .matroska
      } else if has("DSD ") || has("FRM8") {
        .dsd
      } else if ["MAC ", "MPCK", "MP+", "wvpk", "tBaK", "OFR "].contains(where: { has($0) }) {
        .apeEdges
      } else {
        .edges
      }
  }

  /// The size in bytes of the ID3v2 tag that begins with these bytes; 0 if there is none (ID3v2.4, 3.1).
  package static func id3v2ByteCount(_ header: [UInt8]) -> Int64 {
    guard header.count >= 10, header.starts(with: "ID3".utf8), header[6..<10].allSatisfy({ $0 < 0x80 }) else {
      return 0
    }
    let size = header[6..<10].reduce(Int64(0)) { $0 << 7 | Int64($1) }
    return size + (header[5] & 0x10 != 0 ? 20 : 10)
  }
}
