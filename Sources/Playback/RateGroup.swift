import MediaCore
import RealtimeAudio

/// How players went over to another rate together.
public struct TogetherRateChange: Sendable, Hashable {
  /// The frame of the output with which those that sounded went over, the first of them; nil: none sounded. It counts from
  /// when the device was opened.
  public var outputFrame: Int64?
  /// When that frame is heard, or was; nil when the device stands still by now.
  public var hostTime: HostTime?
  /// How many frames lie between the first and the last change: 0, unless the sound of one was not decoded in time.
  public var spreadFrameCount: Int64
}

/// Players whose rate changes with the same frame of the output.
///
/// A player that is alone changes a little ahead of what it is heard at then, or when what is under way has been heard.
/// These wait for one another: as soon as each of them can change at one frame, all are split there in one go.
///
/// Threading: confined to the control loop.
final class RateGroup: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop.
  typealias Completion = @Sendable (Result<TogetherRateChange, MediaError>) -> Void

  /// For how long they wait for one that cannot change yet: longer than a change that is under way needs.
  private static let patienceMilliseconds: Int64 = 500

  private enum Stage {
    /// Not all can change at one frame yet; they are waited for until `frame` is heard.
    case choosing(until: Int64)
    /// The frame is chosen, and not all have been rendered there.
    case changing
    case over
  }

  private let engine: EngineCore
  private let rate: PlaybackRate
  private let leadMilliseconds: Int64
  private let completion: Completion
  /// Those that sound, and have not been told something else.
  private var members: [PlayerCore] = []
  private var beginnings: [ObjectIdentifier: Int64] = [:]
  private var stage: Stage
  /// What was heard when it was last looked whether all can change.
  private var lookedFrame: Int64?
  private var isCheckScheduled = false
  /// It is over, and `completion` has not been called yet.
  private var isAnswering = false

  /// - Parameter leadMilliseconds: How long after the frame that is heard when all can change they do.
  init(
    _ rate: PlaybackRate, leadMilliseconds: Int64 = PlayerCore.changeMilliseconds, engine: EngineCore,
    completion: @escaping Completion
  ) {
    self.leadMilliseconds = leadMilliseconds
    self.rate = rate
    self.engine = engine
    self.completion = completion
    let patience = Int64(engine.output.format?.sampleRateHz ?? 48_000) * Self.patienceMilliseconds / 1_000
    stage = .choosing(until: engine.output.heardFrame + patience)
  }

  /// Whether nothing is to be done before virtual time may pass.
  var isSettled: Bool { !isCheckScheduled && !isAnswering }

  // MARK: - Life

  /// Tells all of them the rate. Those that are paused note it for when they are played next.
  func begin(_ players: [PlayerCore]) {
    engine.rateGroups.append(self)
    members = players.filter { $0.machine.rate != 0 }
    for player in players where player.machine.rate == 0 {
      player.nextRate = rate
      player.changeObserver?([])
    }
    // Observers are told, and may have members leave.
    for member in members where !member.isClosed && member.machine.rate != 0 {
      member.changeRate(to: rate.value, with: self)
    }
    scheduleCheck()
  }

  /// A player is told something else: it does not belong here any more.
  func leave(_ member: PlayerCore) {
    guard let index = members.firstIndex(where: { $0 === member }) else { return }
    members.remove(at: index)
    beginnings[ObjectIdentifier(member)] = nil
    member.rateGroup = nil
    guard members.isEmpty else { return scheduleCheck() }
    finish(
      .failure(MediaError(.waitEnded, "the player \(member.name) was told something else before its rate changed")))
  }

  /// The device is gone, and with it the count of its frames. The rates stay, and what sounds on another device has them.
  func outputWillStop() {
    finish(.failure(MediaError(.outputLost, "the output on which the rate was to change is gone")))
  }

  private func finish(_ result: Result<TogetherRateChange, MediaError>) {
    if case .over = stage { return }
    stage = .over
    for member in members where member.rateGroup === self { member.rateGroup = nil }
    members = []
    isAnswering = true
    engine.loop.execute {
      self.isAnswering = false
      self.engine.rateGroups.removeAll { $0 === self }
      self.completion(result)
      self.engine.progressed()
    }
  }

  /// Looks, in a turn of its own, whether the change has come nearer: who calls may be in the midst of one.
  func scheduleCheck() {
    if case .over = stage { return }
    guard !isCheckScheduled else { return }
    isCheckScheduled = true
    engine.loop.execute {
      self.isCheckScheduled = false
      switch self.stage {
      case .choosing(let frame): self.choose(until: frame)
      case .changing: self.complete()
      case .over: break
      }
      self.engine.progressed()
    }
  }

  /// Looks again if it is later than when it last did. (Virtual time does not go on while a look is due.)
  func timeMayHavePassed() {
    if engine.output.heardFrame != lookedFrame { scheduleCheck() }
  }

  // MARK: - Changing

  private func choose(until lastFrame: Int64) {
    lookedFrame = engine.output.heardFrame
    // What does not sound, or has been decoded for the rate by now, has nothing to wait for.
    release {
      $0.isClosed || $0.inputIndex == nil || $0.machine.rate == 0 || $0.machine.speed != rate
        || !$0.machine.needsSpeedChange
    }
    guard let frame = members.first?.nextSpeedFrame(leadMilliseconds: leadMilliseconds) else { return complete() }
    var splits: [(member: PlayerCore, step: PlayerCore.SpeedStep)] = []
    var others: [PlayerCore] = []
    for member in members {
      let step = member.speedStep(at: frame)
      switch step {
      case .split: splits.append((member, step))
      case .wait where engine.output.heardFrame < lastFrame: return
      case .wait, .atOnce: others.append(member)
      }
    }
    stage = .changing
    // Observers are told of each, and may have others leave.
    engine.output.batch {
      for (member, step) in splits where member.rateGroup === self {
        member.sharedFrame = frame
        member.take(step)
        member.sharedFrame = nil
      }
    }
    release { member in others.contains { $0 === member } }
    for member in others { member.followSpeed() }
    scheduleCheck()
  }

  /// Lets go of those members.
  private func release(_ isReleased: (PlayerCore) -> Bool) {
    for member in members where isReleased(member) {
      if member.rateGroup === self { member.rateGroup = nil }
    }
    members.removeAll { $0.rateGroup !== self }
  }

  /// The mixer begins to sound a member's stream.
  func began(_ member: PlayerCore, atFrame frame: Int64, _ rate: PlaybackRate) {
    guard case .changing = stage, rate == self.rate else { return }
    beginnings[ObjectIdentifier(member)] = frame
    scheduleCheck()
  }

  /// What was rendered from `frame` on is rendered again, and said again.
  func rewound(_ member: PlayerCore, toFrame frame: Int64) {
    let key = ObjectIdentifier(member)
    if let begun = beginnings[key], begun >= frame { beginnings[key] = nil }
  }

  private func complete() {
    let frames = members.compactMap { beginnings[ObjectIdentifier($0)] }
    guard frames.count == members.count else { return }
    guard let first = frames.min(), let last = frames.max() else {
      return finish(.success(TogetherRateChange(outputFrame: nil, hostTime: nil, spreadFrameCount: 0)))
    }
    finish(
      .success(
        TogetherRateChange(
          outputFrame: first, hostTime: engine.output.hostTime(ofFrame: first), spreadFrameCount: last - first)))
  }
}
