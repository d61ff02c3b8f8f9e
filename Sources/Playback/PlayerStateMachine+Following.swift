import MediaCore

/// What follows what: passes, their ends and seams, repeats and loops.
///
/// The *wanted* passes are worked out anew from the queue and the settings whenever one of them changes, and compared
/// with what has been decoded. What differs is mended where it can be: by another plan while the decode thread has not
/// come so far, otherwise by cutting what was decoded and going on in a stream of its own.
extension PlayerStateMachine {
  /// A part of the current item that is played again and again.
  struct Loop: Sendable, Hashable {
    var itemID: ItemID
    var start: MediaTime
    var end: MediaTime
    /// How many more times it goes back; nil: for ever. Never 0.
    var remaining: Int?
    /// Playback has come from before `end`, or backwards from behind `start`. Beyond it playback goes on to the item's end,
    /// or backwards its beginning.
    var isArmed: Bool
    /// How many times it has gone back.
    var count = 0
    /// The present pass is the last, and the item ends with it.
    var endsItem = false

    /// Where playback at this rate turns back.
    func turn(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? start : end }

    /// Where it turns back to.
    func entry(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? end : start }
  }

  /// Repeats that are counted, so that the pass behind the last is never decoded.
  struct RepeatLimit: Sendable, Hashable {
    /// The item that is repeated, which is current.
    var itemID: ItemID
    /// How many more times it begins anew. Never 0.
    var remaining: Int
    /// The repeat mode from the beginning of the last repeat on.
    var modeAfterwards: RepeatMode
  }

  /// How far ahead the decode thread is told what follows, in passes. What it really decodes ahead is measured in time,
  /// by what the stream holds.
  static let planLength = 256
  /// Passes that are decoded or planned at the same time: fewer than the descriptions that a stream's queue holds. With
  /// `shortestLoop` they are 5 s at least.
  static let passLimit = 512
  /// What is to be decoded anew, and what follows it, is there by then.
  static let timeToDecodeAnew = MediaTime(value: 300, timescale: 1_000)
  /// What is shorter is not repeated.
  static let shortestLoop = MediaTime(value: 10, timescale: 1_000)

  // MARK: - Settings

  /// `count`, with `.one`: how many times the current item is repeated, 1 at least, before `modeAfterwards` is what holds;
  /// nil: for as long as the mode is set.
  mutating func setRepeatMode(
    _ mode: RepeatMode, count: Int? = nil, modeAfterwards: RepeatMode = .off
  ) -> [Action] {
    change(to: mode)
    if mode == .one, let count, let current = entries.first {
      repeatLimit = RepeatLimit(itemID: current.id, remaining: count, modeAfterwards: modeAfterwards)
    }
    guard hasPassedEnd, let current = entries.first else { return reconcile() }
    switch mode {
    case .off: return []
    case .one:
      return endSeeks(.itemEnded)
        + start(Start(itemID: current.id, time: decodedSpeed.itemStart, jumpCause: .repeat))
    case .all: return advance()
    }
  }

  private mutating func change(to mode: RepeatMode) {
    repeatMode = mode
    repeatLimit = nil
    if mode != .all { shuffle?.remaining = entries.count }
  }

  /// The counted repeats are over, or their item is not current any more.
  mutating func endRepeatLimit() {
    if let repeatLimit { change(to: repeatLimit.modeAfterwards) }
  }

  /// The current item begins to be heard anew.
  private mutating func countRepeat() {
    repeatCount += 1
    guard let limit = repeatLimit else { return }
    if limit.remaining > 1 { repeatLimit?.remaining = limit.remaining - 1 } else { endRepeatLimit() }
  }

