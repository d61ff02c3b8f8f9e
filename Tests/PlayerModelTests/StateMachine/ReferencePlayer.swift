import PlayheadMediaCore

@testable import PlayheadPlayerModel

/// A simple model of a player, against which `PlayerStateMachine` is compared: an array of items, flags, and the rules
/// of playback. It knows neither passes nor generations. The rules that depend on decoded audio get it as `Audio`.
struct ReferencePlayer {
  typealias ID = PlayerItemID

  /// The state of an item.
  struct Item {
    var isOpen = false
    var hasDuration = true
    var hasFailed = false
    /// Whether decoding failed before the end in the last pass.
    var isDamaged = false
    var isTooShort = false

    var isRepeatable: Bool { !isTooShort && !hasFailed }

    /// Whether a range that ends at `end` fits into the item.
    func isLonger(than end: MediaTime?) -> Bool { end.map { $0 <= MediaTime(value: 100, timescale: 1) } ?? false }
  }

  /// The repeats that remain, and the mode after them.
  struct Repeats {
    var itemID: ID
    var remaining: Int
    var modeAfterwards: RepeatMode
  }

  /// A loop in the current item.
  struct Loop {
    var itemID: ID
    var start: MediaTime
    var end: MediaTime
    /// The number of remaining returns; nil: unlimited.
    var remaining: Int?
    /// Whether playback has been before the loop point, so that it returns there.
    var isArmed: Bool
    var isFinishing = false

    func loopPoint(isReverse: Bool) -> MediaTime { isReverse ? start : end }
  }

  struct Seek: Equatable {
    var token: UInt64
    var itemID: ID
    var needsDuration: Bool
  }

  /// The audio of the player outside the machine.
  struct Audio {
    /// The items of the passes that are decoded and not heard. The last one may be incomplete.
    var items: [ID] = []
    var isLastComplete = false
    /// The item of the request in preparation.
    var requested: ID?
    /// Whether that audio replaces the decoded audio.
    var isReplacement = false
    /// Whether that audio continues a pass at another rate.
    var isContinuation = false
    /// The item that the decode thread begins next.
    var planned: ID?
    var isReverse = false
    /// Whether the audio has another rate than the player.
    var hasOldRate = false

    /// The item whose audio is heard first.
    var firstItem: ID? { (isReplacement ? requested : items.first) ?? planned }
  }

  /// A part of the order of playback.
  enum Step: Equatable {
    case item(ID)
    case silence(ID)

    var id: ID {
      switch self {
      case .item(let id), .silence(let id): id
      }
    }
  }

  // MARK: - State

  var queue: [ID] = []
  var history: [ID] = []
  var items: [ID: Item] = [:]
  var rate = 0.0
  var action = ActionAtItemEnd.advance
  var policy = ItemFailurePolicy.skip
  var repeatMode = RepeatMode.off
  var repeats: Repeats?
  var loop: Loop?
  /// The item of the range that is played, and the time at which it ends.
  var range: (itemID: ID, end: MediaTime)?
  var output = PlayerStateMachine.OutputStatus.unavailable
  var sessionReason: WaitingReason?
  var waitsForStart = false
  var waitsAutomatically = true
  var seek: Seek?
  var nextSeek: Seek?
  /// Whether audio is rendered, samples are withheld after an underrun, and all samples were rendered.
  var (isRendering, isWithheld, isDrained) = (false, false, false)
  var pendingStall: ID?
  /// Whether the current item's end has been passed in silence.
  var isPastEnd = false
  /// The item at whose end the player is paused.
  var endedItem: ID?
  /// The item whose failure paused the player.
  var failedStop: ID?
  /// Whether the audio still ends with a range that has ended.
  var isOrderLate = false
  /// The events and completions of an input.
  var events: [PlayerStateMachine.Action] = []

  static let error = MediaError(.damagedFile, "random failure")

  var current: ID? { queue.first }

  private func failed(_ id: ID) -> Bool { items[id]?.hasFailed ?? false }

