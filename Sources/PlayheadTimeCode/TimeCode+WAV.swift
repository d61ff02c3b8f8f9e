import Glibc
import PlayheadMediaCore

/// Files of time codes.
extension TimeCode {
  /// Writes `frameCount` frames of file number `file`, from index `firstIndex` on, as 16-bit stereo WAV. An existing
  /// file is replaced.
  ///
  /// - Throws: `writeFailed`.
  public static func writeWAV(
    path: String, file: Int, frameCount: Int, sampleRateHz: Int = 48_000, firstIndex: Int = 0
  ) throws(MediaError) {
    try writeWAV(path: path, frameCount: frameCount, sampleRateHz: sampleRateHz) {
      frame(file: file, index: firstIndex + $0)
    }
  }

  /// Writes a 16-bit stereo WAV file with the frames of a closure. An existing file is replaced.
  ///
  /// - Throws: `writeFailed`.
  public static func writeWAV(
    path: String, frameCount: Int, sampleRateHz: Int = 48_000, frame: (_ index: Int) -> StereoFrame
  ) throws(MediaError) {
    precondition((0...Int(UInt32.max - 36) / 4).contains(frameCount), "a WAV file has less than 4 GiB")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(44 + frameCount * 4)
    func append(_ value: Int, byteCount: Int) {
      for byte in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
    let dataByteCount = frameCount * 4
    bytes += Array("RIFF".utf8)
    append(36 + dataByteCount, byteCount: 4)
    bytes += Array("WAVEfmt ".utf8)
    append(16, byteCount: 4)
    append(1, byteCount: 2)
    append(2, byteCount: 2)
    append(sampleRateHz, byteCount: 4)
    append(sampleRateHz * 4, byteCount: 4)
    append(4, byteCount: 2)
    append(16, byteCount: 2)
    bytes += Array("data".utf8)
    append(dataByteCount, byteCount: 4)
    for index in 0..<frameCount {
      let frame = frame(index)
      append(Int(frame.left), byteCount: 2)
      append(Int(frame.right), byteCount: 2)
    }
    try write(bytes, to: path)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(MediaError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { close(descriptor) }
    let failure = bytes.withUnsafeBytes { buffer -> MediaError? in
      var done = 0
      while done < buffer.count {
        let count = Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return Self.failure(path) }
        done += count
      }
      return nil
    }
    if let failure { throw failure }
  }

  private static func failure(_ path: String, _ number: Int32 = errno) -> MediaError {
    MediaError(
      .writeFailed, "the file cannot be written: \(path)", operation: "writeWAV",
      underlying: "\(String(cString: strerror(number))) (errno \(number))")
  }
}