  /// Loops a part of the current item from now on, while `time` of it is heard; nil: plays on. `count`: how many times
  /// it goes back; nil: for ever.
  mutating func setLoop(_ range: TimeRange?, count: Int?, heardAt time: MediaTime) -> [Action] {
    loop = nil
    loopHeardAt = time
    defer { loopHeardAt = nil }
    if let range, let current = entries.first {
      var loop = Loop(itemID: current.id, start: range.start, end: range.end, remaining: count, isArmed: false)
      loop.isArmed = !decodedSpeed.reaches(loop.turn(at: decodedSpeed), by: time)
      self.loop = loop
    }
    return reconcile()
  }

  /// Lets the present pass be the last, and the item end where the loop does.
  mutating func finishLoop() -> [Action] {
    loop?.endsItem = true
    loop?.remaining = nil
    return reconcile()
  }

  /// Where the current item is about to be heard from, when that is another place than where it is.
  var startUnderWay: Start? {
    if let start = preparedStart, start.spliceAfter == nil { return start }
    return uncommitted?.start ?? pendingStart
  }

  /// Playback of the item goes on from `time` at the rate that is wanted: answers where that pass ends.
  mutating func armLoop(at time: MediaTime, of id: ItemID) -> MediaTime? {
    guard let loop, loop.itemID == id else { return nil }
    let turn = loop.turn(at: speed)
    let isArmed = !speed.reaches(turn, by: time)
    self.loop?.isArmed = isArmed
    return isArmed ? turn : nil
  }

  // MARK: - What is wanted

  /// What is to be heard from the current pass on, at most `limit` passes. Where the current one begins is left open.
  func wantedPasses(_ limit: Int) -> [Pass] {
    guard let current = entries.first else { return [] }
    guard !hasPassedEnd else { return [Pass(itemID: current.id, isSilence: true)] }
    var passes = [whole(current)]
    if let loop = soundingLoop {
      let (entry, turn) = (loop.entry(at: decodedSpeed), loop.turn(at: decodedSpeed))
      passes[0].end = turn
      var remaining = loop.endsItem ? 0 : loop.remaining
      while remaining != 0 {
        guard passes.count < limit else { return passes }
        remaining = remaining.map { $0 - 1 }
        passes.append(
          Pass(itemID: current.id, start: entry, end: remaining == 0 ? current.end(at: decodedSpeed) : turn))
      }
    }
    appendFollowing(current, to: &passes, limit: limit)
    return passes
  }

  /// What follows the end of the current item. A repeat comes before the action at its end. Backwards nothing but the item
  /// itself follows its beginning: what comes next in the queue is heard forwards.
  private func appendFollowing(_ current: Entry, to passes: inout [Pass], limit: Int) {
    if stopsBehind(current) { return }
    var mode = repeatMode
    if current.isRepeatable, let repeatLimit {
      let room = Swift.max(0, limit - passes.count)
      passes += repeatElement(whole(current), count: min(repeatLimit.remaining, room))
      mode = repeatLimit.modeAfterwards
    }
    if mode == .one, current.isRepeatable {
      while passes.count < limit { passes.append(whole(current)) }
      return
    }
    if decodedSpeed.isReverse {
      if actionAtItemEnd == .none, passes.count < limit { passes.append(Pass(itemID: current.id, isSilence: true)) }
      return
    }
    switch mode {
    case .all:
      let ownCount = passes.count
      guard appendPlayable(restOfRound(), to: &passes, limit: limit, isFirst: true, where: { _ in true }) else {
        return
      }
      var (count, number, last) = (-1, UInt64(0), current.id)
      // A round that brings nothing is the last.
      while passes.count < limit, passes.count != count {
        count = passes.count
        number += 1
        last = passes.last?.itemID ?? last
        guard appendPlayable(round(number, after: last), to: &passes, limit: limit, where: \.isRepeatable) else {
          return
        }
      }
      if passes.count > ownCount { return }
    case .off, .one: break
    }
    switch actionAtItemEnd {
    case .advance: _ = appendPlayable(entries.suffix(from: 1), to: &passes, limit: limit, isFirst: true) { _ in true }
    case .pause: break
    case .none: if passes.count < limit { passes.append(Pass(itemID: current.id, isSilence: true)) }
    }
  }

