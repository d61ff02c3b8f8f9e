import Foundation
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Ogg files made for tests, and edits of their pages (RFC 3533, section 6).
enum OggFile {
  /// The pages of a file, each with its header.
  static func pages(_ bytes: [UInt8]) -> [[UInt8]] {
    var pages: [[UInt8]] = []
    var offset = 0
    while offset + 27 <= bytes.count {
      let segmentCount = Int(bytes[offset + 26])
      let table = bytes[(offset + 27)..<(offset + 27 + segmentCount)]
      let end = offset + 27 + segmentCount + table.reduce(0) { $0 + Int($1) }
      pages.append(Array(bytes[offset..<end]))
      offset = end
    }
    return pages
  }

  /// A page's granule position; -1 when no packet ends on it.
  static func granule(_ page: [UInt8]) -> Int64 {
    Int64(bitPattern: page[6..<14].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// The page with a different granule position.
  static func page(_ page: [UInt8], granule: Int64) -> [UInt8] {
    var page = page
    for byte in 0..<8 { page[6 + byte] = UInt8(truncatingIfNeeded: granule >> (8 * Int64(byte))) }
    return withChecksum(page)
  }

  /// The page marked as the last one of its stream, or not.
  static func page(_ page: [UInt8], isLast: Bool) -> [UInt8] {
    var page = page
    page[5] = isLast ? page[5] | 4 : page[5] & ~4
    return withChecksum(page)
  }

  private static func withChecksum(_ page: [UInt8]) -> [UInt8] {
    var page = page
    let checksum = page.withUnsafeBytes { OggChecksum.shared.checksum($0) }
    for byte in 0..<4 { page[22 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
    return page
  }

  /// Encodes noise with loud clicks, for which Vorbis uses many short blocks.
  ///
  /// - Parameters:
  ///   - encoder: arguments of `oggenc`, or, after "ffmpeg", those of FFmpeg.
  /// - Returns: the path of the file.
  static func clicks(
    in folder: TemporaryFolder, as name: String, seconds: Double, rate: Int, channelCount: Int, _ encoder: [String]
  ) throws -> String {
    let wave = folder.file("clicks.wav")
    let click = "val(0)*if(lt(mod(t\\,0.061)\\,0.001)\\,2\\,0.02)"
    let clicks = "aeval=\(Array(repeating: click, count: channelCount).joined(separator: "|"))"
    let layout = channelCount == 1 ? "mono" : "stereo"
    try Tool.ffmpeg(arguments: [
      "-f", "lavfi", "-i",
      "anoisesrc=r=\(rate):d=\(seconds):c=pink:a=0.5:seed=3,aformat=channel_layouts=\(layout),\(clicks)",
      "-c:a", "pcm_s16le", wave,
    ])
    let path = folder.file(name)
    if encoder.first == "ffmpeg" {
      try Tool.ffmpeg(arguments: ["-i", wave] + encoder.dropFirst() + [path])
    } else {
      try Tool.run("oggenc", ["-Q"] + encoder + ["-o", path, wave])
    }
    return path
  }

  /// The samples that libvorbis decodes, interleaved and rounded to 16 bits.
  static func decodedByLibvorbis(_ path: String) throws -> [Int16] {
    let decoded = path + ".s16"
    try Tool.run("oggdec", ["-Q", "-R", "-o", decoded, path])
    return try readFile(decoded).withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count - 1, by: 2).map {
        Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self))
      }
    }
  }
}
