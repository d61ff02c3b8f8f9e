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
final class JointRateChange: PlayerGroup<SynchronizedRateChange>, @unchecked Sendable {
  /// The maximum wait for a player that cannot change yet; longer than the duration of a pending change.
  private static let timeoutMilliseconds: Int64 = 500

  private let rate: PlaybackRate
  private let leadMilliseconds: Int64
  /// The members are waited for until this frame is heard.
  private let lastFrame: Int64
  /// The frame heard at the last check of whether all members can change.
  private var lastCheckedFrame: Int64?

  /// - Parameter leadMilliseconds: the time between the frame that is heard when all players can change, and the frame
  ///   of the change.
  init(
    _ rate: PlaybackRate, leadMilliseconds: Int64 = PlayerCore.rateChangeMilliseconds, engine: EngineCore,
    completion: @escaping Completion
  ) {
    self.leadMilliseconds = leadMilliseconds
    self.rate = rate
    let timeoutFrames = Int64(engine.output.format?.sampleRateHz ?? 48_000) * Self.timeoutMilliseconds / 1_000
    lastFrame = engine.output.heardFrame + timeoutFrames
    super.init([], change: "its rate changed", engine: engine, completion: completion)
  }

  // MARK: - Lifetime

  /// Sets the rate of all players. Paused players use the rate for their next start.
  func apply(to players: [PlayerCore]) {
    engine.groups.append(self)
    members = players.filter { $0.machine.rate != 0 }
    for player in players where player.machine.rate == 0 {
      player.rates.stored = rate
      player.persistence.settingsChanged()
    }
    // Observers are notified and may make members leave.
    for member in members where !member.isClosed && member.machine.rate != 0 {
      member.changeRate(to: rate.value, with: self)
    }
    scheduleCheck()
  }

  /// Ends the group because the device and its frame count are lost. The rates stay and apply on another device.
  func outputWillStop() {
    finish(.failure(MediaError(.outputLost, "the output of the rate change was lost")))
  }

  /// Schedules a check if time has passed since the last one. Virtual time does not advance while a check is scheduled.
  func timeMayHavePassed() {
    if engine.output.heardFrame != lastCheckedFrame { scheduleCheck() }
  }

  // MARK: - Changing

  override func check() {
    switch stage {
    case .preparing: chooseFrame()
    case .changing: complete()
    case .starting, .over: break
    }
  }

  private func chooseFrame() {
    lastCheckedFrame = engine.output.heardFrame
    // Members that do not play, or that are already decoded at the new rate, leave the group.
    release {
      $0.isClosed || $0.inputIndex == nil || $0.machine.rate == 0 || $0.machine.targetRate != rate
        || !$0.machine.needsRateChange
    }
    guard let frame = members.first?.nextRateChangeFrame(leadMilliseconds: leadMilliseconds) else { return complete() }
    var splits: [ObjectIdentifier: PlayerCore.RateChangePlan] = [:]
    var others: [PlayerCore] = []
    for member in members {
      let plan = member.rateChangePlan(at: frame)
      switch plan {
      case .split: splits[ObjectIdentifier(member)] = plan
      case .wait where engine.output.heardFrame < lastFrame: return
      case .wait, .atOnce, .late: others.append(member)
      }
    }
    stage = .changing(frame: frame)
    batch { member in
      if let plan = splits[ObjectIdentifier(member)] { member.perform(plan, sharedFrame: frame) }
    }
    release { member in others.contains { $0 === member } }
    for member in others { member.applyRequestedRate() }
    scheduleCheck()
  }

  override func runBegan(_ member: PlayerCore, atFrame frame: Int64, rate: PlaybackRate?) {
    if rate == self.rate { super.runBegan(member, atFrame: frame, rate: rate) }
  }

  private func complete() {
    if members.isEmpty {
      return finish(.success(SynchronizedRateChange(outputFrame: nil, hostTime: nil, spreadFrameCount: 0)))
    }
    guard let frames = changedFrames else { return }
    let first = frames.lowerBound
    finish(
      .success(
        SynchronizedRateChange(
          outputFrame: first, hostTime: engine.output.hostTime(ofFrame: first),
          spreadFrameCount: frames.upperBound - first)))
  }
}
