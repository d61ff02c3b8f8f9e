import PlayheadMediaCore
import PlayheadPlayerModel

/// A change of several players that has not finished.
protocol PendingGroup: AnyObject {
  /// Whether virtual time may pass: the group has no pending work.
  var isSettled: Bool { get }
}

/// Players that change at the same output frame: they start (`JointStart`), or change their rate (`JointRateChange`).
///
/// A subclass decides in `check` when all members can change, and passes the change to the mixer in one batch. Then the
/// group waits for the first frame of each member. It reports the result once. A member that gets another request
/// leaves the group.
///
/// Threading: confined to the control loop.
class PlayerGroup<Success: Sendable>: PendingGroup, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop, on which its timers fire.
  typealias Completion = @Sendable (Result<Success, MediaError>) -> Void

  enum Stage {
    /// Some members cannot change yet, or there is no device.
    case preparing
    /// The device has been started, and its clock does not run yet. Rate changes do not wait for this.
    case starting
    /// The mixer has the frame of the change; nil: the members change at once.
    case changing(frame: Int64?)
    case over
  }

  let engine: EngineCore
  /// The change as errors describe it, for example "it started".
  private let change: String
  private let completion: Completion
  /// The members that did not get another request.
  var members: [PlayerCore]
  var stage = Stage.preparing
  private(set) var firstFrames: [ObjectIdentifier: Int64] = [:]
  private var isCheckScheduled = false
  /// Whether the group has ended and `completion` has not been called yet.
  private var isCompleting = false

  init(_ members: [PlayerCore], change: String, engine: EngineCore, completion: @escaping Completion) {
    self.members = members
    self.change = change
    self.engine = engine
    self.completion = completion
  }

  var isSettled: Bool { !isCheckScheduled && !isCompleting }

  var isOver: Bool { if case .over = stage { true } else { false } }

  // MARK: - Overridden by subclasses

  /// Checks whether the members can change, or have changed. Not called after the end.
  func check() {}

  /// Called once at the end, before the remaining members leave.
  func groupWillEnd() {}

  // MARK: - Members

  /// Removes a player that got another request.
  func leave(_ member: PlayerCore) {
    guard let index = members.firstIndex(where: { $0 === member }) else { return }
    members.remove(at: index)
    member.jointChanges.remove(self)
    guard members.isEmpty else { return scheduleCheck() }
    finish(.failure(MediaError(.waitEnded, "the player \(member.name) got another command before \(change)")))
  }

  /// Removes the members for which `isReleased` is true, and those that did not join.
  func release(where isReleased: (PlayerCore) -> Bool) {
    for member in members where isReleased(member) { member.jointChanges.remove(self) }
    members.removeAll { !$0.jointChanges.contains(self) }
  }

  /// Changes the members in one batch of the mixer. Observers are notified of each change and may make other members
  /// leave.
  func batch(_ body: (PlayerCore) -> Void) {
    engine.output.batch { for member in members where member.jointChanges.contains(self) { body(member) } }
  }

  // MARK: - First frames

  /// Handles the first frame of a member's run in the mixer. `rate` is the rate of the audio.
  func runBegan(_ member: PlayerCore, atFrame frame: Int64, rate: PlaybackRate?) {
    guard case .changing = stage else { return }
    firstFrames[ObjectIdentifier(member)] = frame
    scheduleCheck()
  }

  /// Handles a rewind: the audio from `frame` on is rendered and reported again.
  func rewound(_ member: PlayerCore, toFrame frame: Int64) {
    let key = ObjectIdentifier(member)
    if let begun = firstFrames[key], begun >= frame { firstFrames[key] = nil }
  }

  /// The first frames of the first and the last member that changed; nil while a frame is unknown.
  var changedFrames: ClosedRange<Int64>? {
    let frames = members.compactMap { firstFrames[ObjectIdentifier($0)] }
    guard frames.count == members.count, let first = frames.min(), let last = frames.max() else { return nil }
    return first...last
  }

  // MARK: - Turns of the loop

  /// Schedules a check in a separate turn of the loop, because the caller may be in the middle of a change.
  func scheduleCheck() {
    guard !isOver, !isCheckScheduled else { return }
    isCheckScheduled = true
    engine.loop.execute {
      self.isCheckScheduled = false
      if !self.isOver { self.check() }
      self.engine.reportProgress()
    }
  }

  /// Discards the first frames and prepares the change again.
  func restart() {
    firstFrames = [:]
    stage = .preparing
  }

  /// Ends the group. The result is reported in a separate turn of the loop.
  func finish(_ result: Result<Success, MediaError>) {
    if isOver { return }
    stage = .over
    groupWillEnd()
    for member in members { member.jointChanges.remove(self) }
    members = []
    isCompleting = true
    engine.loop.execute {
      self.isCompleting = false
      self.engine.groups.removeAll { $0 === self }
      self.completion(result)
      self.engine.reportProgress()
    }
  }
}
