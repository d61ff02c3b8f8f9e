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
/// Threading: confined to the control loop.
final class StartGroup: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop, on which its timers fire.
  typealias Completion = @Sendable (Result<SynchronizedStart, MediaError>) -> Void

  /// The maximum time until the start, a day, so that no frame count overflows.
  private static let longestWaitNanoseconds: Int64 = 86_400_000_000_000
  /// The frame of a distant start is computed again this long before the start.
  private static let rescheduleLeadNanoseconds: Int64 = 500_000_000
  /// The frame does not change any more when the start is nearer than this.
  private static let shortestRescheduleLeadNanoseconds: Int64 = 150_000_000

  private enum Stage {
    /// Some members are not ready, or there is no device.
    case preparing
    /// The device has been started, and its clock does not run yet.
    case starting
    /// The mixer has the start frame; nil: the players start at once.
    case scheduled(frame: Int64?)
    case over
  }

  /// When the members start.
  enum Target {
    case whenReady
    case instant(HostTime)
    case frame(Int64)
    /// A time of the device, whose format is unknown until the output is open.
    case deviceTime(MediaTime)
  }

  private let engine: EngineCore
  /// The members that did not get another request.
  private var members: [PlayerCore]
  private var target: Target
  private let completion: Completion
  private var stage = Stage.preparing
  private var firstFrames: [ObjectIdentifier: Int64] = [:]
  /// Whether the members' rates are set.
  private var hasSetRates: Bool
  private var isCheckScheduled = false
  /// Whether the group has ended and `completion` has not been called yet.
  private var isCompleting = false
  /// The reason why the start has become impossible. Waiting members stay silent until the next check.
  private var failure: MediaError?
  private var timer: (any ControlTimer)?

  /// Creates a group that starts at `moment`.
  ///
  /// - Throws: then nothing has changed.
  ///   - `invalidArgument` for no players, duplicate players, or players of another engine
  ///   - `invalidTime` for a moment in the past or more than a day ahead
  ///   - `invalidState` for a player that plays already or is closed
  ///   - `noCurrentItem`; the error of a current item that failed
  convenience init(
    _ members: [PlayerCore], at moment: StartMoment, setsRatesAtOnce: Bool = false, engine: EngineCore,
    completion: @escaping Completion
  ) throws(MediaError) {
    try self.init(
      members, at: Self.target(moment, engine), setsRatesAtOnce: setsRatesAtOnce, engine: engine,
      completion: completion)
  }

  /// Creates a group for a target that is known to be in the future.
  init(
    _ members: [PlayerCore], at target: Target, setsRatesAtOnce: Bool = false, engine: EngineCore,
    completion: @escaping Completion
  ) throws(MediaError) {
    guard !members.isEmpty, Set(members.map { ObjectIdentifier($0) }).count == members.count else {
      throw MediaError(.invalidArgument, "a joint start needs one or more players, each listed once")
    }
    guard members.allSatisfy({ $0.engine === engine }) else {
      throw MediaError(.invalidArgument, "players that start together must share an output")
    }
    for member in members { try Self.check(member, hasSetRates: setsRatesAtOnce) }
    self.engine = engine
    self.members = members
    self.target = target
    hasSetRates = setsRatesAtOnce
    self.completion = completion
  }

  private static func target(_ moment: StartMoment, _ engine: EngineCore) throws(MediaError) -> Target {
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

  /// Whether virtual time may pass: the group has no pending work.
  var isSettled: Bool { !isCheckScheduled && !isCompleting }

  private var isOver: Bool { if case .over = stage { true } else { false } }

  /// Begins the preparation. Each member gets `rate`; nil means the rate that `play` would set.
  func beginPreparation(atRate rate: Double? = nil) {
    engine.startGroups.append(self)
    for member in members {
      member.startGroup?.leave(member)
      member.startGroup = self
    }
    // Observers are notified and may make members leave.
    for member in members where member.startGroup === self { member.prepareRate(rate) }
    if hasSetRates { scheduleMembers(atFrame: .max) }
    scheduleCheck()
  }

  /// Removes a player that got another request.
  func leave(_ member: PlayerCore) {
    guard let index = members.firstIndex(where: { $0 === member }) else { return }
    members.remove(at: index)
    member.startGroup = nil
    if members.isEmpty {
      finish(.failure(MediaError(.waitEnded, "the player \(member.name) got another command before it started")))
    } else {
      scheduleCheck()
    }
  }

  /// Ends the group. The result is reported in a separate turn of the loop, because the caller may be in the middle of
  /// a change.
  private func finish(_ result: Result<SynchronizedStart, MediaError>) {
    if isOver { return }
    stage = .over
    timer?.cancel()
    engine.startGate.remove(self)
    for member in members where member.startGroup === self { member.startGroup = nil }
    members = []
    isCompleting = true
    engine.loop.execute {
      self.isCompleting = false
      self.engine.startGroups.removeAll { $0 === self }
      self.completion(result)
      self.engine.reportProgress()
    }
  }

  /// Schedules a check of the start in a separate turn of the loop, because the caller may be in the middle of a
  /// change.
  func scheduleCheck() {
    guard !isCheckScheduled else { return }
    isCheckScheduled = true
    engine.loop.execute {
      self.isCheckScheduled = false
      self.check()
      self.engine.reportProgress()
    }
  }

  /// Handles a possible change of the output's clock, which may have started to run or become more precise.
  func clockMayHaveChanged() {
    switch stage {
    case .starting: if engine.output.isClockRunning { scheduleCheck() }
    case .scheduled: if firstFrames.isEmpty, newSchedule(onlyIfDrifted: true) != nil { scheduleCheck() }
    case .preparing, .over: break
    }
  }

  private func check() {
    switch stage {
    case .over: return
    case .preparing: prepare()
    case .starting: scheduleStart()
    case .scheduled:
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
    guard members.allSatisfy(\.isPrimed), engine.startGate.allowsStart(of: self) else { return }
    start()
  }

  /// Whether each member can begin at any output frame.
  var isPrimed: Bool { members.allSatisfy(\.isPrimed) }

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
      stage = .scheduled(frame: nil)
      scheduleMembers(atFrame: nil)
    case .frame(let frame):
      stage = .scheduled(frame: frame)
      scheduleMembers(atFrame: frame)
    case .instant:
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
    for member in waiting where !member.isClosed && member.startGroup == nil { member.pause() }
  }

  /// Computes the start frame from the clock and passes it to the mixer. Has no effect while the clock does not run.
  private func scheduleStart(onlyIfDrifted: Bool = false) {
    guard let (instant, frame) = newSchedule(onlyIfDrifted: onlyIfDrifted) else { return }
    stage = .scheduled(frame: frame)
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
    guard case .instant(let instant) = target, let frame = engine.output.frame(heardAt: instant) else { return nil }
    guard case .scheduled(let former?) = stage else { return (instant, frame) }
    // A device needs time to accept another frame, and its clock jitters.
    let quarterMillisecond = Int64(engine.output.format?.sampleRateHz ?? 48_000) / 4_000
    guard former != frame, !onlyIfDrifted || abs(former - frame) > quarterMillisecond,
      instant.nanoseconds(since: engine.loop.now) > Self.shortestRescheduleLeadNanoseconds
    else { return nil }
    return (instant, frame)
  }

  /// Schedules the start of all members at a frame; nil: at once. In one batch, so that all members start at the same
  /// frame.
  private func scheduleMembers(atFrame frame: Int64?) {
    hasSetRates = true
    // Observers are notified of each start and may make other members leave.
    engine.output.batch {
      for member in members where member.startGroup === self { member.scheduleStart(atFrame: frame) }
    }
  }

  // MARK: - Starting

  /// Handles a member's first frame in the mixer.
  func began(_ member: PlayerCore, atFrame frame: Int64) {
    guard case .scheduled = stage else { return }
    firstFrames[ObjectIdentifier(member)] = frame
    scheduleCheck()
  }

  /// Handles a rewind: the audio from `frame` on is rendered and reported again.
  func rewound(_ member: PlayerCore, toFrame frame: Int64) {
    let key = ObjectIdentifier(member)
    if let begun = firstFrames[key], begun >= frame { firstFrames[key] = nil }
  }

  /// Handles the loss of the device and of its frame count.
  func outputWillStop() {
    if isOver { return }
    timer?.cancel()
    timer = nil
    firstFrames = [:]
    // Waiting members stay silent until there is another device or all of them are paused.
    stage = .preparing
    if hasSetRates { for member in members { member.pendingStartFrame = .max } }
    guard case .frame = target else { return }
    failure = MediaError(.outputLost, "the output that counted the start frame was lost")
    scheduleCheck()
  }

  private func complete() {
    for member in members where member.machine.rate == 0 || member.machine.entries.isEmpty {
      // The member was paused before it started, or has no item any more.
      leave(member)
    }
    guard case .scheduled(let requested) = stage else { return }
    let frames = members.compactMap { firstFrames[ObjectIdentifier($0)] }
    guard frames.count == members.count, let first = frames.min(), let last = frames.max() else { return }
    finish(
      .success(
        SynchronizedStart(
          outputFrame: first, hostTime: engine.output.hostTime(ofFrame: first),
          lateFrameCount: max(0, first - (requested ?? first)), spreadFrameCount: last - first)))
  }
}
