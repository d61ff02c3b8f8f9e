import CPulse
import Glibc

/// An eventfd: raised from any thread without blocking or locking, seen by a loop that polls its descriptor.
final class EventSignal: Sendable {
  /// The descriptor; -1 when the system had none left.
  let descriptor: Int32

  init() { descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Makes the descriptor readable. A signal that is up already stays up.
  func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Takes the signal down.
  func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
