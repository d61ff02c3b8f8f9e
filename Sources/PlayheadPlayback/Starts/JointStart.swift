import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Players that start at the same output frame.
///
/// First the mixer gets the first samples of all players. Then the group computes the start frame from the output's
/// clock, which must be running. The mixer gets the frame for all players in one batch. Until that frame the device
/// runs, and the mixer keeps the players silent. The frame of a distant start is computed again shortly before the
/// start, because device clocks drift.
///
/// A start at a date follows the wall clock: when the clock is set, its instant is computed again. The device runs, and
/// the frame is computed, only shortly before the start.
///
/// Threading: confined to the control loop.
final class JointStart: PlayerGroup<SynchronizedStart>, @unchecked Sendable {
  /// The maximum time until the start, a day, so that no frame count overflows.
  private static let longestWaitNanoseconds: Int64 = 86_400_000_000_000
  /// The frame of a distant start is computed again this long before the start.
  private static let rescheduleLeadNanoseconds: Int64 = 500_000_000
  /// The frame does not change any more when the start is nearer than this.
  private static let shortestRescheduleLeadNanoseconds: Int64 = 150_000_000
  /// The members of a start at a date get their frame this long before the start. Until then the device may be stopped.
  private static let dateLeadNanoseconds: Int64 = 2_000_000_000
  /// The start follows after this time if the clock is set past its date while a frame is scheduled.
  private static let missedDateLeadNanoseconds: Int64 = 200_000_000

  /// When the members start.
  enum Target {
    case whenReady
    case instant(HostTime)
    /// A date, and its current instant.
    case date(RequestedDate, HostTime)
    case frame(Int64)
    /// A time of the device, whose format is unknown until the output is open.
    case deviceTime(MediaTime)

    /// The instant of the start, if it is known.
    var instant: HostTime? {
      switch self {
      case .instant(let instant), .date(_, let instant): instant
      case .whenReady, .frame, .deviceTime: nil
      }
    }
  }

  private var target: Target
  /// Whether the members' rates are set.
  private var hasSetRates: Bool
  /// The reason why the start has become impossible. Waiting members stay silent until the next check.
  private var failure: MediaError?
  private var timer: (any ControlTimer)?
  /// The observation of the wall clock, for a start at a date.
  private var clockObservation: WallClockObservation?

  /// Creates a group whose target is in the future.
  ///
  /// - Throws: then nothing has changed.
  ///   - `invalidArgument` for no players, duplicate players, or players of another engine
  ///   - `invalidState` for a player that plays already or is closed
  ///   - `noCurrentItem`; the error of a current item that failed
  ///   - `outputUnavailable` for a date, if the system cannot report changes of the clock
  init(
    _ members: [PlayerCore], at target: Target, setsRatesAtOnce: Bool = false, engine: EngineCore,
    completion: @escaping Completion
  ) throws(MediaError) {
    try engine.checkMembers(members, of: "start", action: "start")
    for member in members { try Self.check(member, hasSetRates: setsRatesAtOnce) }
    self.target = target
    hasSetRates = setsRatesAtOnce
    super.init(members, change: "it started", engine: engine, completion: completion)
    guard case .date = target else { return }
    clockObservation = try engine.wallClock.observeChanges { [weak self] in self?.clockWasSet() }
  }

