import Glibc
import PlayheadMediaCore

/// The target of a sink without a device.
public protocol SampleWriter: AnyObject {
  /// Prepares the target for audio of `format`. Called before the first `write`.
  func begin(format: AudioFormat) throws(MediaError)
  /// Writes interleaved float32 frames. May block.
  func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError)
  /// Completes the target. Called once, after the last `write`.
  func finish()
}

/// The sample format of `wav:` and `pipe:` outputs: little-endian, interleaved.
public enum SampleEncoding: String, Sendable, CaseIterable {
  /// Whole numbers of 16 or 24 bits, or 32-bit floating-point numbers.
  case s16, s24, f32

  /// The number of bytes of a sample.
  public var bytesPerSample: Int {
    switch self {
    case .s16: 2
    case .s24: 3
    case .f32: 4
    }
  }

  /// Appends `count` float32 samples to `bytes`. Integers are rounded to nearest, even at ties, and clamped.
  func encode(_ samples: UnsafePointer<Float>, count: Int, into bytes: inout [UInt8]) {
    switch self {
    case .s16: for index in 0..<count { append(Self.quantize(samples[index], scale: 32_768), byteCount: 2, to: &bytes) }
    case .s24:
      for index in 0..<count { append(Self.quantize(samples[index], scale: 8_388_608), byteCount: 3, to: &bytes) }
    case .f32:
      for index in 0..<count {
        let pattern = samples[index].bitPattern
        for byte in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: pattern >> UInt32(byte * 8))) }
      }
    }
  }

  private static func quantize(_ sample: Float, scale: Float) -> Int32 {
    let scaled = (sample * scale).rounded(.toNearestOrEven)
    return scaled.isNaN ? 0 : Int32(max(-scale, min(scale - 1, scaled)))
  }

  private func append(_ value: Int32, byteCount: Int, to bytes: inout [UInt8]) {
    for byte in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> Int32(byte * 8))) }
  }
}

/// Writes the output to a file: a WAV file with a header, or a FIFO with bare samples.
///
/// Threading: one thread at a time, the sink's thread.
public final class SampleFileWriter: SampleWriter {
  /// The kind of file.
  public enum Container: Sendable {
    /// A WAV file, created or overwritten; its header is completed by `finish`.
    case wav
    /// A FIFO with bare samples, created if missing. A reader that does not read blocks the output.
    case pipe
  }

  private let path: String
  private let container: Container
  private let encoding: SampleEncoding
  private let shouldStop: @Sendable () -> Bool
  private var descriptor: Int32 = -1
  private var format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
  private var dataByteCount: UInt64 = 0
  private var buffer: [UInt8] = []

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - container: The kind of file.
  ///   - encoding: The format of the samples.
  ///   - shouldStop: Polled while a FIFO is full. Once it returns true, `write` discards the rest and returns, so that
  ///     the sink can be closed.
  package init(
    path: String, container: Container, encoding: SampleEncoding, shouldStop: @escaping @Sendable () -> Bool = { false }
  ) {
    self.path = path
    self.container = container
    self.encoding = encoding
    self.shouldStop = shouldStop
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  public func begin(format: AudioFormat) throws(MediaError) {
    self.format = format
    switch container {
    case .wav:
      descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      do throws(MediaError) {
        try writeBytes(header())
      } catch {
        close(descriptor)
        descriptor = -1
        throw error
      }
    case .pipe:
      if mkfifo(path, 0o600) != 0, errno != EEXIST { throw Self.failure("mkfifo", path) }
      // O_RDWR: `open` does not wait for a reader, and a write without a reader causes no SIGPIPE.
      descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw Self.failure("open", path) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
        close(descriptor)
        descriptor = -1
        throw MediaError(.outputConfiguration, "\(path) exists and is not a FIFO", operation: "open")
      }
    }
  }

  public func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    buffer.removeAll(keepingCapacity: true)
    encoding.encode(samples, count: frameCount * format.channelCount, into: &buffer)
    try writeBytes(buffer)
    dataByteCount += UInt64(buffer.count)
  }

  public func finish() {
    guard descriptor >= 0 else { return }
    if container == .wav {
      // RIFF pads a chunk of odd length; the chunk's size does not include the padding.
      if dataByteCount % 2 == 1 { try? writeBytes([0]) }
      let bytes = header()
      _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
    close(descriptor)
    descriptor = -1
  }

  private func writeBytes(_ bytes: [UInt8]) throws(MediaError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
      if count >= 0 {
        done += count
      } else if errno == EAGAIN {
        if shouldStop() { return }
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, 100)
      } else if errno != EINTR {
        throw Self.failure("write", path)
      }
    }
  }

  /// Returns the RIFF header for the samples written so far (Microsoft, Multimedia Programming Interface 1.0). Sizes
  /// beyond 4 GiB are written as 0xFFFFFFFF, which readers interpret as "until the end".
  private func header() -> [UInt8] {
    func littleEndian(_ value: UInt64, _ byteCount: Int) -> [UInt8] {
      (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }
    let frameBytes = UInt64(encoding.bytesPerSample * format.channelCount)
    let limited = { (size: UInt64) in min(size, UInt64(UInt32.max)) }
    var bytes = Array("RIFF".utf8) + littleEndian(limited(dataByteCount + dataByteCount % 2 + 36), 4)
    bytes += Array("WAVEfmt ".utf8)
    bytes += littleEndian(16, 4) + littleEndian(encoding == .f32 ? 3 : 1, 2)
    bytes += littleEndian(UInt64(format.channelCount), 2)
    bytes += littleEndian(UInt64(format.sampleRateHz), 4) + littleEndian(frameBytes * UInt64(format.sampleRateHz), 4)
    bytes += littleEndian(frameBytes, 2) + littleEndian(UInt64(encoding.bytesPerSample * 8), 2)
    return bytes + Array("data".utf8) + littleEndian(limited(dataByteCount), 4)
  }

  private static func failure(_ call: String, _ path: String) -> MediaError {
    let code = errno
    return MediaError(
      .writeFailed, "cannot write \(path): \(String(cString: strerror(code)))", operation: call,
      underlying: "errno \(code)")
  }
}
