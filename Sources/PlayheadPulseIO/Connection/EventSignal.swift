import CPlayheadPulse
import Glibc

/// A signal to a loop, through an eventfd. Any thread raises it without blocking or locking; the loop polls its
/// descriptor.
final class EventSignal: Sendable {
  /// The descriptor; -1 if the process had no descriptor left.
  let descriptor: Int32

  init() { descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Makes the descriptor readable. No effect if it is readable already.
  func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Makes the descriptor unreadable again.
  func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
