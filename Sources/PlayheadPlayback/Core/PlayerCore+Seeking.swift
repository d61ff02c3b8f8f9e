import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Seeks, and the latency of starts and seeks.
extension PlayerCore {
  /// The options of a seek.
  struct SeekOptions {
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
  struct PendingSeek {
    var itemID: PlayerItem.ID
    var target: UnresolvedSeekTarget
    var seek: SeekOptions
    var requestedAt: HostTime
    var completion: @Sendable (SeekResult) -> Void
  }

  // MARK: - Requests

  /// Seeks to a time.
  ///
  /// - Throws: `invalidTime`; the errors of `checkItem`.
  func seek(
    to time: MediaTime, _ seek: SeekOptions, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    guard time.isNumeric || time.isPositiveInfinity || time.isNegativeInfinity else {
      throw MediaError(.invalidTime, "time must be numeric (got \(time))", operation: "seek")
    }
    try startSeek(seek, completion: completion) { _ in .time(time) }
  }

  /// Seeks to a position given as an expression. A relative position counts from the target of the newest pending seek,
  /// or from the position heard if there is none.
  ///
  /// - Throws: `invalidTime`; the errors of `checkItem`.
  func seek(
    to expression: TimeExpression, _ seek: SeekOptions, completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    try startSeek(seek, completion: completion) { [self] entry in
      UnresolvedSeekTarget(expression, from: newestTarget(in: entry))
    }
  }

  private func startSeek(
    _ seek: SeekOptions, completion: @escaping @Sendable (SeekResult) -> Void,
    to target: (Machine.Entry) -> UnresolvedSeekTarget
  ) throws(MediaError) {
    for tolerance in [seek.toleranceBefore, seek.toleranceAfter]
    where !(tolerance.isPositiveInfinity || tolerance.isNumeric && tolerance >= .zero) {
      throw MediaError(.invalidTime, "tolerance must not be negative (got \(tolerance))", operation: "seek")
    }
    let entry = try checkItem(seek.itemID)
    var target = target(entry)
    if target.isEnd, let window = items[entry.id]?.liveWindow { target = target.from(window.seekable.end) }
    // A target that depends on the duration waits until the item is open.
    if entry.status != .unknown || !target.needsDuration { _ = try target.time(duration: entry.duration) }
    startSeek(to: target, seek, in: entry, completion: completion)
  }

  /// Returns the entry of the current item.
  ///
  /// - Throws: `noCurrentItem`; `noSuchItem`; the item's own error; the errors of `checkSeekable`.
  func checkItem(_ itemID: PlayerItem.ID?) throws(MediaError) -> Machine.Entry {
    try checkOpen("seek")
    guard let current = machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to seek in", operation: "seek")
    }
    if let itemID, itemID != current.id {
      throw MediaError(
        .noSuchItem, "item \(itemID) is not the current item, which is \(current.id)", operation: "seek")
    }
    if let error = current.status.error { throw error }
    try items[current.id]?.checkSeekable(operation: "seek")
    return current
  }

  /// Returns the origin of a relative seek: the target of the newest pending seek, or the current time.
  private func newestTarget(in entry: Machine.Entry) -> UnresolvedSeekTarget {
    guard let newest = machine.seeks.newest, newest.itemID == entry.id else { return .time(currentTime()) }
    guard let time = try? newest.target.time(duration: entry.duration) else { return newest.target }
    return .time(time.clamped(to: entry.latestTime))
  }

  func startSeek(
    to target: UnresolvedSeekTarget, _ seek: SeekOptions, in entry: Machine.Entry,
    completion: @escaping @Sendable (SeekResult) -> Void
  ) {
    endPrerolls()
    let token = nextSeekToken
    nextSeekToken += 1
    seeks[token] = PendingSeek(
      itemID: entry.id, target: target, seek: seek, requestedAt: engine.loop.now, completion: completion)
    run(
      machine.seek(
        token, to: target, before: seek.toleranceBefore, after: seek.toleranceAfter, mode: seek.mode,
        jumpCause: seek.jumpCause, rangeEnd: seek.rangeEnd),
      cause: .request)
  }

  func cancelPendingSeeks() { run(machine.cancelSeeks(), cause: .request) }

  // MARK: - Completion

