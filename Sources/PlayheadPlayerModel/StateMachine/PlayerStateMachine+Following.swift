import PlayheadMediaCore

/// Passes and their order: ends, transitions, repeats and loops.
///
/// The *wanted* passes are computed from the queue and the settings whenever one of them changes, and compared with the
/// decoded passes. A difference is corrected by a new plan, if the decode thread has not reached it yet. Otherwise the
/// decoded audio is cut, and a new generation continues from there.
extension PlayerStateMachine {
  /// A part of the current item that is looped.
  package struct Loop: Sendable, Hashable {
    package var itemID: ItemID
    package var start: MediaTime
    package var end: MediaTime
    /// The number of remaining returns to the beginning; nil: unlimited. Never 0.
    package var remaining: Int?
    /// Whether playback entered the loop: from before `end`, or in reverse from after `start`. Otherwise playback
    /// continues to the item's edge.
    package var isArmed: Bool
    /// The number of returns so far.
    package var count = 0
    /// Whether the current pass is the last, and the item ends with it.
    package var isFinishing = false

    /// The loop point at this rate: the time at which playback returns.
    package func loopPoint(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? start : end }

    /// The time to which playback returns at this rate.
    package func returnTime(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? end : start }
  }

  /// A limit of repeats, so that the pass after the last repeat is never decoded.
  package struct RepeatLimit: Sendable, Hashable {
    /// The repeated item, which is current.
    package var itemID: ItemID
    /// The number of remaining repeats. Never 0.
    package var remaining: Int
    /// The repeat mode from the beginning of the last repeat.
    package var modeAfterwards: RepeatMode
  }

  /// The maximum number of passes in a plan. The amount of decoded audio is limited by time: the capacity of the
  /// stream.
  static let planLength = 256
  /// The maximum number of passes that are decoded or planned at the same time: less than the capacity of a stream's
  /// queue of range descriptors. With `shortestLoop` they last at least 5 s.
  static let passLimit = 512

  /// Whether another thread should draw the order of the next round of a long shuffled queue now, so that it is known
  /// before it is planned.
  package var needsNextRound: Bool { queue.needsNextRound(within: 2 * Self.passLimit) }
  /// The minimum time between the heard position and a cut in decoded audio: enough to decode the audio after the cut
  /// again before it is heard.
  static let redecodingTime = MediaTime(value: 300, timescale: 1_000)
  /// More than the duration of the audio that is decoded ahead, in seconds of the output.
  private static let longestDecodedSeconds = 60.0
  /// The minimum duration of an item or range that is repeated.
  package static let shortestLoop = MediaTime(value: 10, timescale: 1_000)

  // MARK: - Settings

  /// Sets the repeat mode.
  ///
  /// - Parameters:
  ///   - count: With `.one`: the number of repeats of the current item, at least 1. Nil: unlimited.
  ///   - modeAfterwards: The mode after the last counted repeat.
  package mutating func setRepeatMode(
    _ mode: RepeatMode, count: Int? = nil, modeAfterwards: RepeatMode = .off
  ) -> [Action] {
    changeRepeatMode(to: mode)
    if mode == .one, let count, let current = entries.first {
      intent.limitRepeats(RepeatLimit(itemID: current.id, remaining: count, modeAfterwards: modeAfterwards))
    }
    guard heardEnd.isPassed, let current = entries.first else { return reconcile() }
    switch mode {
    case .off: return []
    case .one:
      return endSeeks(.itemEnded)
        + decode(DecodeRequest(itemID: current.id, time: decodedRate.itemStart, jumpCause: .repeat))
    case .all: return advance()
    }
  }

  /// Sets the cross-fade between items; nil: the next item begins after the end of the previous one.
  ///
  /// If the end of the current item may be decoded already, it cannot overlap, or not by more than before: the audio is
  /// decoded again from `time`, the position heard in the current item; nil: it cannot be decoded again.
  package mutating func setCrossfade(_ crossfade: Crossfade?, heardAt time: MediaTime?) -> [Action] {
    let former = intent.crossfade
    intent.setCrossfade(crossfade)
    let isLonger = crossfade.map { $0.duration > former?.duration ?? .zero } ?? false
    guard isLonger, let time, mayBeDecodedToItsEnd(heardAt: time) else { return reconcile() }
    let actions = redecode(nil, from: time)
    return actions.isEmpty ? reconcile() : actions
  }