  /// Whether playback stops at this entry because something is wrong with it.
  private func stopsBehind(_ entry: Entry) -> Bool {
    failurePolicy == .stop && (entry.hasBrokenOff || entry.status.error != nil)
  }

  /// Answers whether playback goes on behind them. `isFirst`: they become current for the first time from now on.
  private func appendPlayable(
    _ candidates: some Sequence<Entry>, to passes: inout [Pass], limit: Int, isFirst: Bool = false,
    where isWanted: (Entry) -> Bool
  ) -> Bool {
    for entry in candidates {
      guard passes.count < limit else { return true }
      if entry.status.error == nil, isWanted(entry) { passes.append(isFirst ? first(entry) : whole(entry)) }
      if stopsBehind(entry) { return false }
    }
    return true
  }

  // MARK: - The decode thread

  /// The decode thread went on to the next pass of its plan.
  mutating func began(_ pass: Pass, generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    decoded.append(
      Decoded(
        id: PassID(generation: generation, index: begunCount), pass: pass, isReverse: decodedSpeed.isReverse))
    begunCount += 1
    isLastEnded = false
    if plan.passes.first == pass { plan.passes.removeFirst() }
    plan.begunCount = begunCount
    plan.currentEnd = pass.end
    return reconcile()
  }

  /// All of a pass is in the stream. `end`: where it was to end; `isTooShort`: the whole item is; `hasBrokenOff`: it ended
  /// before that.
  mutating func ended(
    _ id: PassID, end: MediaTime?, isTooShort: Bool, hasBrokenOff: Bool = false
  ) -> [Action] {
    guard let index = decoded.firstIndex(where: { $0.id == id }) else { return [] }
    decoded[index].pass.end = end
    if index == decoded.count - 1 { isLastEnded = true }
    if isTooShort { entries[decoded[index].pass.itemID]?.isTooShort = true }
    entries[decoded[index].pass.itemID]?.hasBrokenOff = hasBrokenOff
    return reconcile()
  }

  /// The pass that is being decoded was beyond the end that the plan said, and goes on to the item's end.
  mutating func overran(_ id: PassID) -> [Action] {
    guard let last = decoded.indices.last, decoded[last].id == id else { return [] }
    decoded[last].pass.end = nil
    plan.currentEnd = nil
    isLastEnded = true
    let actions = reconcile()
    // Nothing had to be cut off: it is still being decoded.
    if decoding == .active, !isCut, decoded.last?.id == id { isLastEnded = false }
    return actions
  }

  // MARK: - The render side

  /// Whether a pass ends where the item's sound does, not before.
  func endsWithSound(_ id: PassID) -> Bool { decoded.first { $0.id == id }?.pass.end == nil }

  /// The end of a pass has been heard; `error` when it broke off there.
  mutating func endHeard(_ id: PassID, error: MediaError?) -> [Action] {
    guard let heard = decoded.first, heard.id == id, !hasPassedEnd, let current = entries.first,
      current.id == heard.pass.itemID
    else { return [] }
    // A seek within this item is about to be heard: it has not ended, after all.
    if let start = preparedStart, start.spliceAfter == nil { return [] }
    let next = passAfter(heard.pass)
    // What goes on from there, be it the other way, has not ended.
    let isContinuation = next.map { $0.continues(heard.pass) } ?? false
    var actions: [Action] = []
    if let error {
      if endedItem != current.id { actions.append(.emit(.failedToPlayToEnd(current.id, error))) }
    } else if !isContinuation, endsItem(heard.pass), endedItem != current.id {
      actions.append(.emit(.playedToEnd(current.id)))
    }
    endedItem = nil
    guard let next else {
      guard actionAtItemEnd == .advance, !decodedSpeed.isReverse, !stopsBehind(current) else {
        endedItem = current.id
        if let error, stopsBehind(current) { stop = Stop(itemID: current.id, error: error) }
        return actions + setRate(0)
      }
      leave(current)
      actions += endSeeks(.itemEnded)
      return actions + goOn(to: nil)
    }
    if next.itemID != current.id {
      leave(current)
      actions += endSeeks(.itemEnded)
    } else if next.isSilence {
      hasPassedEnd = true
    } else if isContinuation {
      // The loop stays as it is.
    } else if endsItem(heard.pass) {
      loop = nil
      countRepeat()
    } else {
      loop?.count += 1
      if let remaining = loop?.remaining {
        if remaining > 1 { loop?.remaining = remaining - 1 } else { loop = nil }
      }
    }
    if !next.isSilence, !isContinuation { actions.append(.emit(.seam(from: current.id, to: next.itemID))) }
    return actions + goOn(to: next)
  }

