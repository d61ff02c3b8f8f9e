import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The seeks of a player.
final class PlayerSeeks {
  typealias Machine = PlayerStateMachine

  /// The options of a seek.
  struct Options {
    /// The time at which playback pauses after the seek; nil: none.
    var rangeEnd: MediaTime?
    var toleranceBefore = MediaTime.zero
    var toleranceAfter = MediaTime.zero
    var mode = SeekMode.replace
    var jumpCause = TimeJumpCause.seek
    /// The expected current item; nil: any.
    var itemID: PlayerItem.ID?
  }

  /// A seek that has not completed.
  private struct Pending {
    var itemID: PlayerItem.ID
    var target: UnresolvedSeekTarget
    var options: Options
    var requestedAt: HostTime
    var completion: @Sendable (SeekResult) -> Void
  }

  private unowned let player: PlayerCore
  private var pending: [Machine.SeekToken: Pending] = [:]
  private var nextToken: Machine.SeekToken = 1
  private(set) lazy var range = RangePlayback(player)
  private(set) lazy var latency = StartLatency(player)

  init(_ player: PlayerCore) { self.player = player }

  /// Whether no seek is pending.
  var isEmpty: Bool { pending.isEmpty }

  /// The time at which a pending seek was requested.
  func requestTime(of token: Machine.SeekToken) -> HostTime? { pending[token]?.requestedAt }

  // MARK: - Requests

  /// Seeks to a time.
  ///
  /// - Throws: `invalidTime`; the errors of `checkItem`.
  func seek(
    to time: MediaTime, _ options: Options, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    guard time.isNumeric || time.isPositiveInfinity || time.isNegativeInfinity else {
      throw MediaError(.invalidTime, "time must be numeric (got \(time))", operation: "seek")
    }
    try start(options, completion: completion) { _ in .time(time) }
  }

  /// Seeks to a position given as an expression. A relative position counts from the target of the newest pending seek,
  /// or from the position heard if there is none.
  ///
  /// - Throws: `invalidTime`; the errors of `checkItem`.
  func seek(
    to expression: TimeExpression, _ options: Options, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    try start(options, completion: completion) { [self] entry in
      UnresolvedSeekTarget(expression, from: newestTarget(in: entry))
    }
  }

  private func start(
    _ options: Options, completion: @escaping @Sendable (SeekResult) -> Void,
    to target: (Machine.Entry) -> UnresolvedSeekTarget
  ) throws(MediaError) {
    for tolerance in [options.toleranceBefore, options.toleranceAfter]
    where !(tolerance.isPositiveInfinity || tolerance.isNumeric && tolerance >= .zero) {
      throw MediaError(.invalidTime, "tolerance must not be negative (got \(tolerance))", operation: "seek")
    }
    let entry = try checkItem(options.itemID)
    var target = target(entry)
    if target.isEnd, let window = player.items[entry.id]?.liveWindow { target = target.from(window.seekable.end) }
    // A target that depends on the duration waits until the item is open.
    if entry.status != .unknown || !target.needsDuration { _ = try target.time(duration: entry.duration) }
    start(to: target, options, in: entry, completion: completion)
  }