  /// Whether the decode thread may have decoded the end of the current pass. Its report may be on its way.
  private func mayBeDecodedToItsEnd(heardAt time: MediaTime) -> Bool {
    guard decodedPasses.count == 1, !progress.isLastPassComplete, requestInPreparation == nil,
      let current = entries.first, !decodedRate.isReverse
    else { return true }
    let rest = (decodedPasses[0].pass.end ?? current.duration) - time
    return !rest.isNumeric || rest.seconds < Self.longestDecodedSeconds * decodedRate.magnitude.value
  }

  private mutating func changeRepeatMode(to mode: RepeatMode) {
    queue.setRepeatMode(mode)
    intent.limitRepeats(nil)
  }

  /// Ends the counted repeats: they are complete, or their item is no longer current.
  mutating func endRepeatLimit() {
    if let limit = intent.repeatLimit { changeRepeatMode(to: limit.modeAfterwards) }
  }

  /// Loops a part of the current item; nil removes the loop.
  ///
  /// - Parameters:
  ///   - count: The number of returns; nil: unlimited.
  ///   - time: The position of the current item that is heard.
  package mutating func setLoop(_ range: TimeRange?, count: Int?, heardAt time: MediaTime) -> [Action] {
    intent.setLoop(nil)
    if let range, let current = entries.first {
      var loop = Loop(itemID: current.id, start: range.start, end: range.end, remaining: count, isArmed: false)
      loop.isArmed = !decodedRate.reaches(loop.loopPoint(at: decodedRate), by: time)
      intent.setLoop(loop)
    }
    return reconcile(loopHeardAt: time)
  }

  /// Makes the current pass the last one, and the end of the loop the end of the item.
  package mutating func finishLoop() -> [Action] {
    intent.finishLoop()
    return reconcile()
  }

  /// Updates `isArmed` of the loop for playback of the item from `time` at the target rate. Returns the end of that
  /// pass if it ends at the loop point.
  mutating func armLoop(at time: MediaTime, of id: ItemID) -> MediaTime? {
    guard let loop, loop.itemID == id else { return nil }
    let loopPoint = loop.loopPoint(at: targetRate)
    let isArmed = !targetRate.reaches(loopPoint, by: time)
    intent.armLoop(isArmed)
    return isArmed ? loopPoint : nil
  }

  // MARK: - Wanted passes

  /// Returns the passes to be heard, at most `limit`, with the current one first. The start of the current one is not
  /// determined.
  func wantedPasses(_ limit: Int) -> [Pass] {
    guard let current = entries.first else { return [] }
    guard !heardEnd.isPassed else { return [Pass(itemID: current.id, isSilence: true)] }
    var passes = [wholePass(of: current)]
    if intent.rangeEnd?.itemID == current.id {
      passes[0].end = earlyRangeEnd(of: current, at: decodedRate) ?? passes[0].end
      return passes
    }
    if let loop = activeLoop {
      let (returnTime, loopPoint) = (loop.returnTime(at: decodedRate), loop.loopPoint(at: decodedRate))
      passes[0].end = loopPoint
      var remaining = loop.isFinishing ? 0 : loop.remaining
      while remaining != 0 {
        guard passes.count < limit else { return passes }
        remaining = remaining.map { $0 - 1 }
        passes.append(
          Pass(
            itemID: current.id, start: returnTime,
            end: remaining == 0 ? current.end(at: decodedRate) : loopPoint))
      }
    }
    appendFollowing(current, to: &passes, limit: limit)
    return passes
  }