  /// What is heard behind a pass that has been heard to its end.
  private func passAfter(_ heard: Pass) -> Pass? {
    // A pass that was to end elsewhere goes on from there.
    let following = decoded.count > 1 ? decoded[1].pass : preparedStart?.pass ?? plan.passes.first
    if let following, following.itemID == heard.itemID, following.start == heard.end { return following }
    let wanted = wantedPasses(2)
    return wanted.count > 1 ? wanted[1] : nil
  }

  /// The first of `decoded` is over.
  private mutating func goOn(to next: Pass?) -> [Action] {
    decoded.removeFirst()
    let nextItem = next?.itemID ?? entries.first { $0.status.error == nil }?.id
    // The next item is still being opened.
    if decoded.isEmpty, isDry { isSounding = false }
    guard decoded.isEmpty, !isAboutToBegin(nextItem) else { return reconcile() }
    if case .preparing(var start) = decoding {
      start.spliceAfter = nil
      decoding = .preparing(start)
    } else {
      decoding = .idle
      isSounding = false
      if let next, next.start > .zero { pendingStart = Start(itemID: next.itemID, time: next.start) }
    }
    return reconcile()
  }

  /// Whether the decode thread has been told to go on with this item next.
  func isAboutToBegin(_ id: ItemID?) -> Bool { decoding == .active && id != nil && plan.passes.first?.itemID == id }

  // MARK: - Mending

  /// Whether the decode thread can still be told another end of this pass.
  private func isBeingDecoded(_ index: Int) -> Bool {
    index == decoded.count - 1 && !isLastEnded && !isCut && decoding == .active
  }

  /// Compares the passes that are decoded, or prepared to follow, with those that are wanted.
  mutating func reconcileFollowing() -> [Action] {
    prepareRound()
    let prepared = preparedStart?.pass
    var coming = wantedPasses(min(Self.passLimit, decoded.count + Self.planLength))[...]
    // What is turned round begins behind what is heard of it the other way.
    let isTurned = decoded[0].isReverse != decodedSpeed.isReverse && (decoded.count > 1 || prepared != nil)
    let first = isTurned ? 1 : 0
    coming[0].start = first < decoded.count ? decoded[first].pass.start : prepared?.start ?? coming[0].start
    // What begins behind its end is at its end.
    if let end = coming[0].end, decodedSpeed.reaches(end, by: coming[0].start) { coming[0].end = coming[0].start }
    for index in first..<decoded.count + (prepared == nil ? 0 : 1) {
      let actual = index < decoded.count ? decoded[index].pass : prepared
      guard let actual, let wanted = coming.first, wanted.begins(like: actual) else {
        return divert(after: index - 1, to: coming.first)
      }
      if actual.end != wanted.end {
        if index == decoded.count { return divert(after: index - 1, to: wanted) }
        if isBeingDecoded(index) {
          decoded[index].pass.end = wanted.end
        } else if actual.ends(before: wanted, at: decodedSpeed) {
          // The rest of it is to follow.
          coming[coming.startIndex].start = actual.end ?? wanted.start
          continue
        } else {
          return shorten(index, to: wanted.end ?? wanted.start, next: coming.dropFirst().first)
        }
      }
      coming.removeFirst()
    }
    if prepared != nil { return [] }
    if isCut {
      guard let next = coming.first, let last = decoded.last else { return [] }
      return start(Start(next, spliceAfter: last.id))
    }
    return tell(
      Plan(begunCount: begunCount, currentEnd: isLastEnded ? nil : decoded.last?.pass.end, passes: Array(coming)))
  }