  func completeSeek(_ token: Machine.SeekToken, _ outcome: SeekResult.Outcome) {
    guard let pending = seeks.removeValue(forKey: token) else { return }
    let item = items[pending.itemID]
    let requested = (try? pending.target.time(duration: item?.duration ?? .indefinite)) ?? .indefinite
    let isCurrent = machine.entries.first?.id == pending.itemID
    let isFinished = outcome == .finished
    let positionDoubt = isFinished ? startTrace?.preparation?.positionDoubt : nil
    let current = isCurrent ? timebaseAnchor : nil
    let time = isFinished ? startTrace?.commit?.reached : current?.time
    // The window of a live stream moves. A target that was reached exactly was in the window, and is not clamped.
    let isReached = requested.isNumeric && time.map { isExact($0, for: requested) } == true
    let wanted =
      if let window = item?.liveWindow, requested.isNumeric, !isReached {
        max(window.seekable.start, min(requested, window.seekable.end))
      } else {
        requested.clamped(
          to: item?.providesPreciseDuration == true ? item?.duration ?? .indefinite : .indefinite)
      }
    enqueue(
      .completion(
        pending.completion,
        SeekResult(
          outcome: outcome, itemID: pending.itemID, requested: requested,
          toleranceBefore: pending.seek.toleranceBefore, toleranceAfter: pending.seek.toleranceAfter,
          time: time ?? wanted, hostTime: isFinished ? jumpHostTime : current?.hostTime,
          isExact: isFinished && positionDoubt == nil && time.map { isExact($0, for: wanted) } ?? false,
          positionDoubt: positionDoubt,
          isClamped: requested.isNumeric && wanted != requested,
          durationNanoseconds: max(0, engine.loop.now.nanoseconds(since: pending.requestedAt)))))
  }

  /// Whether `reached` is the time of the sample that contains `time`, or of the first output frame at or after it.
  private func isExact(_ reached: MediaTime, for time: MediaTime) -> Bool {
    guard let sourceRateHz = chain.sounding?.sourceRateHz else { return false }
    // In reverse, `reached` is the end of a sample: the sample that contains `time` ends at `time` or later.
    if machine.decodedRate.isReverse, reached >= time, reached - MediaTime(frame: 1, rate: sourceRateHz) < time {
      return true
    }
    if reached <= time { return time < reached + MediaTime(frame: 1, rate: sourceRateHz) }
    let rate = machine.decodedRate
    guard sourceRateHz != timeline.sampleRateHz || rate != .normal else { return false }
    return reached
      < MediaTime(time, advancedByFrames: 1, rate: timeline.sampleRateHz, playbackRate: rate.magnitude)
  }

  // MARK: - Latency

  /// The latency of the last start or seek, by phase; nil before the first one.
  var lastStartReport: StartReport? { startTrace?.report }

  /// Begins the trace of a generation that is requested.
  func makeTrace(of request: Machine.DecodeRequest) -> StartTrace {
    let pending = request.seek.flatMap { seeks[$0] }
    return StartTrace(
      kind: request.spliceAfter != nil ? .splice : request.seek != nil ? .seek : .start, itemID: request.itemID,
      requested: request.time, requestedAt: pending?.requestedAt ?? engine.loop.now)
  }

  /// Records that the mixer has a generation whose first frame is at item time `reached`.
  func traceCommit(of generation: Generation, at reached: MediaTime?) {
    var trace = generation.trace
    trace.commit = (engine.loop.now, reached ?? trace.preparation?.time ?? trace.requested)
    trace.streamID = generation.stream.id
    if chain.sounding?.number == generation.number { chain.update(generation.number) { $0.trace = trace } }
    startTrace = trace
  }

  /// Records a start from audio that is already decoded.
  func traceResumption() {
    guard let sounding = chain.sounding, let position, machine.requestInPreparation == nil, sounding.trace.commit != nil
    else { return }
    let now = engine.loop.now
    startTrace = StartTrace(
      kind: .start, itemID: position.itemID, requested: position.time, requestedAt: now, commit: (now, position.time),
      streamID: sounding.stream.id)
  }

  /// Records the output frame at which the last requested stream begins.
  func traceRun(of streamID: UInt64, atFrame frame: Int64) {
    guard let trace = startTrace, trace.kind != .splice, trace.streamID == streamID, trace.firstFrame == nil,
      trace.commit != nil
    else { return }
    startTrace?.firstFrame = frame
    traceHeard()
  }

  /// Records when the first frame is heard, if the clock can convert it now.
  func traceHeard() {
    guard let trace = startTrace, trace.heardAt == nil, let frame = trace.firstFrame else { return }
    startTrace?.heardAt = output.hostTime(ofFrame: frame)
  }
}