  private func isRepeatable(_ id: ID) -> Bool { items[id]?.isRepeatable ?? true }

  // MARK: - Observed state

  var status: TimeControlStatus {
    guard rate != 0 else { return .paused }
    return isRendering && !waitsForStart && output != .stalled && sessionReason == nil ? .playing : .waiting
  }

  var reason: WaitingReason? {
    guard status == .waiting else { return nil }
    guard let current else { return .noItemToPlay }
    if failed(current) { return .currentItemFailed }
    if output != .ready { return .outputUnavailable }
    if let sessionReason { return sessionReason }
    if waitsForStart { return .startTimeNotReached }
    return isWithheld ? .toMinimizeStalls : .evaluatingBufferingRate
  }

  var hasError: Bool { reason == .currentItemFailed || rate == 0 && failedStop != nil && failedStop == current }

  /// Whether no samples of the current item are known to be in the mixer.
  func isBufferEmpty(_ audio: Audio) -> Bool { isDrained || current == nil || audio.items.first != current }

  // MARK: - The order of playback

  private func stops(after id: ID) -> Bool {
    policy == .stop && (failed(id) || items[id]?.isDamaged == true)
  }

  /// Returns the order of playback from the current item on.
  func upcoming(_ limit: Int, isReverse: Bool) -> [Step] {
    guard let current else { return [] }
    if isPastEnd { return [.silence(current)] }
    var steps = [Step.item(current)]
    if range != nil { return steps }
    if let loop, loop.isArmed, !loop.isFinishing {
      let count = loop.remaining ?? limit
      steps += Array(repeating: .item(current), count: min(count, limit))
      if steps.count >= limit { return steps }
    }
    if stops(after: current) { return steps }
    var mode = repeatMode
    if let repeats, isRepeatable(current) {
      steps += Array(repeating: .item(current), count: min(repeats.remaining, limit))
      mode = repeats.modeAfterwards
    }
    if mode == .one, isRepeatable(current) {
      while steps.count < limit { steps.append(.item(current)) }
    }
    guard steps.count < limit else { return steps }
    if isReverse { return action == .none ? steps + [.silence(current)] : steps }
    if mode == .all {
      let former = steps.count
      for id in queue.dropFirst() {
        if !failed(id) { steps.append(.item(id)) }
        if stops(after: id) { return steps }
      }
      var count = -1
      while steps.count < limit, steps.count != count {
        count = steps.count
        for id in queue {
          if isRepeatable(id) { steps.append(.item(id)) }
          if stops(after: id) { return steps }
        }
      }
      if steps.count > former { return steps }
    }
    switch action {
    case .pause: return steps
    case .none: return steps + [.silence(current)]
    case .advance, .stop:
      for id in queue.dropFirst() {
        if !failed(id) { steps.append(.item(id)) }
        if stops(after: id) { break }
      }
      return steps
    }
  }

  // MARK: - Consequences

  /// Makes the state consistent after an input. `audio` is the audio before it.
  mutating func settle(_ audio: Audio) {
    isOrderLate = false
    while rate != 0, let id = current, failed(id) {
      if policy == .stop || policy == .skip && action == .stop && queue.count == 1 {
        failedStop = id
        pause()
        break
      }
      if queue.count == 1 || policy == .retry && queue.allSatisfy(failed) { break }
      queue.removeFirst()
      if policy == .retry { queue.append(id) }
      events.append(.emit(.itemSkipped(id, Self.error)))
    }
    if let range, range.itemID != current { endRange(.itemChanged) }
    if let loop, loop.itemID != current { self.loop = nil }
    if let repeats, repeats.itemID != current { endRepeats() }
    if let current, failed(current) { endRange(.itemFailed) }
    if let seek, seek.itemID != current { endSeeks(.itemChanged) }
    guard let current, !failed(current) else { return dropAudio() }
    if audio.firstItem == nil { isPastEnd = isPastEnd && endedItem == current }
    if let first = audio.firstItem, first != current { dropAudio() }
  }

