import Glibc
import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// The passed descriptors that no command has used yet. Each has the name `fd:TOKEN`. Only the user that passed a
/// descriptor can use it, and only once.
///
/// Threading: confined to the control loop.
final class DescriptorTable: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which its timers run.

  /// The time after which an unused descriptor is closed: 30 s.
  static let timeoutNanoseconds: Int64 = 30_000_000_000

  private struct UnusedDescriptor {
    let descriptor: OpenDescriptor
    let userID: UInt32
    var timer: any ControlTimer
  }

  private let loop: any ControlLoop
  /// The maximum number of unused descriptors of one user.
  var limit: Int
  /// The maximum number of open descriptors of all users.
  var openLimit: Int
  private var unused: [String: UnusedDescriptor] = [:]

  init(loop: any ControlLoop, limits: WireLimits) {
    self.loop = loop
    limit = limits.descriptorCount
    openLimit = limits.openDescriptorCount
  }

  /// Takes ownership of a descriptor that a user passed. Its name comes from `newPath`. Without use, the descriptor is
  /// closed after 30 s.
  ///
  /// - Throws: `too-many-descriptors`.
  func add(_ descriptor: OpenDescriptor, of userID: UInt32) throws(MediaError) {
    let count = unused.values.count { $0.userID == userID }
    guard count < limit else {
      throw MediaError(
        .tooManyDescriptors, "the limit of \(limit) descriptors that no command has used is reached", operation: "fd")
    }
    guard OpenDescriptor.count <= openLimit else {
      throw MediaError(
        .tooManyDescriptors, "the limit of \(openLimit) open descriptors from clients is reached",
        operation: "fd")
    }
    insert(descriptor, userID)
  }

  /// A new name for a descriptor. Threading: any.
  static func newPath() -> FilePath { FilePath(descriptorToken: makeToken()) }

  /// Removes the descriptor of a token and passes its ownership to the caller.
  ///
  /// - Throws: `no-such-descriptor`, also for a descriptor of another user.
  func claim(_ token: String, by userID: UInt32?) throws(MediaError) -> OpenDescriptor {
    guard let found = unused[token], found.userID == userID else {
      throw MediaError(
        .noSuchDescriptor, "unknown descriptor fd:\(token): a descriptor can be used once, within half a minute",
        operation: "fd")
    }
    unused[token] = nil
    found.timer.cancel()
    return found.descriptor
  }

  /// Makes a descriptor available again for 30 s, after the command that used it failed.
  func restore(_ descriptor: OpenDescriptor, of userID: UInt32) { insert(descriptor, userID) }

  private func insert(_ descriptor: OpenDescriptor, _ userID: UInt32) {
    guard let token = FilePath.descriptorToken(of: descriptor.name) else { return }
    let deadline = loop.now.advanced(byNanoseconds: Self.timeoutNanoseconds)
    let timer = loop.schedule(at: deadline) { [weak self] in _ = self?.unused.removeValue(forKey: token) }
    unused[token] = UnusedDescriptor(descriptor: descriptor, userID: userID, timer: timer)
  }

  /// A token of 128 random bits from the system, which other users cannot guess.
  private static func makeToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