  /// Appends the passes after the current item. Repeats have priority over the action at its end. In reverse only a
  /// repeat or the silence of the same item can follow, because a queue is followed forwards only.
  private func appendFollowing(_ current: Entry, to passes: inout [Pass], limit: Int) {
    if stopsAfter(current) { return }
    let first = passes.count
    defer {
      if intent.crossfade != nil {
        for index in first..<passes.count where !passes[index].isSilence { passes[index].crossfade = intent.crossfade }
      }
    }
    var mode = repeatMode
    if current.isRepeatable, let repeatLimit = intent.repeatLimit {
      let room = Swift.max(0, limit - passes.count)
      passes += repeatElement(wholePass(of: current), count: min(repeatLimit.remaining, room))
      mode = repeatLimit.modeAfterwards
    }
    if mode == .one, current.isRepeatable {
      while passes.count < limit { passes.append(wholePass(of: current)) }
      return
    }
    if decodedRate.isReverse {
      if actionAtItemEnd == .none, passes.count < limit { passes.append(Pass(itemID: current.id, isSilence: true)) }
      return
    }
    switch mode {
    case .all:
      let currentItemPassCount = passes.count
      guard appendPlayable(queue.restOfRound(), to: &passes, limit: limit, isFirst: true, where: { _ in true }) else {
        return
      }
      if queue.isNextRoundUnknown { return }
      var (count, number, last) = (-1, UInt64(0), current.id)
      // Stop when a round appends no pass.
      while passes.count < limit, passes.count != count {
        count = passes.count
        number += 1
        last = passes.last?.itemID ?? last
        guard appendPlayable(queue.round(number, after: last), to: &passes, limit: limit, where: \.isRepeatable) else {
          return
        }
      }
      if passes.count > currentItemPassCount { return }
    case .off, .one: break
    }
    switch actionAtItemEnd {
    case .advance, .stop:
      _ = appendPlayable(entries.suffix(from: 1), to: &passes, limit: limit, isFirst: true) { _ in true }
    case .pause: break
    case .none: if passes.count < limit { passes.append(Pass(itemID: current.id, isSilence: true)) }
    }
  }

  /// Whether playback stops at this entry because it could not be opened, or decoding failed before its end.
  private func stopsAfter(_ entry: Entry) -> Bool {
    failurePolicy == .stop && (entry.hasFailedBeforeEnd || entry.status.error != nil)
  }

  /// Appends passes of the candidates that can be played.
  ///
  /// - Parameter isFirst: Whether the entries become current for the first time.
  /// - Returns: Whether playback continues after the candidates.
  private func appendPlayable(
    _ candidates: some Sequence<Entry>, to passes: inout [Pass], limit: Int, isFirst: Bool = false,
    where isWanted: (Entry) -> Bool
  ) -> Bool {
    for entry in candidates {
      guard passes.count < limit else { return true }
      if entry.status.error == nil, isWanted(entry) {
        passes.append(isFirst ? firstPass(of: entry) : wholePass(of: entry))
      }
      if stopsAfter(entry) { return false }
    }
    return true
  }

  // MARK: - The decode thread

  /// Handles the start of the next pass of the plan by the decode thread.
  ///
  /// - Parameter overlapTime: The time of the previous pass at which this one begins in a cross-fade; nil: at its end.
  package mutating func began(_ pass: Pass, generation: UInt64, overlapTime: MediaTime? = nil) -> [Action] {
    guard generation == self.generation, progress.isActive else { return [] }
    progress.began(pass, overlapTime: overlapTime)
    return reconcile()
  }

  /// Handles the end of decoding of a pass, which is now completely in the stream.
  ///
  /// - Parameters:
  ///   - end: The planned end.
  ///   - isTooShort: Whether the whole item is shorter than `shortestLoop`.
  ///   - hasFailedBeforeEnd: Whether decoding failed before the end.
  package mutating func ended(
    _ id: PassID, end: MediaTime?, isTooShort: Bool, hasFailedBeforeEnd: Bool = false
  ) -> [Action] {
    guard let itemID = progress.ended(id, end: end) else { return [] }
    queue.update(itemID) { entry in
      if isTooShort { entry.isTooShort = true }
      entry.hasFailedBeforeEnd = hasFailedBeforeEnd
    }
    return reconcile()
  }

