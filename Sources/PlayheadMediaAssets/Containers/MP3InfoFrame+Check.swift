// Checks the length in an information frame. Streaming encoders, and programs that cut or join files, leave a header
// that is wrong for the file.
extension MP3InfoFrame {
  /// The smallest and the largest frame of layer III: 8 kbit/s at 24 kHz, and 320 kbit/s at 32 kHz with a padding byte.
  private static let frameByteCounts: ClosedRange<Int64> = 24...1_441

  /// Whether the file can have exactly the number of frames that the header states. A truncated file passes the check
  /// if the header also states the number of bytes.
  ///
  /// - Parameters:
  ///   - availableByteCount: bytes from the information frame to the end of the file.
  ///   - hasAudio: returns whether MPEG frames begin this many bytes after the information frame, or after tags there.
  func hasPlausibleLength(availableByteCount: Int64, hasAudio: (Int64) -> Bool) -> Bool {
    guard let mpegFrameCount else { return true }
    let possible = (
      least: mpegFrameCount * Self.frameByteCounts.lowerBound,
      most: (mpegFrameCount + 1) * Self.frameByteCounts.upperBound
    )
    guard let byteCount else {
      return availableByteCount >= possible.least && !(availableByteCount > possible.most && hasAudio(possible.most))
    }
    guard (possible.least...possible.most).contains(byteCount) else { return false }
    return !(availableByteCount > byteCount && hasAudio(byteCount))
  }
}
