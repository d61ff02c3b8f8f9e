import Glibc
import PlayheadMediaCore

/// Interleaved float32 samples in an unnamed temporary file. A long file decodes to more than the memory limit of the
/// process.
///
/// Threading: one thread at a time appends; afterwards any thread reads.
final class SampleStore: @unchecked Sendable {
  // `@unchecked Sendable`: the store is immutable after `seal()`, and callers append on one thread.

  let channelCount: Int
  private(set) var frameCount = 0
  private let descriptor: Int32
  private var memory: UnsafeMutableRawPointer?

  /// The largest file, in bytes.
  static let byteLimit = 16 << 30

  init(channelCount: Int) throws(MediaError) {
    self.channelCount = channelCount
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/check-media-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw MediaError(.writeFailed, "no temporary file can be made in \(folder)", operation: "mkstemp")
    }
    unlink(template)
  }

  deinit {
    if let memory { munmap(memory, byteCount) }
    close(descriptor)
  }

  private var byteCount: Int { frameCount * channelCount * MemoryLayout<Float>.size }

  /// Appends frames. Requires that `seal()` was not called yet.
  func append(_ samples: UnsafePointer<Float>, frameCount count: Int) throws(MediaError) {
    precondition(memory == nil, "a sealed store does not grow")
    var bytes = UnsafeRawPointer(samples)
    var remaining = count * channelCount * MemoryLayout<Float>.size
    guard byteCount + remaining <= Self.byteLimit else {
      throw MediaError(.mediaLimitExceeded, "the audio is longer than \(Self.byteLimit) bytes", operation: "write")
    }
    while remaining > 0 {
      let written = write(descriptor, bytes, remaining)
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw MediaError(.writeFailed, "the temporary file is full", operation: "write") }
      bytes += written
      remaining -= written
    }
    frameCount += count
  }

  /// Makes the samples readable.
  func seal() throws(MediaError) {
    guard memory == nil, byteCount > 0 else { return }
    guard let address = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0), address != MAP_FAILED else {
      throw MediaError(.readFailed, "the temporary file cannot be mapped", operation: "mmap")
    }
    memory = address
  }

  /// Calls `body` with all samples.
  func withSamples<Result>(_ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result {
    guard let memory else { return try body(UnsafeBufferPointer(start: nil, count: 0)) }
    let start = memory.assumingMemoryBound(to: Float.self)
    return try body(UnsafeBufferPointer(start: start, count: frameCount * channelCount))
  }
}
