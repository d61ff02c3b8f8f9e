import Glibc
import MediaAssets
import MediaCore
import Playback
import WireProtocol

/// Descriptors that were handed over, until a command takes them: `fd:TOKEN`, each once, and by the user who handed it over.
///
/// Threading: confined to the control loop.
final class DescriptorTable: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, where its timers run.

  /// How long one waits to be taken.
  static let patienceNanoseconds: Int64 = 30_000_000_000

  private struct Waiting {
    let descriptor: OpenDescriptor
    let userID: UInt32
    var timer: any ControlTimer
  }

  private let loop: any ControlLoop
  /// How many of one user may wait, and how many may be open in all.
  var limit: Int
  var openLimit: Int
  private var waiting: [String: Waiting] = [:]

  init(loop: any ControlLoop, limits: WireLimits) {
    self.loop = loop
    limit = limits.descriptorCount
    openLimit = limits.openDescriptorCount
  }

  /// Takes over a descriptor of a user's, which has a new token (`newPath`) for its name. It is closed when nobody takes it within half a minute.
  ///
  /// Errors: `too-many-descriptors`.
  func add(_ descriptor: OpenDescriptor, of userID: UInt32) throws(MediaError) {
    let count = waiting.values.count { $0.userID == userID }
    guard count < limit else {
      throw MediaError(
        .tooManyDescriptors, "\(limit) descriptors wait to be taken by a command, and more may not", operation: "fd")
    }
    guard OpenDescriptor.count <= openLimit else {
      throw MediaError(
        .tooManyDescriptors, "\(openLimit) descriptors that were handed over are open, and more may not be",
        operation: "fd")
    }
    keep(descriptor, userID)
  }

  /// What a descriptor is called from now on. Threading: any.
  static func newPath() -> FilePath { FilePath(descriptorToken: makeToken()) }

  /// The descriptor of a token, which is the caller's from now on. Errors: `no-such-descriptor`, also for another user's.
  func take(_ token: String, by userID: UInt32?) throws(MediaError) -> OpenDescriptor {
    guard let found = waiting[token], found.userID == userID else {
      throw MediaError(
        .noSuchDescriptor, "there is no descriptor fd:\(token): each is taken once, and within half a minute",
        operation: "fd")
    }
    waiting[token] = nil
    found.timer.cancel()
    return found.descriptor
  }

  /// The command of a user that took it failed: another may take it.
  func putBack(_ descriptor: OpenDescriptor, of userID: UInt32) { keep(descriptor, userID) }

  private func keep(_ descriptor: OpenDescriptor, _ userID: UInt32) {
    guard let token = FilePath.descriptorToken(of: descriptor.name) else { return }
    let deadline = loop.now.advanced(byNanoseconds: Self.patienceNanoseconds)
    let timer = loop.schedule(at: deadline) { [weak self] in _ = self?.waiting.removeValue(forKey: token) }
    waiting[token] = Waiting(descriptor: descriptor, userID: userID, timer: timer)
  }

  /// 128 bits of the system's randomness: nobody guesses it.
  private static func makeToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