  private mutating func endRepeats() {
    if let repeats { repeatMode = repeats.modeAfterwards }
    repeats = nil
  }

  private mutating func dropAudio() {
    stopAudio()
    (isPastEnd, endedItem) = (false, nil)
  }

  private mutating func stopAudio() { (isRendering, isWithheld, pendingStall) = (false, false, nil) }

  mutating func endSeeks(_ reason: SeekResult.UnfinishedReason) {
    for ended in [seek, nextSeek].compactMap(\.self) { events.append(.completeSeek(ended.token, .unfinished(reason))) }
    (seek, nextSeek) = (nil, nil)
  }

  private mutating func endRange(_ outcome: RangeOutcome) {
    if range != nil { events.append(.completeRange(outcome)) }
    range = nil
  }

  mutating func pause() {
    rate = 0
    stopAudio()
  }

  private mutating func release() {
    if isWithheld { (isWithheld, pendingStall, isRendering) = (false, nil, true) }
  }

  /// The current item leaves after it was played.
  private mutating func leave() {
    guard let id = current else { return }
    if !failed(id) { history.append(id) }
    queue.removeFirst()
    if repeatMode == .all, isRepeatable(id) { queue.append(id) }
  }

  // MARK: - Requests

  mutating func play(
    at newRate: Double, isBufferEmpty: Bool, immediately: Bool, _ before: Audio, _ after: Audio
  ) {
    let isEmpty = isBufferEmpty && current != nil && !isPastEnd
    if isEmpty, immediately, !waitsAutomatically { return pause() }
    let startsEmpty = isEmpty && rate == 0 && before.requested == nil && !before.items.isEmpty
    if !isEmpty, immediately { release() }
    let wasPaused = rate == 0
    failedStop = nil
    rate = newRate
    if wasPaused {
      advancePastFailure(before)
      settle(before)
      if !after.hasOldRate, after.requested == nil, !after.items.isEmpty { isRendering = true }
    }
    if startsEmpty { (isRendering, isWithheld, isDrained, pendingStall) = (false, waitsAutomatically, true, nil) }
  }

  private mutating func advancePastFailure(_ audio: Audio) {
    guard policy == .stop, queue.count > 1, let id = current else { return }
    if failed(id) {
      queue.removeFirst()
      events.append(.emit(.itemSkipped(id, Self.error)))
    } else if items[id]?.isDamaged == true, endedItem == id, action.advances, !audio.items.isEmpty {
      items[id]?.isDamaged = false
      leave()
      endSeeks(.itemEnded)
    }
  }

  mutating func requestSeek(_ new: Seek, _ mode: SeekMode, rangeEnd: MediaTime?) {
    let isLate = mode == .chase && seek != nil
    isOrderLate = isLate && (isOrderLate || range != nil)
    endRange(.replaced)
    range = rangeEnd.map { (new.itemID, $0) }
    if isLate {
      if let nextSeek { events.append(.completeSeek(nextSeek.token, .unfinished(.superseded))) }
      nextSeek = new
    } else {
      endSeeks(.superseded)
      seek = new
      beginSeek()
    }
  }

  private mutating func beginSeek() {
    guard let begun = seek, begun.needsDuration, let item = current.flatMap({ items[$0] }), item.isOpen,
      !item.hasDuration
    else { return }
    events.append(.completeSeek(begun.token, .unfinished(.durationUnknown)))
    (seek, nextSeek) = (nextSeek, nil)
    beginSeek()
  }

  mutating func setAction(_ newAction: ActionAtItemEnd, _ audio: Audio, isReturning: Bool) {
    action = newAction
    guard isPastEnd, let current, !isReturning else { return settle(audio) }
    switch action {
    case .none: break
    case .advance where !audio.isReverse, .stop where !audio.isReverse:
      leave()
      settle(audio)
      if action == .stop, queue.isEmpty { pause() }
    case .pause, .advance, .stop:
      endedItem = current
      pause()
    }
  }

