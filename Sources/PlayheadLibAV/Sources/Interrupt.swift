// Cancellation of blocking reads. One thread reads; any thread cancels. FFmpeg polls the atomic flag through its
// interrupt callback. The event descriptor wakes Playhead's `poll` on sources that can block. Readers retain the
// object, so that it exists during every read.
import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore
import Synchronization

/// A switch that aborts blocked and future reads of one source until it is reset.
package final class Interrupt: Sendable {
  private let cancelled = Atomic<Bool>(false)
  /// An `eventfd` that is readable while cancelled; created only for sources that can block. -1: not created.
  private let eventDescriptor = Mutex<Int32>(-1)

  /// Blocking work that this switch cancels. Protected by its lock.
  private let sources = Mutex<[any Cancellable]>([])

  /// A flag of another process that also cancels; nil: there is none.
  private let sharedFlag: SharedFlag?

  package init() { sharedFlag = nil }

  /// Creates a switch that another process can also use.
  ///
  /// - Parameter flag: Not 0 while cancelled; the memory must outlive this object.
  package init(sharedFlag flag: UnsafePointer<Atomic<UInt32>>) { sharedFlag = SharedFlag(pointer: flag) }

  /// A flag in shared memory. `@unchecked Sendable`: it is an atomic.
  private struct SharedFlag: @unchecked Sendable {
    let pointer: UnsafePointer<Atomic<UInt32>>
  }

  deinit {
    let descriptor = eventDescriptor.withLock { $0 }
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Whether reads are aborted now. Any thread; does not block.
  package var isCancelled: Bool {
    cancelled.load(ordering: .acquiring)
      || (sharedFlag.map { $0.pointer.pointee.load(ordering: .acquiring) != 0 } ?? false)
  }

  /// Makes blocked and future reads return `cancelled`. Any thread.
  package func cancel() {
    cancelled.store(true, ordering: .releasing)
    sources.withLock { for source in $0 { source.cancel() } }
    eventDescriptor.withLock { descriptor in
      if descriptor >= 0 { media_shims_event_signal(descriptor) }
    }
  }

  /// Allows reads again. Any thread; the caller must ensure that the cancellation is no longer needed.
  package func reset() {
    cancelled.store(false, ordering: .releasing)
    sources.withLock { for source in $0 { source.resume() } }
    eventDescriptor.withLock { descriptor in
      if descriptor >= 0 { media_shims_event_clear(descriptor) }
    }
  }

  /// Cancels and resumes `source` with this switch, from its current state on. Any thread.
  package func attach(_ source: any Cancellable) {
    sources.withLock { sources in
      sources.append(source)
      if isCancelled { source.cancel() } else { source.resume() }
    }
  }

  /// Undoes one `attach`.
  package func detach(_ source: any Cancellable) {
    sources.withLock { sources in
      if let index = sources.lastIndex(where: { $0 === source }) { sources.remove(at: index) }
    }
  }

  /// Blocks until `descriptor` is readable or the switch is cancelled; returns false when cancelled.
  package func waitUntilReadable(_ descriptor: Int32) throws(AVFailure) -> Bool {
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

  /// The callback that FFmpeg polls during blocking calls; it receives this object unretained.
  static let callback: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { opaque in
    guard let opaque else { return 0 }
    return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isCancelled ? 1 : 0
  }
}
