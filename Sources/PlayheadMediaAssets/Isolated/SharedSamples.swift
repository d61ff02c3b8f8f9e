import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore
import Synchronization

/// Memory shared by this process and a worker: a flag that cancels the worker's function, and samples.
///
/// The worker may write to this memory at any time. This process therefore interprets its contents only as samples.
/// Threading: any thread may use the flag; only the reading thread uses the samples.
final class SharedSamples: Cancellable, @unchecked Sendable {
  // `@unchecked Sendable`: the flag is atomic, and only the reading thread uses the samples.

  /// The size of the samples in bytes: 1 MiB.
  static let sampleByteCount = 1 << 20
  /// The offset of the samples.
  private static let sampleOffset = 4_096
  private static var byteCount: Int { sampleOffset + sampleByteCount }

  private let memory: UnsafeMutableRawPointer
  /// The samples.
  var samples: UnsafeMutableRawPointer { memory + Self.sampleOffset }
  /// The flag: not 0 while the worker must stop its function.
  let cancellation: UnsafePointer<Atomic<UInt32>>

  /// Creates the memory, and calls `body` with its descriptor.
  ///
  /// - Throws: `workerUnavailable` if there is not enough memory.
  static func make<Value>(
    _ body: (SharedSamples, Int32) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    let descriptor = media_shims_shared_memory(byteCount)
    guard descriptor >= 0 else { throw failure }
    defer { close(descriptor) }
    return try body(try SharedSamples(mapping: descriptor), descriptor)
  }

  /// Maps memory that another process has created. The caller keeps ownership of the descriptor.
  ///
  /// - Throws: `workerUnavailable`.
  init(mapping descriptor: Int32) throws(MediaError) {
    guard let memory = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      memory != MAP_FAILED
    else { throw Self.failure }
    self.memory = memory
    cancellation = UnsafePointer(memory.assumingMemoryBound(to: Atomic<UInt32>.self))
  }

  deinit { munmap(memory, Self.byteCount) }

  /// Cancels the worker's current function. Any thread; does not block.
  func cancel() { cancellation.pointee.store(1, ordering: .releasing) }

  /// Allows further functions. Any thread; does not block.
  func resume() { cancellation.pointee.store(0, ordering: .releasing) }

  private static var failure: MediaError {
    MediaError(
      .workerUnavailable, "cannot share memory with a worker process", operation: "worker",
      underlying: String(cString: strerror(errno)))
  }
}