  private mutating func tell(_ next: Plan) -> [Action] {
    // A shorter look-ahead than it could be is good enough until much of it is used up.
    let isLongEnough =
      plan.passes.count == next.passes.count || plan.passes.count >= max(16, next.passes.count / 2)
    guard !isLongEnough || next.currentEnd != plan.currentEnd || !next.passes.starts(with: plan.passes) else {
      return []
    }
    plan = next
    return [.setPlan(next)]
  }

  /// What was decoded or prepared to follow `decoded[index]` is not wanted, but `next`.
  private mutating func divert(after index: Int, to next: Pass?) -> [Action] {
    guard decoded.indices.contains(index) else { return entries.first.map { replaceCurrent(with: $0.id) } ?? [] }
    var actions: [Action] = []
    if index < decoded.count - 1 {
      decoded.removeLast(decoded.count - index - 1)
      actions.append(.truncate(after: decoded[index].id))
    }
    return actions + follow(decoded[index].id, with: next)
  }

  /// `decoded[index]` has been decoded beyond `end`, where it is to end; `next` is wanted then.
  private mutating func shorten(_ index: Int, to end: MediaTime, next: Pass?) -> [Action] {
    decoded.removeLast(decoded.count - index - 1)
    let cut = next.flatMap { filteredEnd(of: decoded[index].pass, to: end, next: $0) }
    decoded[index].pass.end = cut ?? end
    let rest = cut.map { Pass(itemID: decoded[index].pass.itemID, start: $0, end: end) }
    return [.shorten(decoded[index].id, at: cut ?? end)] + follow(decoded[index].id, with: rest ?? next)
  }

  /// Where a pass is left so that its end, in which what follows has a part, is decoded anew together with that: where a loop goes
  /// back, in good time. nil: nothing has a part in it, or it is about to be heard.
  private func filteredEnd(of pass: Pass, to end: MediaTime, next: Pass) -> MediaTime? {
    guard next.itemID == pass.itemID, !next.isSilence, decodedSpeed == .normal, let heard = loopHeardAt,
      let reach = entries[pass.itemID]?.filterReach, reach > .zero
    else { return nil }
    let cut = end - reach
    return cut > pass.start && cut - heard >= Self.timeToDecodeAnew ? cut : nil
  }

  /// How much of a pass of the item hangs on what follows it.
  mutating func setFilterReach(_ reach: MediaTime, of id: ItemID) { entries[id]?.filterReach = reach }

  private mutating func follow(_ id: PassID, with next: Pass?) -> [Action] {
    isLastEnded = true
    // The stream is there to its end now, wherever samples ran out: nobody says any more that they have come.
    endStarvation()
    if let next { return start(Start(next, spliceAfter: id)) }
    decoding = .active
    return cut()
  }

  /// The decode thread is to leave the present stream alone: what it added would come after the cut.
  private mutating func cut() -> [Action] {
    generation += 1
    isCut = true
    plan = Plan()
    return [.setPlan(plan)]
  }
}

extension PlayerStateMachine.Entry {
  /// Whether it may be played again when it has ended.
  var isRepeatable: Bool { !isTooShort && status.error == nil }
}

extension PlayerStateMachine.Start {
  /// A pass that follows another in a stream of its own.
  init(_ pass: Pass, spliceAfter: PassID) {
    self.init(
      itemID: pass.itemID, time: pass.start, spliceAfter: spliceAfter, end: pass.end, isSilence: pass.isSilence)
  }
}
