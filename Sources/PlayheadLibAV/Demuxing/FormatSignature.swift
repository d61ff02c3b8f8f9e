import CPlayheadFFmpeg

/// Formats that are identified by their first bytes with certainty.
///
/// FFmpeg probes a file with each of its 300 formats, and with those of its libraries. That loads 2 MB of code that is
/// not needed again, and delays the first audio.
enum FormatSignature {
  /// Returns FFmpeg's format for the file if it begins with a FLAC stream and its parameters; nil if FFmpeg must probe
  /// it. Does not disturb FFmpeg's reads.
  static func format(of source: FileSource) -> UnsafePointer<AVInputFormat>? {
    isFLAC(source.bytes(at: 0, count: 8)) ? av_find_input_format("flac") : nil
  }

  /// Returns whether the bytes are `fLaC` and the header of a STREAMINFO block of 34 bytes, which always comes first
  /// (RFC 9639, 8.1 and 8.2).
  static func isFLAC(_ bytes: [UInt8]) -> Bool {
    bytes.count == 8 && bytes.starts(with: "fLaC".utf8) && bytes[4] & 0x7F == 0 && bytes[5...] == [0, 0, 34]
  }
}