  /// Returns the entry of the current item.
  ///
  /// - Throws: `noCurrentItem`; `noSuchItem`; the item's own error; the errors of `checkSeekable`.
  func checkItem(_ itemID: PlayerItem.ID?) throws(MediaError) -> Machine.Entry {
    try player.checkOpen("seek")
    guard let current = player.machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to seek in", operation: "seek")
    }
    if let itemID, itemID != current.id {
      throw MediaError(
        .noSuchItem, "item \(itemID) is not the current item, which is \(current.id)", operation: "seek")
    }
    if let error = current.status.error { throw error }
    try player.items[current.id]?.checkSeekable(operation: "seek")
    return current
  }

  /// Returns the origin of a relative seek: the target of the newest pending seek, or the current time.
  private func newestTarget(in entry: Machine.Entry) -> UnresolvedSeekTarget {
    guard let newest = player.machine.seeks.newest, newest.itemID == entry.id else {
      return .time(player.currentTime())
    }
    guard let time = try? newest.target.time(duration: entry.duration) else { return newest.target }
    return .time(time.clamped(to: entry.latestTime))
  }

  func start(
    to target: UnresolvedSeekTarget, _ options: Options, in entry: Machine.Entry,
    completion: @escaping @Sendable (SeekResult) -> Void
  ) {
    player.prerolls.end()
    let token = nextToken
    nextToken += 1
    pending[token] = Pending(
      itemID: entry.id, target: target, options: options, requestedAt: player.engine.loop.now, completion: completion)
    player.run(
      player.machine.seek(
        token, to: target, before: options.toleranceBefore, after: options.toleranceAfter, mode: options.mode,
        jumpCause: options.jumpCause, rangeEnd: options.rangeEnd),
      cause: .request)
  }

  func cancelAll() { player.run(player.machine.cancelSeeks(), cause: .request) }

  // MARK: - Steps

  /// The length of a step: 10 ms.
  static let stepDuration = MediaTime(value: 1, timescale: 100)

  /// Implements `PlayerControl.step`.
  func step(byCount count: Int, completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    try player.checkOpen("step")
    guard player.machine.rate == 0 else {
      throw MediaError(.invalidState, "the player must be paused to step", operation: "step")
    }
    guard let count = Int32(exactly: count) else {
      throw MediaError(
        .invalidArgument, "step count must be between -2^31 and 2^31 - 1 (got \(count))", operation: "step")
    }
    let distance = MediaTime(
      value: Int64(count) * Self.stepDuration.value, timescale: Self.stepDuration.timescale)
    try seek(to: .relative(distance), Options(jumpCause: .step), completion: completion)
  }

  // MARK: - Completion

  func complete(_ token: Machine.SeekToken, _ outcome: SeekResult.Outcome) {
    guard let seek = pending.removeValue(forKey: token) else { return }
    let item = player.items[seek.itemID]
    let requested = (try? seek.target.time(duration: item?.duration ?? .indefinite)) ?? .indefinite
    let isCurrent = player.machine.entries.first?.id == seek.itemID
    let isFinished = outcome == .finished
    let positionDoubt = isFinished ? latency.trace?.preparation?.positionDoubt : nil
    let current = isCurrent ? player.timebaseAnchor : nil
    let time = isFinished ? latency.trace?.commit?.reached : current?.time
    // The window of a live stream moves. A target that was reached exactly was in the window, and is not clamped.
    let isReached = requested.isNumeric && time.map { isExact($0, for: requested) } == true
    let wanted =
      if let window = item?.liveWindow, requested.isNumeric, !isReached {
        max(window.seekable.start, min(requested, window.seekable.end))
      } else {
        requested.clamped(
          to: item?.providesPreciseDuration == true ? item?.duration ?? .indefinite : .indefinite)
      }
    let result = SeekResult(
      outcome: outcome, itemID: seek.itemID, requested: requested,
      toleranceBefore: seek.options.toleranceBefore, toleranceAfter: seek.options.toleranceAfter,
      time: time ?? wanted, hostTime: isFinished ? player.jumpHostTime : current?.hostTime,
      isExact: isFinished && positionDoubt == nil && time.map { isExact($0, for: wanted) } ?? false,
      positionDoubt: positionDoubt,
      isClamped: requested.isNumeric && wanted != requested,
      durationNanoseconds: max(0, player.engine.loop.now.nanoseconds(since: seek.requestedAt)))
    player.calls.add { _ in seek.completion(result) }
  }

  /// Whether `reached` is the time of the sample that contains `time`, or of the first output frame at or after it.
  private func isExact(_ reached: MediaTime, for time: MediaTime) -> Bool {
    guard let sourceRateHz = player.chain.sounding?.sourceRateHz else { return false }
    // In reverse, `reached` is the end of a sample: the sample that contains `time` ends at `time` or later.
    if player.machine.decodedRate.isReverse, reached >= time, reached - MediaTime(frame: 1, rate: sourceRateHz) < time {
      return true
    }
    if reached <= time { return time < reached + MediaTime(frame: 1, rate: sourceRateHz) }
    let rate = player.machine.decodedRate
    guard sourceRateHz != player.timeline.sampleRateHz || rate != .normal else { return false }
    return reached
      < MediaTime(time, advancedByFrames: 1, rate: player.timeline.sampleRateHz, playbackRate: rate.magnitude)
  }
}
