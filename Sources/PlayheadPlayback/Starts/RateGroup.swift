import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The result of a synchronised rate change of several players.
public struct SynchronizedRateChange: Sendable, Hashable {
  /// The output frame at which the first of the playing players changed; nil if none played. It counts from the opening
  /// of the device.
  public var outputFrame: Int64?
  /// The instant at which that frame is heard; nil if the device has stopped since.
  public var hostTime: HostTime?
  /// The number of frames between the first and the last change: 0, unless a player's audio was not decoded in time.
  public var spreadFrameCount: Int64
}

/// Players whose rate changes at the same output frame.
///
/// A single player changes its rate shortly after the frame that is heard at the request, or after a pending change has
/// been heard. The players of a group wait for each other. As soon as all of them can change at one frame, all streams
/// are split at that frame in one batch.
///
/// Threading: confined to the control loop.
final class RateGroup: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop.
  typealias Completion = @Sendable (Result<SynchronizedRateChange, MediaError>) -> Void

  /// The maximum wait for a player that cannot change yet; longer than the duration of a pending change.
  private static let timeoutMilliseconds: Int64 = 500

  private enum Stage {
    /// Not all players can change at one frame yet. The group waits for them until this frame is heard.
    case choosing(until: Int64)
    /// The frame is chosen, and some players have not been rendered at that frame yet.
    case changing
    case over
  }

  private let engine: EngineCore
  private let rate: PlaybackRate
  private let leadMilliseconds: Int64
  private let completion: Completion
  /// The playing members that did not get another request.
  private var members: [PlayerCore] = []
  private var firstFrames: [ObjectIdentifier: Int64] = [:]
  private var stage: Stage
  /// The frame heard at the last check of whether all members can change.
  private var lastCheckedFrame: Int64?
  private var isCheckScheduled = false
  /// Whether the group has ended and `completion` has not been called yet.
  private var isCompleting = false

  /// - Parameter leadMilliseconds: the time between the frame that is heard when all players can change, and the frame
  ///   of the change.
  init(
    _ rate: PlaybackRate, leadMilliseconds: Int64 = PlayerCore.rateChangeMilliseconds, engine: EngineCore,
    completion: @escaping Completion
  ) {
    self.leadMilliseconds = leadMilliseconds
    self.rate = rate
    self.engine = engine
    self.completion = completion
    let timeoutFrames = Int64(engine.output.format?.sampleRateHz ?? 48_000) * Self.timeoutMilliseconds / 1_000
    stage = .choosing(until: engine.output.heardFrame + timeoutFrames)
  }

  /// Whether virtual time may pass: the group has no pending work.
  var isSettled: Bool { !isCheckScheduled && !isCompleting }

  // MARK: - Lifetime

  /// Sets the rate of all players. Paused players use the rate for their next start.
  func apply(to players: [PlayerCore]) {
    engine.rateGroups.append(self)
    members = players.filter { $0.machine.rate != 0 }
    for player in players where player.machine.rate == 0 {
      player.rates.once = rate
      player.persistence.settingsChanged()
    }
    // Observers are notified and may make members leave.
    for member in members where !member.isClosed && member.machine.rate != 0 {
      member.changeRate(to: rate.value, with: self)
    }
    scheduleCheck()
  }

  /// Removes a player that got another request.
  func leave(_ member: PlayerCore) {
    guard let index = members.firstIndex(where: { $0 === member }) else { return }
    members.remove(at: index)
    firstFrames[ObjectIdentifier(member)] = nil
    member.rateGroup = nil
    guard members.isEmpty else { return scheduleCheck() }
    finish(
      .failure(MediaError(.waitEnded, "the player \(member.name) got another command before its rate changed")))
  }

  /// Ends the group because the device and its frame count are lost. The rates stay and apply on another device.
  func outputWillStop() {
    finish(.failure(MediaError(.outputLost, "the output of the rate change was lost")))
  }

  private func finish(_ result: Result<SynchronizedRateChange, MediaError>) {
    if case .over = stage { return }
    stage = .over
    for member in members where member.rateGroup === self { member.rateGroup = nil }
    members = []
    isCompleting = true
    engine.loop.execute {
      self.isCompleting = false
      self.engine.rateGroups.removeAll { $0 === self }
      self.completion(result)
      self.engine.reportProgress()
    }
  }

  /// Schedules a check of the change in a separate turn of the loop, because the caller may be in the middle of a
  /// change.
  func scheduleCheck() {
    if case .over = stage { return }
    guard !isCheckScheduled else { return }
    isCheckScheduled = true
    engine.loop.execute {
      self.isCheckScheduled = false
      switch self.stage {
      case .choosing(let frame): self.chooseFrame(until: frame)
      case .changing: self.complete()
      case .over: break
      }
      self.engine.reportProgress()
    }
  }

  /// Schedules a check if time has passed since the last one. Virtual time does not advance while a check is scheduled.
  func timeMayHavePassed() {
    if engine.output.heardFrame != lastCheckedFrame { scheduleCheck() }
  }

  // MARK: - Changing

  private func chooseFrame(until lastFrame: Int64) {
    lastCheckedFrame = engine.output.heardFrame
    // Members that do not play, or that are already decoded at the new rate, leave the group.
    release {
      $0.isClosed || $0.inputIndex == nil || $0.machine.rate == 0 || $0.machine.targetRate != rate
        || !$0.machine.needsRateChange
    }
    guard let frame = members.first?.nextRateChangeFrame(leadMilliseconds: leadMilliseconds) else { return complete() }
    var splits: [(member: PlayerCore, plan: PlayerCore.RateChangePlan)] = []
    var others: [PlayerCore] = []
    for member in members {
      let plan = member.rateChangePlan(at: frame)
      switch plan {
      case .split: splits.append((member, plan))
      case .wait where engine.output.heardFrame < lastFrame: return
      case .wait, .atOnce, .late: others.append(member)
      }
    }
    stage = .changing
    // Observers are notified of each change and may make other members leave.
    engine.output.batch {
      for (member, plan) in splits where member.rateGroup === self {
        member.sharedFrame = frame
        member.perform(plan)
        member.sharedFrame = nil
      }
    }
    release { member in others.contains { $0 === member } }
    for member in others { member.applyRequestedRate() }
    scheduleCheck()
  }

  /// Removes the members for which `isReleased` is true.
  private func release(_ isReleased: (PlayerCore) -> Bool) {
    for member in members where isReleased(member) {
      if member.rateGroup === self { member.rateGroup = nil }
    }
    members.removeAll { $0.rateGroup !== self }
  }

  /// Handles the first frame of a member's new stream in the mixer.
  func began(_ member: PlayerCore, atFrame frame: Int64, _ rate: PlaybackRate) {
    guard case .changing = stage, rate == self.rate else { return }
    firstFrames[ObjectIdentifier(member)] = frame
    scheduleCheck()
  }

  /// Handles a rewind: the audio from `frame` on is rendered and reported again.
  func rewound(_ member: PlayerCore, toFrame frame: Int64) {
    let key = ObjectIdentifier(member)
    if let begun = firstFrames[key], begun >= frame { firstFrames[key] = nil }
  }

  private func complete() {
    let frames = members.compactMap { firstFrames[ObjectIdentifier($0)] }
    guard frames.count == members.count else { return }
    guard let first = frames.min(), let last = frames.max() else {
      return finish(.success(SynchronizedRateChange(outputFrame: nil, hostTime: nil, spreadFrameCount: 0)))
    }
    finish(
      .success(
        SynchronizedRateChange(
          outputFrame: first, hostTime: engine.output.hostTime(ofFrame: first), spreadFrameCount: last - first)))
  }
}