  /// Handles a pass in which the decode thread was already past the planned end: the pass continues to the item's end.
  package mutating func overran(_ id: PassID) -> [Action] {
    guard progress.overran(id) else { return [] }
    let actions = reconcile()
    progress.continued(id)
    return actions
  }

  // MARK: - Mixer

  /// Whether a pass ends at the end of the item's audio, not before.
  package func endsWithAudio(_ id: PassID) -> Bool { decodedPasses.first { $0.id == id }?.pass.end == nil }

  /// Handles the end of a pass, which has been heard.
  ///
  /// - Parameters:
  ///   - error: The error if decoding failed there.
  ///   - retryTime: The item time of the failure, if opening the item again may succeed.
  package mutating func endHeard(_ id: PassID, error: MediaError?, retryTime: MediaTime? = nil) -> [Action] {
    guard let heard = decodedPasses.first, heard.id == id, !heardEnd.isPassed, let current = entries.first,
      current.id == heard.pass.itemID
    else { return [] }
    // A seek in this item is about to be heard, so the item does not end.
    if progress.replacementInPreparation != nil { return [] }
    let next = passAfter(heard.pass)
    // A continuation, in either direction, is no end of the item.
    let isContinuation = next.map { $0.continues(heard.pass) } ?? false
    var actions: [Action] = []
    if let error {
      if heardEnd.reportedItemID != current.id { actions.append(.emit(.failedToPlayToEnd(current.id, error))) }
    } else if !isContinuation, endsItem(heard.pass), heardEnd.reportedItemID != current.id {
      actions.append(.emit(.playedToEnd(current.id)))
    }
    heardEnd.clearReport()
    if !isContinuation, let rangeActions = rangeEndHeard(heard.pass, of: current, error) {
      return actions + rangeActions
    }
    if let error, let retryTime, retriesHeardItems {
      return actions + postponeHeard(current, error, resumingAt: retryTime, next: next)
    }
    guard let next else {
      guard actionAtItemEnd.advances, !decodedRate.isReverse, !stopsAfter(current) else {
        heardEnd.report(current.id)
        let failure = error.flatMap { stopsAfter(current) ? FailureStop(itemID: current.id, error: $0) : nil }
        return actions + pause(after: failure)
      }
      queue.leave(current)
      actions += endSeeks(.itemEnded)
      return actions + moveToNextPass(nil) + stopAfterLastItem()
    }
    if next.itemID != current.id {
      queue.leave(current)
      actions += endSeeks(.itemEnded)
    } else if next.isSilence {
      heardEnd.pass()
    } else if isContinuation {
      // The loop is unchanged.
    } else if endsItem(heard.pass) {
      intent.setLoop(nil)
      if intent.countRepeat() { endRepeatLimit() }
    } else {
      intent.countLoopReturn()
    }
    if !next.isSilence, !isContinuation { actions.append(.emit(.transition(from: current.id, to: next.itemID))) }
    return actions + moveToNextPass(next)
  }

  /// Pauses with `ActionAtItemEnd.stop` if the queue is empty after its last item.
  mutating func stopAfterLastItem() -> [Action] { actionAtItemEnd == .stop && entries.isEmpty ? pause() : [] }

  /// Returns the pass after a pass that has been heard to its end.
  private func passAfter(_ heard: Pass) -> Pass? {
    // A pass that was split continues from its end.
    let following = decodedPasses.count > 1 ? decodedPasses[1].pass : requestInPreparation?.pass ?? plan.passes.first
    if let following, following.itemID == heard.itemID, following.start == heard.end { return following }
    let wanted = wantedPasses(2)
    return wanted.count > 1 ? wanted[1] : nil
  }