  mutating func setRepeat(_ mode: RepeatMode, count: Int?, modeAfterwards: RepeatMode, _ audio: Audio) {
    (repeatMode, repeats) = (mode, nil)
    if mode == .one, let count, let current {
      repeats = Repeats(itemID: current, remaining: count, modeAfterwards: modeAfterwards)
    }
    guard isPastEnd, current != nil else { return settle(audio) }
    if mode == .one { endSeeks(.itemEnded) }
    if mode == .all { advance(audio) }
  }

  mutating func advance(_ audio: Audio) {
    guard let id = current else { return }
    if queue.count == 1, repeatMode == .all, isRepeatable(id) {
      endSeeks(.itemEnded)
      return endRange(.replaced)
    }
    if policy == .retry, repeatMode == .all, failed(id) {
      queue.append(queue.removeFirst())
    } else {
      leave()
    }
    settle(audio)
  }

  mutating func jump(to id: ID, _ audio: Audio) {
    guard let index = queue.firstIndex(of: id) else { return }
    if index == 0, !failed(id) {
      endSeeks(.superseded)
      return endRange(.replaced)
    }
    history += queue[..<index].filter { !failed($0) }
    queue = Array(queue[index...]) + (repeatMode == .all ? queue[..<index] : [])
    settle(audio)
  }

  mutating func goBack(_ audio: Audio) {
    let id = history.removeLast()
    queue.removeAll { $0 == id }
    queue.insert(id, at: 0)
    settle(audio)
  }

  mutating func setWaitsAutomatically(_ waits: Bool) {
    waitsAutomatically = waits
    if !waits { release() }
  }

  // MARK: - Items

  mutating func loaded(_ id: ID, hasDuration: Bool) {
    let wasOpen = items[id]?.isOpen ?? false
    items[id]?.isOpen = true
    items[id]?.hasDuration = hasDuration
    if !wasOpen, id == current { beginSeek() }
  }

  mutating func failed(_ id: ID, _ audio: Audio) {
    items[id]?.hasFailed = true
    events.append(.emit(.itemFailed(id, Self.error)))
    if id == current { endSeeks(.itemFailed) }
    settle(audio)
  }

  mutating func retry(_ ids: [ID], _ audio: Audio) {
    for id in ids {
      items[id]?.hasFailed = false
      items[id]?.isOpen = false
    }
    settle(audio)
  }

  // MARK: - Output and audio

  mutating func outputLost() {
    output = .unavailable
    if isPastEnd { endedItem = current }
    stopAudio()
    endSeeks(.outputLost)
  }

  /// Another stream is requested, from `time`: it has no underrun yet.
  mutating func replacementRequested(from time: MediaTime, isReverse: Bool) {
    (isWithheld, pendingStall, isDrained) = (false, nil, false)
    armLoop(at: time, isReverse: isReverse)
  }

  /// Playback returns at the loop point if it begins before it.
  mutating func armLoop(at time: MediaTime, isReverse: Bool) {
    guard let loop else { return }
    self.loop?.isArmed = isReverse ? time > loop.start : time < loop.end
  }

  /// The stream has all its samples.
  mutating func streamCompleted() {
    isDrained = false
    release()
  }

  mutating func prepared(replaces: Bool, isSilence: Bool, isNewPass: Bool) {
    isOrderLate = false
    if !isWithheld { pendingStall = nil }
    guard replaces else { return }
    isPastEnd = isSilence
    if isNewPass { endedItem = nil }
  }

  mutating func committed(_ token: UInt64?) {
    guard let token, seek?.token == token else { return }
    events.append(.completeSeek(token, .finished))
    (seek, nextSeek) = (nextSeek, nil)
    beginSeek()
  }

  mutating func audioStarted() {
    if !isWithheld { (isRendering, isDrained, waitsForStart) = (rate != 0, false, false) }
  }

