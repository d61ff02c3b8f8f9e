// Cancellation of blocking reads. One thread reads; any thread cancels. The flag is an atomic that FFmpeg polls through
// its interrupt callback, and the event descriptor wakes our own `poll` on sources that can block. It never frees
// anything while a read runs: readers own the object too.
import CMediaShims
import Glibc
import MediaCore
import Synchronization

/// A switch that makes blocked and future reads of one source give up, until it is reset.
public final class Interrupt: Sendable {
  private let cancelled = Atomic<Bool>(false)
  /// An `eventfd` that is readable while cancelled; made only for sources that can block. -1: not made.
  private let eventDescriptor = Mutex<Int32>(-1)

  /// Work that blocks by itself and follows this switch. Protected by its lock.
  private let sources = Mutex<[any Cancellable]>([])

  /// Another process's flag, which cancels as well; nil: there is none.
  private let sharedFlag: SharedFlag?

  public init() { sharedFlag = nil }

  /// A switch that another process can use, too.
  ///
  /// - Parameter flag: not 0 while this is cancelled; in memory that outlives this object.
  public init(sharedFlag flag: UnsafePointer<Atomic<UInt32>>) { sharedFlag = SharedFlag(pointer: flag) }

  /// A flag in shared memory. `@unchecked Sendable`: it is an atomic.
  private struct SharedFlag: @unchecked Sendable {
    let pointer: UnsafePointer<Atomic<UInt32>>
  }

  deinit {
    let descriptor = eventDescriptor.withLock { $0 }
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Whether reads give up now. Any thread; does not block.
  public var isCancelled: Bool {
    cancelled.load(ordering: .acquiring)
      || (sharedFlag.map { $0.pointer.pointee.load(ordering: .acquiring) != 0 } ?? false)
  }

  /// Makes blocked and future reads answer `cancelled`. Any thread.
  public func cancel() {
    cancelled.store(true, ordering: .releasing)
    sources.withLock { for source in $0 { source.cancel() } }
    eventDescriptor.withLock { descriptor in
      if descriptor >= 0 { media_shims_event_signal(descriptor) }
    }
  }

  /// Allows reads again. Any thread, but it is the caller's to know that nobody still wants the cancellation.
  public func reset() {
    cancelled.store(false, ordering: .releasing)
    sources.withLock { for source in $0 { source.resume() } }
    eventDescriptor.withLock { descriptor in
      if descriptor >= 0 { media_shims_event_clear(descriptor) }
    }
  }

  /// Makes blocking work follow this switch. Any thread.
  public func attach(_ source: any Cancellable) {
    sources.withLock { sources in
      sources.append(source)
      if isCancelled { source.cancel() } else { source.resume() }
    }
  }

  /// Ends that, once for each `attach`.
  public func detach(_ source: any Cancellable) {
    sources.withLock { sources in
      if let index = sources.lastIndex(where: { $0 === source }) { sources.remove(at: index) }
    }
  }

  /// Blocks until `descriptor` can be read or this is cancelled; false when cancelled.
  public func waitUntilReadable(_ descriptor: Int32) throws(AVFailure) -> Bool {
    let event = eventDescriptor.withLock { existing in
      if existing < 0 { existing = media_shims_event_open() }
      return existing
    }
    guard event >= 0 else { throw AVFailure(errno: errno, call: "eventfd") }
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: event, events: Int16(POLLIN), revents: 0),
    ]
    while !isCancelled {
      let ready = poll(&entries, 2, -1)
      if ready < 0, errno != EINTR { throw AVFailure(errno: errno, call: "poll") }
      if ready > 0, entries[0].revents != 0 { return !isCancelled }
    }
    return false
  }

  /// The callback that FFmpeg asks during blocking calls; it gets this object unretained.
  static let callback: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { opaque in
    guard let opaque else { return 0 }
    return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isCancelled ? 1 : 0
  }
}
