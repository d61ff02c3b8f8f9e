import CMediaShims
import Glibc
import MediaCore
import Synchronization

/// Memory that this process and a worker share: a flag that cancels what the worker does, and room for samples.
///
/// The worker may write into it at any time, whatever it is asked for: nothing in it is believed but that it is samples. Threading: any
/// for the flag; the samples belong to the thread that reads.
final class SharedSamples: Cancellable, @unchecked Sendable {
  // `@unchecked Sendable`: see above.

  /// Bytes of samples: 1 MiB.
  static let sampleByteCount = 1 << 20
  /// Where the samples begin.
  private static let sampleOffset = 4_096
  private static var byteCount: Int { sampleOffset + sampleByteCount }

  private let memory: UnsafeMutableRawPointer
  /// The samples.
  var samples: UnsafeMutableRawPointer { memory + Self.sampleOffset }
  /// Not 0 while the worker is to give up.
  let cancellation: UnsafePointer<Atomic<UInt32>>

  /// Makes memory, and calls `body` with its descriptor. Errors: `workerUnavailable` where there is none left.
  static func make<Value>(
    _ body: (SharedSamples, Int32) throws(MediaError) -> Value
  ) throws(MediaError) -> Value {
    let descriptor = media_shims_shared_memory(byteCount)
    guard descriptor >= 0 else { throw failure }
    defer { close(descriptor) }
    return try body(try SharedSamples(mapping: descriptor), descriptor)
  }

  /// Maps memory that another process has made. The descriptor stays the caller's. Errors: `workerUnavailable`.
  init(mapping descriptor: Int32) throws(MediaError) {
    guard let memory = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      memory != MAP_FAILED
    else { throw Self.failure }
    self.memory = memory
    cancellation = UnsafePointer(memory.assumingMemoryBound(to: Atomic<UInt32>.self))
  }

  deinit { munmap(memory, Self.byteCount) }

  /// Cancels the worker's current function. Threading: any; does not block.
  func cancel() { cancellation.pointee.store(1, ordering: .releasing) }

  /// Allows further functions. Threading: any; does not block.
  func resume() { cancellation.pointee.store(0, ordering: .releasing) }

  private static var failure: MediaError {
    MediaError(
      .workerUnavailable, "no memory can be shared with a worker process", operation: "worker",
      underlying: String(cString: strerror(errno)))
  }
}