  /// Converts a moment of the caller.
  ///
  /// - Throws: `invalidTime` for a moment in the past or more than a day ahead, and for a date more than 366 days
  ///   ahead.
  static func target(_ moment: StartMoment, _ engine: EngineCore) throws(MediaError) -> Target {
    switch moment {
    case .whenReady: return .whenReady
    case .after(let delay):
      guard delay.isNumeric, delay >= .zero, delay <= MediaTime(value: 86_400, timescale: 1),
        let nanoseconds = delay.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity)
      else { throw MediaError(.invalidTime, "start delay must be between 0 s and a day (got \(delay) s)") }
      return .instant(engine.loop.now.advanced(byNanoseconds: nanoseconds))
    case .hostTime(let instant):
      let wait = instant.nanoseconds(since: engine.loop.now)
      guard wait > 0 else { throw instant.errorForPastStart(now: engine.loop.now) }
      guard wait <= longestWaitNanoseconds else {
        throw MediaError(.invalidTime, "the start time must be within a day from now")
      }
      return .instant(instant)
    case .date(let expression):
      let (date, instant) = try RequestedDate.make(expression, engine.wallClock)
      return .date(date, instant)
    case .outputFrame(let frame):
      let heard = engine.output.heardFrame
      guard frame > heard || heard == 0 && frame == 0 else {
        throw MediaError(.invalidTime, "start frame must be after \(heard), the output's current frame (got \(frame))")
      }
      let day = Int64(engine.output.format?.sampleRateHz ?? 48_000) * 86_400
      guard frame - heard <= day else { throw MediaError(.invalidTime, "the start time must be within a day from now") }
      return .frame(frame)
    }
  }

  private static func check(_ member: PlayerCore, hasSetRates: Bool) throws(MediaError) {
    if member.isClosed { throw MediaError(.invalidState, "the player \(member.name) is closed") }
    guard let current = member.machine.entries.first else {
      throw MediaError(.noCurrentItem, "the player \(member.name) has no current item")
    }
    if let error = current.status.error { throw error }
    guard hasSetRates || member.machine.rate == 0 else {
      throw MediaError(.invalidState, "the player \(member.name) already plays; pause it first")
    }
    if !hasSetRates { try member.checkDirection(member.rates.next, operation: "start") }
  }

  // MARK: - Lifetime

  /// Begins the preparation. Each member gets `rate`; nil means the rate that `play` would set.
  func beginPreparation(atRate rate: Double? = nil) {
    engine.groups.append(self)
    for member in members { member.jointChanges.join(self) }
    // Observers are notified and may make members leave.
    for member in members where member.jointChanges.contains(self) { member.jointChanges.prepareRate(rate) }
    if hasSetRates { scheduleMembers(atFrame: .max) }
    scheduleCheck()
  }

  override func groupWillEnd() {
    timer?.cancel()
    clockObservation?.cancel()
    engine.startGate.remove(self)
  }

  /// Handles a possible change of the output's clock, which may have started to run or become more precise.
  func clockMayHaveChanged() {
    switch stage {
    case .starting: if engine.output.isClockRunning { scheduleCheck() }
    case .changing: if firstFrames.isEmpty, newSchedule(onlyIfDrifted: true) != nil { scheduleCheck() }
    case .preparing, .over: break
    }
  }

  override func check() {
    switch stage {
    case .over: return
    case .preparing: prepare()
    case .starting: scheduleStart()
    case .changing:
      if firstFrames.isEmpty { scheduleStart(onlyIfDrifted: true) }
      complete()
    }
  }

  // MARK: - Preparation

  private func prepare() {
    if let failure { return fail(failure) }
    for member in members {
      do throws(MediaError) { try Self.check(member, hasSetRates: hasSetRates) } catch { return fail(error) }
    }
    let state = engine.output.state
    if state.status == .closed || state.status == .lost && !engine.output.canRecover {
      return fail(state.error ?? MediaError(.outputUnavailable, "there is no output"))
    }
    guard engine.output.core != nil else { return }
    if members.contains(where: { $0.inputIndex == nil }) {
      return fail(MediaError(.outputUnavailable, "the mixer is full"))
    }
    guard isPrimed, !waitsForDate(), engine.startGate.allowsStart(of: self) else { return }
    start()
  }

  /// Whether each member can begin at any output frame.
  var isPrimed: Bool { members.allSatisfy(\.jointChanges.isPrimed) }

  /// Passes the frame to the mixer as soon as the frame is known.
  func start() {
    guard case .preparing = stage else { return }
    if case .deviceTime(let time) = target {
      guard let frame = engine.outputFrame(atDeviceTime: time) else { return }
      target = .frame(frame)
    }
    switch target {
    case .deviceTime: break
    case .whenReady:
      stage = .changing(frame: nil)
      scheduleMembers(atFrame: nil)
    case .frame(let frame):
      stage = .changing(frame: frame)
      scheduleMembers(atFrame: frame)
    case .instant, .date:
      if !engine.output.isClockRunning { scheduleMembers(atFrame: .max) }
      if isOver { return }
      stage = .starting
      scheduleStart()
    }
  }

  /// Ends the group without a start, because a member or the output cannot start. Members that already wait are paused.
  private func fail(_ error: MediaError) {
    let waiting = hasSetRates ? members : []
    finish(.failure(error))
    for member in waiting where !member.isClosed && member.jointChanges.start == nil { member.pause() }
  }

  /// Computes the start frame from the clock and passes it to the mixer. Has no effect while the clock does not run.
  private func scheduleStart(onlyIfDrifted: Bool = false) {
    guard let (instant, frame) = newSchedule(onlyIfDrifted: onlyIfDrifted) else { return }
    stage = .changing(frame: frame)
    scheduleMembers(atFrame: frame)
    if isOver { return }
    let rescheduleTime = instant.advanced(byNanoseconds: -Self.rescheduleLeadNanoseconds)
    timer?.cancel()
    timer = nil
    guard rescheduleTime > engine.loop.now else { return }
    timer = engine.loop.schedule(at: rescheduleTime) { [weak self] in self?.scheduleStart() }
  }

  /// Returns the instant and the frame of the start; nil if the mixer already has this frame, or the clock does not
  /// run.
  private func newSchedule(onlyIfDrifted: Bool) -> (instant: HostTime, frame: Int64)? {
    guard let instant = target.instant, let frame = engine.output.frame(heardAt: instant) else { return nil }
    guard case .changing(let former?) = stage else { return (instant, frame) }
    // A device needs time to accept another frame, and its clock jitters.
    let quarterMillisecond = Int64(engine.output.format?.sampleRateHz ?? 48_000) / 4_000
    guard former != frame, !onlyIfDrifted || abs(former - frame) > quarterMillisecond,
      instant.nanoseconds(since: engine.loop.now) > Self.shortestRescheduleLeadNanoseconds
    else { return nil }
    return (instant, frame)
  }

  /// Schedules the start of all members at a frame; nil: at once.
  private func scheduleMembers(atFrame frame: Int64?) {
    hasSetRates = true
    batch { $0.jointChanges.scheduleStart(atFrame: frame) }
  }

  // MARK: - Dates

  /// Whether the start is at a date that is not near.
  var isAtDistantDate: Bool {
    guard case .date(_, let instant) = target else { return false }
    return instant.nanoseconds(since: engine.loop.now) > Self.dateLeadNanoseconds
  }

  /// Keeps members paused whose rates were to be set at once, until the date is near.
  func keepMembersPaused() { hasSetRates = false }

  /// Returns whether the start is at a date that is not near. Then the group continues when the date is near.
  private func waitsForDate() -> Bool {
    guard isAtDistantDate, let instant = target.instant else { return false }
    timer?.cancel()
    timer = engine.loop.schedule(at: instant.advanced(byNanoseconds: -Self.dateLeadNanoseconds)) { [weak self] in
      self?.clockWasSet()
    }
    return true
  }

  /// Computes the instant of the date again.
  private func clockWasSet() {
    guard !isOver, case .date(let date, let former) = target else { return }
    let now = engine.loop.now
    let instant = max(date.hostTime(engine.wallClock), now)
    switch stage {
    case .over: return
    case .preparing, .starting:
      target = .date(date, instant)
      scheduleCheck()
    case .changing:
      guard firstFrames.isEmpty, former.nanoseconds(since: now) > Self.shortestRescheduleLeadNanoseconds else { return }
      target = .date(date, max(instant, now.advanced(byNanoseconds: Self.missedDateLeadNanoseconds)))
      scheduleStart(onlyIfDrifted: true)
    }
  }

  // MARK: - Starting

  /// Handles the loss of the device and of its frame count.
  func outputWillStop() {
    if isOver { return }
    timer?.cancel()
    timer = nil
    restart()
    // Waiting members stay silent until there is another device or all of them are paused.
    if hasSetRates { for member in members { member.jointChanges.suspendStart() } }
    guard case .frame = target else { return }
    failure = MediaError(.outputLost, "the output that counted the start frame was lost")
    scheduleCheck()
  }

  private func complete() {
    for member in members where member.machine.rate == 0 || member.machine.entries.isEmpty {
      // The member was paused before it started, or has no item any more.
      leave(member)
    }
    guard case .changing(let requested) = stage, let frames = changedFrames else { return }
    let first = frames.lowerBound
    finish(
      .success(
        SynchronizedStart(
          outputFrame: first, hostTime: engine.output.hostTime(ofFrame: first),
          lateFrameCount: max(0, first - (requested ?? first)), spreadFrameCount: frames.upperBound - first)))
  }
}
