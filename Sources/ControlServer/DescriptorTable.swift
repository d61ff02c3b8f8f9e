import Glibc
import MediaAssets
import MediaCore
import Playback
import WireProtocol

/// Descriptors that were handed over, until a command takes them: `fd:N`, each once.
///
/// Threading: confined to the control loop.
final class DescriptorTable: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, where its timers run.

  /// How long one waits to be taken.
  static let patienceNanoseconds: Int64 = 30_000_000_000

  private struct Waiting {
    let descriptor: OpenDescriptor
    var timer: any ControlTimer
  }

  private let loop: any ControlLoop
  private let limit: Int
  private var waiting: [Int: Waiting] = [:]
  private var nextNumber = 1

  init(loop: any ControlLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
  }

  /// Takes a descriptor over, and gives it a number. It is closed when nobody takes it within half a minute, and when this throws.
  ///
  /// Errors: `not-readable`, `too-many-descriptors`.
  func add(_ descriptor: Int32) throws(MediaError) -> FilePath {
    do throws(MediaError) {
      guard waiting.count < limit else {
        throw MediaError(
          .tooManyDescriptors, "\(limit) descriptors wait to be taken by a command, and more may not", operation: "fd")
      }
      let path = FilePath(descriptorNumber: nextNumber)
      let opened = try OpenDescriptor(descriptor, name: path.text)
      keep(opened, nextNumber)
      nextNumber += 1
      return path
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The descriptor of a number, which is the caller's from now on. Errors: `no-such-descriptor`.
  func take(_ number: Int) throws(MediaError) -> OpenDescriptor {
    guard let taken = waiting.removeValue(forKey: number) else {
      throw MediaError(
        .noSuchDescriptor, "there is no descriptor fd:\(number): each is taken once, and within half a minute",
        operation: "fd")
    }
    taken.timer.cancel()
    return taken.descriptor
  }

  /// The command that took it failed: another may take it.
  func putBack(_ descriptor: OpenDescriptor) {
    guard let number = FilePath.descriptorNumber(of: descriptor.name) else { return }
    keep(descriptor, number)
  }

  private func keep(_ descriptor: OpenDescriptor, _ number: Int) {
    let deadline = loop.now.advanced(byNanoseconds: Self.patienceNanoseconds)
    let timer = loop.schedule(at: deadline) { [weak self] in _ = self?.waiting.removeValue(forKey: number) }
    waiting[number] = Waiting(descriptor: descriptor, timer: timer)
  }
}