  /// Removes the first of `decodedPasses`, which has been heard. `next` is the pass that follows it, if it is known.
  mutating func moveToNextPass(_ next: Pass?) -> [Action] {
    progress.firstPassHeard()
    let nextItem = next?.itemID ?? entries.first { $0.status.error == nil }?.id
    // The next item is still being opened.
    if decodedPasses.isEmpty, buffering.isDrained { buffering.audioEnded() }
    guard decodedPasses.isEmpty, !isAboutToBegin(nextItem) else { return reconcile() }
    if requestInPreparation == nil { buffering.pause() }
    progress.lastPassHeard(
      deferring: next.flatMap { $0.start > .zero ? DecodeRequest(itemID: $0.itemID, time: $0.start) : nil })
    return reconcile()
  }

  /// Whether this item is next in the plan of the decode thread.
  func isAboutToBegin(_ id: ItemID?) -> Bool { id != nil && plan.passes.first?.itemID == id }

  // MARK: - Corrections

  /// Compares the decoded and prepared passes with the wanted ones.
  mutating func reconcileFollowing(loopHeardAt: MediaTime?) -> [Action] {
    queue.prepareRound(within: Self.passLimit)
    let prepared = requestInPreparation?.pass
    var upcoming = wantedPasses(min(Self.passLimit, decodedPasses.count + Self.planLength))[...]
    // After a change of direction the wanted passes begin after the audible one, which has the other direction.
    let hasOldDirection =
      decodedPasses[0].isReverse != decodedRate.isReverse && (decodedPasses.count > 1 || prepared != nil)
    let first = hasOldDirection ? 1 : 0
    if let begun = first < decodedPasses.count ? decodedPasses[first].pass : prepared {
      (upcoming[0].start, upcoming[0].crossfade) = (begun.start, begun.crossfade)
    }
    // A start past the pass's end is at the end.
    if let end = upcoming[0].end, decodedRate.reaches(end, by: upcoming[0].start) {
      upcoming[0].end = upcoming[0].start
    }
    for index in first..<decodedPasses.count + (prepared == nil ? 0 : 1) {
      let actual = index < decodedPasses.count ? decodedPasses[index].pass : prepared
      guard let actual, let wanted = upcoming.first, wanted.hasSameStart(as: actual) else {
        return replacePasses(after: index - 1, with: upcoming.first)
      }
      if actual.end != wanted.end {
        if index < decodedPasses.count, decodedPasses[index].overlap != nil {
          return replacePasses(after: index, with: nil)
        }
        if index == decodedPasses.count { return replacePasses(after: index - 1, with: wanted) }
        if index == decodedPasses.count - 1, progress.canMoveLastEnd {
          progress.moveLastEnd(to: wanted.end)
        } else if actual.ends(before: wanted, at: decodedRate) {
          // The rest of the pass follows.
          upcoming[upcoming.startIndex].start = actual.end ?? wanted.start
          upcoming[upcoming.startIndex].crossfade = nil
          continue
        } else {
          return shorten(
            index, to: wanted.end ?? wanted.start, next: upcoming.dropFirst().first, loopHeardAt: loopHeardAt)
        }
      }
      upcoming.removeFirst()
    }
    if prepared != nil { return [] }
    if progress.isCut {
      guard let next = upcoming.first, let last = decodedPasses.last else { return [] }
      return decode(DecodeRequest(next, spliceAfter: last.id))
    }
    return setPlan(
      Plan(
        begunCount: progress.begunCount,
        currentEnd: progress.isLastPassComplete ? nil : decodedPasses.last?.pass.end,
        passes: Array(upcoming), crossfade: intent.crossfade))
  }

  private mutating func setPlan(_ next: Plan) -> [Action] {
    let plan = plan
    // Do not update a plan that is only shorter than possible, until much of it is used.
    let isLongEnough =
      plan.passes.count == next.passes.count || plan.passes.count >= max(16, next.passes.count / 2)
    guard
      !isLongEnough || next.currentEnd != plan.currentEnd || next.crossfade != plan.crossfade
        || !next.passes.starts(with: plan.passes)
    else { return [] }
    progress.setPlan(next)
    return [.setPlan(next)]
  }

