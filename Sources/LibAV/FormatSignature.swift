import CFFmpeg

/// Files whose first bytes leave no doubt about their format.
///
/// FFmpeg asks each of its 300 formats about a file, and those of its libraries: that touches 2 MB of code
/// which is not needed again, and time before the first sound.
enum FormatSignature {
  /// FFmpeg's format for the file, if its first bytes are those of a FLAC stream with the stream's parameters in front; nil
  /// when FFmpeg is to find out. What FFmpeg reads is not disturbed.
  static func format(of source: FileSource) -> UnsafePointer<AVInputFormat>? {
    isFLAC(source.bytes(at: 0, count: 8)) ? av_find_input_format("flac") : nil
  }

  /// `fLaC`, and the header of a STREAMINFO block of 34 bytes, which always comes first (RFC 9639, 8.1 and 8.2).
  static func isFLAC(_ bytes: [UInt8]) -> Bool {
    bytes.count == 8 && bytes.starts(with: "fLaC".utf8) && bytes[4] & 0x7F == 0 && bytes[5...] == [0, 0, 34]
  }
}
