// A wait for input during which signals are delivered.
import Glibc

/// A set of descriptors, and those of them that are readable.
struct ReadableDescriptors {
  private var set = fd_set()
  private var highest: Int32 = -1

  /// Waits until a descriptor is readable or at its end, a signal arrives, or the time is over.
  ///
  /// A signal that is blocked outside waits cannot arrive unnoticed just before the wait (`pselect(2)`).
  ///
  /// - Parameters:
  ///   - descriptors: The descriptors. Negative ones are ignored.
  ///   - mask: The signals that are blocked during the wait.
  ///   - milliseconds: The maximum time. Negative: no limit.
  init(waitingFor descriptors: Int32..., mask: inout sigset_t, milliseconds: Int32 = -1) {
    for descriptor in descriptors { insert(descriptor) }
    var limit = timespec(tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
    let count =
      milliseconds < 0
      ? pselect(highest + 1, &set, nil, nil, nil, &mask) : pselect(highest + 1, &set, nil, nil, &limit, &mask)
    // After an error, the set is undefined. A descriptor that is not open counts as readable: reading it fails.
    let error = errno
    if count <= 0 { set = fd_set() }
    if count < 0, error != EINTR { for descriptor in descriptors { insert(descriptor) } }
  }

  private mutating func insert(_ descriptor: Int32) {
    guard descriptor >= 0, descriptor < FD_SETSIZE else { return }
    withUnsafeMutableBytes(of: &set) { $0[Int(descriptor) / 8] |= 1 << UInt8(descriptor % 8) }
    highest = max(highest, descriptor)
  }

  func contains(_ descriptor: Int32) -> Bool {
    guard descriptor >= 0, descriptor < FD_SETSIZE else { return false }
    return withUnsafeBytes(of: set) { $0[Int(descriptor) / 8] & 1 << UInt8(descriptor % 8) != 0 }
  }
}