  /// Replaces the passes after `decodedPasses[index]`, which are not wanted, by `next`.
  private mutating func replacePasses(after index: Int, with next: Pass?) -> [Action] {
    guard decodedPasses.indices.contains(index) else {
      return entries.first.map { replaceCurrent(with: $0.id) } ?? []
    }
    let decoded = decodedPasses[index]
    let actions: [Action] = index < decodedPasses.count - 1 ? [.truncate(after: decoded.id)] : []
    guard let overlap = decoded.overlap else {
      progress.truncate(after: index)
      return actions + follow(decoded.id, with: next)
    }
    let itemID = decoded.pass.itemID
    if let next, canOverlap(next, overlap) {
      progress.truncate(after: index)
      return actions
        + follow(decoded.id, with: next, overlap: Overlap(itemID: itemID, time: overlap.time, end: decoded.pass.end))
    }
    // The stream has only the part of the pass before the cross-fade. The rest follows.
    progress.end(index, at: overlap.time)
    return actions + follow(decoded.id, with: Pass(itemID: itemID, start: overlap.time, end: decoded.pass.end))
  }

  /// Whether a pass can begin where another one began in a cross-fade: it has the same overlap, which is at most half
  /// of it, as far as its duration is known.
  private func canOverlap(_ next: Pass, _ overlap: PassOverlap) -> Bool {
    guard let duration = next.crossfade?.duration, duration == overlap.crossfade.duration, !decodedRate.isReverse else {
      return false
    }
    guard let end = next.end ?? entries[next.itemID]?.duration, end.isNumeric else { return true }
    return (end - next.start).seconds >= 2 * duration.seconds * decodedRate.magnitude.value
  }

  /// Ends `decodedPasses[index]`, of which more is already decoded, at `end`. `next` follows it.
  private mutating func shorten(_ index: Int, to end: MediaTime, next: Pass?, loopHeardAt: MediaTime?) -> [Action] {
    let shortened = decodedPasses[index]
    let cut = next.flatMap { filterCut(of: shortened.pass, to: end, next: $0, loopHeardAt: loopHeardAt) }
    progress.end(index, at: cut ?? end)
    let rest = cut.map { Pass(itemID: shortened.pass.itemID, start: $0, end: end) }
    return [.shorten(shortened.id, at: cut ?? end)] + follow(shortened.id, with: rest ?? next)
  }

  /// Returns the time at which to cut a pass before a loop point, so that its end is decoded again together with the
  /// following audio. The resampling filter then covers both sides of the loop point. Nil if no filter is involved, or
  /// the end will be heard too soon.
  private func filterCut(of pass: Pass, to end: MediaTime, next: Pass, loopHeardAt heard: MediaTime?) -> MediaTime? {
    guard next.itemID == pass.itemID, !next.isSilence, decodedRate == .normal, let heard,
      let reach = entries[pass.itemID]?.filterReach, reach > .zero
    else { return nil }
    let cut = end - reach
    return cut > pass.start && cut - heard >= Self.redecodingTime ? cut : nil
  }

  /// Sets the length of the end of a pass of the item that depends on the following audio.
  package mutating func setFilterReach(_ reach: MediaTime, of id: ItemID) {
    queue.update(id) { $0.filterReach = reach }
  }

  /// Prepares `next` as the successor of a decoded pass; nil: the stream ends after that pass.
  private mutating func follow(_ id: PassID, with next: Pass?, overlap: Overlap? = nil) -> [Action] {
    // The stream now contains all its samples, so no further report would end an underrun.
    buffering.refilled()
    if let next {
      var request = DecodeRequest(next, spliceAfter: id)
      request.overlap = overlap
      return decode(request)
    }
    progress.cut()
    return [.setPlan(Plan())]
  }
}

extension PlayerStateMachine.Entry {
  /// Whether it may be played again after its end.
  var isRepeatable: Bool { !isTooShort && status.error == nil }
}

extension PlayerStateMachine.DecodeRequest {
  /// Requests a pass that follows another one in a separate stream.
  package init(_ pass: Pass, spliceAfter: PassID) {
    self.init(
      itemID: pass.itemID, time: pass.start, spliceAfter: spliceAfter, end: pass.end, isSilence: pass.isSilence)
    crossfade = pass.crossfade
  }
}
