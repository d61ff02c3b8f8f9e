import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback

/// An edit that another thread computes, with what happens before and after it.
///
/// Threading: confined to the control loop.
final class LargeEdit: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop. The closures of the player capture it.

  private let prepared: DiscardedValue<PreparedEdits>
  private let loop: any ControlLoop
  private let check: (PreparedEdits) throws(MediaError) -> Void
  private let completion: (PreparedEdits, Result<UInt64, MediaError>) -> Void

  /// - Parameters:
  ///   - prepared: The edits. Their new entries are reserved.
  ///   - check: Called before each computation. An error fails the edit.
  ///   - completion: Called after the edit with the new version of the queue, or with the error. Called in a later
  ///     iteration of `loop`, because the reply to a large edit takes as long as the edit.
  init(
    _ prepared: PreparedEdits, on loop: any ControlLoop, check: @escaping (PreparedEdits) throws(MediaError) -> Void,
    completion: @escaping (PreparedEdits, Result<UInt64, MediaError>) -> Void
  ) {
    (self.prepared, self.loop, self.check, self.completion) = (DiscardedValue(prepared), loop, check, completion)
  }

  private var edits: PreparedEdits {
    guard let value = prepared.value else { preconditionFailure("the edit has ended") }
    return value
  }

  func start(on player: isolated QueuePlayer) {
    player.perform(
      edits.operation, adding: edits.reservation,
      check: { () throws(MediaError) in try self.check(self.edits) },
      completion: { result in
        self.loop.execute {
          self.completion(self.edits, result)
          // The arrays of a large edit are freed elsewhere, because that takes long.
          self.prepared.freeOnAnotherThread()
        }
      })
  }
}