  mutating func underrun(_ audio: Audio) {
    guard rate != 0, !isWithheld else { return }
    if audio.isContinuation {
      pendingStall = audio.requested
    } else if audio.requested == nil, audio.firstItem != nil {
      isDrained = true
      guard let last = audio.items.last, !audio.isLastComplete, isRendering || waitsAutomatically else { return }
      (isWithheld, pendingStall) = (true, last)
    }
  }

  mutating func stallHeard(_ audio: Audio) {
    defer { pendingStall = nil }
    guard let id = pendingStall, isWithheld || audio.isContinuation else { return }
    isRendering = false
    events.append(.emit(.stalled(id)))
    if !waitsAutomatically { pause() }
  }

  /// The end of a pass of the current item is heard: at `end`, or at the end of the item if that is nil.
  mutating func endHeard(at end: MediaTime?, continues: Bool, hasError: Bool, mayRetry: Bool, _ audio: Audio) {
    guard let id = current else { return }
    let steps = upcoming(2, isReverse: audio.isReverse)
    let next = continues ? .item(id) : steps.count > 1 ? steps[1] : nil
    let isLoopEnd = loop?.isArmed == true && loop?.isFinishing == true
    let isItemEnd = end == nil || isLoopEnd && end == loop?.loopPoint(isReverse: audio.isReverse)
    if endedItem != id, isItemEnd && !continues || hasError {
      events.append(.emit(hasError ? .failedToPlayToEnd(id, Self.error) : .playedToEnd(id)))
    }
    endedItem = nil
    if range != nil, !continues {
      if hasError || isItemEnd { (endedItem, isOrderLate) = (id, true) }
      let isWhole = !isItemEnd || !audio.isReverse && items[id]?.isLonger(than: range?.end) == true
      endRange(hasError ? .itemFailed : isWhole ? .finished : .itemEnded)
      return pause()
    }
    if hasError, mayRetry, policy == .retry, !audio.isReverse {
      items[id]?.hasFailed = true
      events.append(.emit(.failedWhilePlaying(id, Self.error)))
      endSeeks(.itemFailed)
      guard let next, next.id != id else {
        dropAudio()
        return settle(Audio())
      }
      queue.append(queue.removeFirst())
      events.append(.emit(.transition(from: id, to: next.id)))
      return audioContinues(with: next.id, audio)
    }
    switch next {
    case .item where continues: break
    case .silence: isPastEnd = true
    case .item(id) where !isItemEnd:
      if let remaining = loop?.remaining { loop?.remaining = remaining - 1 }
      if loop?.remaining == 0 { loop = nil }
      events.append(.emit(.transition(from: id, to: id)))
    case .item(id):
      loop = nil
      if var counted = repeats {
        counted.remaining -= 1
        repeats = counted
        if counted.remaining == 0 { endRepeats() }
      }
      events.append(.emit(.transition(from: id, to: id)))
    case .item(let other):
      leave()
      endSeeks(.itemEnded)
      events.append(.emit(.transition(from: id, to: other)))
    case nil where action.advances && !audio.isReverse && !stops(after: id):
      leave()
      endSeeks(.itemEnded)
      audioContinues(with: queue.first { !failed($0) }, audio)
      if action == .stop, queue.isEmpty { pause() }
      return
    case nil:
      endedItem = id
      if hasError, stops(after: id) { failedStop = id }
      return pause()
    }
    audioContinues(with: next?.id, audio)
  }

  /// The first pass was heard, and one of the item follows.
  private mutating func audioContinues(with next: ID?, _ audio: Audio) {
    var rest = audio
    rest.items.removeFirst()
    if rest.items.isEmpty {
      rest.isReplacement = rest.requested != nil
      let isNextComing = rest.requested != nil || rest.planned != nil && rest.planned == next
      if isDrained { isRendering = false }
      if !isNextComing {
        stopAudio()
        rest.planned = nil
      }
    }
    settle(rest)
  }
}
