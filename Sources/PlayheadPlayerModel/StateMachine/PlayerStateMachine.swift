import DequeModule
import PlayheadMediaCore

/// The logic of a player. It composes the values of its state, which change through their own inputs only:
///
/// - `queue`: the entries, their order and the history
/// - `intent`: the requests that are in effect, such as the rate and the action at the end of an item
/// - `progress`: the requested and the decoded audio
/// - `buffering`: whether audio is rendered, and underruns
/// - `heardEnd`: the end of the current item, when it has been heard
/// - `seeks`: the pending seeks
///
/// Pure: each input is a method that changes the state, and returns the actions that `PlayerCore` runs in order. No
/// I/O, no clock.
package struct PlayerStateMachine {
  package typealias ItemID = PlayerItemID
  package typealias SeekToken = SeekQueue.Token

  // MARK: - State

  package internal(set) var queue = QueueModel()
  package internal(set) var intent: PlaybackIntent
  package internal(set) var progress = DecodeProgress()
  package internal(set) var buffering = Buffering()
  package internal(set) var heardEnd = HeardEnd()
  /// The pending seeks, all in the current item.
  package internal(set) var seeks = SeekQueue()
  private(set) var output = OutputStatus.unavailable
  package let canAdvance: Bool

  /// - Parameter canAdvance: True for a player with a queue (`QueuePlayer`), false for a player with one item
  ///   (`Player`).
  package init(canAdvance: Bool) {
    self.canAdvance = canAdvance
    intent = PlaybackIntent(actionAtItemEnd: canAdvance ? .advance : .pause)
  }

  // MARK: - Derived state

  package var entries: QueueEntries { queue.entries }
  package var repeatMode: RepeatMode { queue.repeatMode }
  package var rate: Double { intent.rate }
  package var targetRate: PlaybackRate { intent.targetRate }
  package var actionAtItemEnd: ActionAtItemEnd { intent.actionAtItemEnd }
  package var failurePolicy: ItemFailurePolicy { intent.failurePolicy }
  package var automaticallyWaits: Bool { intent.automaticallyWaits }
  package var loop: Loop? { intent.loop }
  package var generation: UInt64 { progress.generation }
  package var decodedRate: PlaybackRate { progress.decodedRate }
  package var decodedPasses: Deque<DecodedPass> { progress.passes }
  package var plan: Plan { progress.plan }
  package var requestInPreparation: DecodeRequest? { progress.requestInPreparation }
  package var pendingRequest: DecodeRequest? { progress.pendingRequest }
  package var begunCount: Int { progress.begunCount }
  package var isRebuffering: Bool { buffering.isRebuffering }
  package var hasPassedEnd: Bool { heardEnd.isPassed }
  package var endedItemID: ItemID? { heardEnd.reportedItemID }

  package var timeControlStatus: TimeControlStatus {
    if rate == 0 { return .paused }
    let isPlaying =
      buffering.isRendering && !intent.isWaitingForStartTime && output != .stalled
      && intent.sessionWaitingReason == nil
    return isPlaying ? .playing : .waiting
  }

  package var reasonForWaitingToPlay: WaitingReason? {
    guard timeControlStatus == .waiting else { return nil }
    guard let current = entries.first else { return .noItemToPlay }
    if case .failed = current.status { return .currentItemFailed }
    if output != .ready { return .outputUnavailable }
    if let reason = intent.sessionWaitingReason { return reason }
    if intent.isWaitingForStartTime { return .startTimeNotReached }
    return buffering.isRebuffering ? .toMinimizeStalls : .evaluatingBufferingRate
  }

  /// The error that stops playback: the current item could not be opened, or could not be decoded to its end.
  package var error: MediaError? {
    if reasonForWaitingToPlay == .currentItemFailed { return entries.first?.status.error }
    guard let failure = intent.failureStop, failure.itemID == entries.first?.id else { return nil }
    return failure.error
  }

  /// Whether the mixer should render the player's audio.
  package var isRunning: Bool { rate != 0 && intent.sessionWaitingReason == nil }

  /// Whether the player is paused after the current item's end was heard, in either direction.
  package var hasItemEnded: Bool {
    guard rate == 0, let id = heardEnd.reportedItemID else { return false }
    return id == entries.first?.id && pendingRequest == nil
  }

  /// Whether virtual time may advance, because no preparation is pending.
  package var isSettled: Bool {
    guard let current = entries.first, current.status.error == nil, output != .unavailable, !intent.isOpeningDeferred
    else { return true }
    return progress.isActive
  }

  /// The number of entries, including the current one, that are opened ahead of time.
  package static let lookAheadCount = 8

  /// Entries to open: the current one and the next ones, while their status is unknown.
  package var itemsToLoad: [ItemID] {
    intent.isOpeningDeferred ? [] : entries.prefix(Self.lookAheadCount).filter { $0.status == .unknown }.map(\.id)
  }

  /// Failed entries to open again: the current one and the next ones, while the player plays.
  package var itemsToRetry: [ItemID] {
    guard failurePolicy == .retry, rate != 0, !intent.isOpeningDeferred else { return [] }
    return entries.prefix(Self.lookAheadCount).filter { $0.status.error != nil }.map(\.id)
  }

  package func entry(_ id: ItemID) -> Entry? { entries[id] }

  // MARK: - Requests

  /// Plays at a rate, or pauses at 0. Until `changeDecodedRate` or `splitForRateChange`, audio that was decoded at
  /// another rate continues in a playing player, and is not heard in a paused one.
  package mutating func setRate(_ newRate: Double) -> [Action] {
    guard newRate != 0 else { return pause() }
    let wasPaused = rate == 0
    intent.play(at: PlaybackRate(newRate) ?? targetRate)
    guard wasPaused else { return [] }
    let actions = advancePastFailure() + reconcile()
    // Audio decoded at another rate is decoded again before it is heard (`changeDecodedRate`).
    guard !needsRateChange else { return actions }
    // Decoded audio is heard at once.
    if progress.isActive, !decodedPasses.isEmpty { buffering.playDecoded() }
    return actions + (progress.hasStream ? [.setRunning(true)] : [])
  }

  /// Pauses, because of a failure if there is one.
  mutating func pause(after failure: FailureStop? = nil) -> [Action] {
    let wasPaused = rate == 0
    intent.pause(after: failure)
    buffering.pause()
    return wasPaused ? [] : [.setRunning(false)]
  }

  /// Sets the action at the end of an item. Applies it at once if the current item's end has been heard.
  package mutating func setActionAtItemEnd(_ action: ActionAtItemEnd) -> [Action] {
    intent.setActionAtItemEnd(action)
    guard heardEnd.isPassed, let current = entries.first else { return reconcile() }
    // A seek back into the item is in preparation: silence after its end is not continued.
    if let requestInPreparation, !requestInPreparation.isSilence { return reconcile() }
    switch action {
    case .none: return []
    case .pause,
      .advance where decodedRate.isReverse,
      .stop where decodedRate.isReverse:
      // Seek back to the item's end: the silence after it is not continued.
      heardEnd.report(current.id)
      return pause()
        + decode(DecodeRequest(itemID: current.id, time: current.endTime(at: decodedRate), jumpCause: .endAction))
    case .advance, .stop:
      queue.leave(current)
      return reconcile() + stopAfterLastItem()
    }
  }

  // MARK: - Seeking

  /// Seeks in the current item, which has not failed. A target that depends on the duration is deferred until the
  /// duration is known. With `newRangeEnd`, playback pauses at that time; any other seek removes the range.
  package mutating func seek(
    _ token: SeekToken, to target: UnresolvedSeekTarget, before: MediaTime = .zero, after: MediaTime = .zero,
    mode: SeekMode = .replace, jumpCause: TimeJumpCause = .seek, rangeEnd newRangeEnd: MediaTime? = nil
  ) -> [Action] {
    guard let current = entries.first, current.status.error == nil else {
      return [.completeSeek(token, .unfinished(.itemChanged))]
    }
    let request = SeekQueue.Request(
      token: token, itemID: current.id, target: target, toleranceBefore: before, toleranceAfter: after,
      jumpCause: jumpCause)
    let (superseded, startsNow) = seeks.add(request, mode: mode)
    let ended = endRange(.replaced)
    intent.setRangeEnd(newRangeEnd.map { RangeEnd(itemID: current.id, time: $0) })
    return ended + superseded.map { .completeSeek($0, .unfinished(.superseded)) } + (startsNow ? performSeek() : [])
  }

  /// Completes the pending seeks as unfinished. Their prepared audio is still heard.
  package mutating func cancelSeeks() -> [Action] { endSeeks(.cancelled) }

  /// Completes all pending seeks as unfinished.
  mutating func endSeeks(_ reason: SeekResult.UnfinishedReason) -> [Action] {
    seeks.removeAll().map { .completeSeek($0, .unfinished(reason)) }
  }

  /// Performs the current seek, if its target is known.
  private mutating func performSeek() -> [Action] {
    guard let seek = seeks.current, let entry = entry(seek.itemID) else { return [] }
    if let next = decodeRequest(for: seek, in: entry) { return decode(next) }
    guard entry.status != .unknown, seeks.complete(seek.token) else { return [] }
    return [.completeSeek(seek.token, .unfinished(.durationUnknown))] + performSeek()
  }

  /// Returns the decode request for a seek; nil while its target depends on an unknown duration.
  private func decodeRequest(for seek: SeekQueue.Request, in entry: Entry) -> DecodeRequest? {
    guard let time = try? seek.target.time(duration: entry.duration) else { return nil }
    return DecodeRequest(
      itemID: seek.itemID, time: time.clamped(to: entry.latestTime), toleranceBefore: seek.toleranceBefore,
      toleranceAfter: seek.toleranceAfter, seek: seek.token, jumpCause: seek.jumpCause)
  }

  // MARK: - Items

  /// Handles an item that has become ready to play, or a better value of its duration.
  package mutating func itemLoaded(_ id: ItemID, duration: MediaTime, isPrecise: Bool = true) -> [Action] {
    guard var entry = entries[id], entry.status.error == nil else { return [] }
    let wasUnknown = entry.status == .unknown
    let wasRetried = entry.isRetried
    entry.isRetried = false
    entry.status = .readyToPlay
    entry.duration = duration
    entry.isDurationPrecise = isPrecise
    queue.update(id) { $0 = entry }
    // The start of the item waits for its duration, or until it is open.
    let actions = wasUnknown && (entry.resumeTime != nil || wasRetried) ? reconcile() : []
    guard wasUnknown, let seek = seeks.current, seek.itemID == id, seek.target.needsDuration else { return actions }
    return actions + performSeek()
  }

  /// Handles an item that cannot be opened or decoded.
  package mutating func itemFailed(_ id: ItemID, _ error: MediaError) -> [Action] {
    guard let entry = entries[id], entry.status.error == nil else { return [] }
    queue.update(id) { entry in
      entry.status = .failed(error)
      entry.isRetried = false
    }
    let isCurrent = entries.first?.id == id
    return [.emit(.itemFailed(id, error))] + (isCurrent ? endSeeks(.itemFailed) : []) + reconcile()
  }

  /// The decoded audio of item `id` is outdated, or that of all items if it is nil: decodes it again from `time`, the
  /// position heard in the current item.
  package mutating func redecode(_ id: ItemID?, from time: MediaTime) -> [Action] {
    guard let current = entries.first else { return [] }
    // An unfinished request, also of a seek, is decoded again from its own position.
    if let request = progress.unheardRequest { return decode(request) }
    guard progress.hasStream, !heardEnd.isReached, progress.includes(id) else { return [] }
    return decode(DecodeRequest(itemID: current.id, time: time, isContinuation: true))
  }

  // MARK: - The decode thread

  /// Handles a generation whose first samples are decoded.
  package mutating func prepared(generation: UInt64) -> [Action] {
    guard let request = progress.prepared(generation: generation) else { return [] }
    buffering.streamPrepared()
    if let pass = request.spliceAfter { return [.splice(generation: generation, after: pass)] + reconcile() }
    heardEnd.streamPrepared(request)
    return [.commit(generation: generation)] + reconcile()
  }

  // MARK: - Mixer

  /// Handles the switch of the mixer to a committed generation.
  package mutating func committed(generation: UInt64) -> [Action] {
    guard let token = progress.committed(generation: generation)?.seek, seeks.complete(token) else { return [] }
    return [.completeSeek(token, .finished)] + performSeek()
  }

  // MARK: - The output

  /// Handles an available device: playback resumes at the position where it was interrupted.
  package mutating func outputBecameReady() -> [Action] {
    output = .ready
    return reconcile()
  }

  /// Handles a device that stops accepting audio, or accepts it again. No audio was lost.
  package mutating func outputStalled(_ isStalled: Bool) -> [Action] {
    if output != .unavailable { output = isStalled ? .stalled : .ready }
    return []
  }

  /// Handles the loss of the device while `time` of the current item was heard. Pending seeks complete as unfinished.
  /// Playback will resume at the target of the newest seek, or else at the interrupted position.
  package mutating func outputWasLost(at time: MediaTime?) -> [Action] {
    output = .unavailable
    buffering.pause()
    heardEnd.outputWasLost(current: entries.first?.id)
    var deferred = progress.deferredRequest
    if let current = entries.first {
      if let seekRequest = seeks.newest.flatMap({ decodeRequest(for: $0, in: current) }) {
        deferred = seekRequest
      } else if let interrupted = progress.unheardRequest, interrupted.itemID == current.id, !interrupted.isSilence {
        deferred = interrupted
      } else if let time {
        deferred = DecodeRequest(itemID: current.id, time: time)
      }
    }
    deferred?.seek = nil
    progress.stop(deferring: deferred)
    return endSeeks(.outputLost)
  }

  /// Prevents opening of items until `allowOpening`. Must be called before anything is decoded.
  package mutating func deferOpening() { intent.setOpeningDeferred(true) }

  /// Allows opening of the current and the next items.
  package mutating func allowOpening() -> [Action] {
    guard intent.isOpeningDeferred else { return [] }
    intent.setOpeningDeferred(false)
    return reconcile()
  }

  /// Closes the player: drops all audio, completes all seeks, and sets the rate to 0.
  package mutating func close() -> [Action] {
    let actions = endSeeks(.closed) + replaceAll([])
    intent.pause()
    return actions
  }

  // MARK: - Internals

  /// Starts a generation for `request`. Defers the request while there is no output.
  mutating func decode(_ request: DecodeRequest) -> [Action] {
    var request = request
    if request.spliceAfter == nil {
      request.end = passEnd(from: request.time, of: request.itemID)
      buffering.streamRequested()
    }
    guard output != .unavailable else {
      progress.deferRequest(request)
      return []
    }
    let begun = progress.begin(request, at: targetRate)
    return [.prepare(generation: generation, begun)]
  }

  /// Compares the decoded and prepared passes with the wanted ones, and corrects the difference.
  ///
  /// - Parameter time: The position that is heard, while a loop is being set; nil at any other time.
  package mutating func reconcile(loopHeardAt time: MediaTime? = nil) -> [Action] {
    var actions = skipFailedItems()
    if let end = intent.rangeEnd, end.itemID != entries.first?.id { actions += endRange(.itemChanged) }
    if let loop, loop.itemID != entries.first?.id { intent.setLoop(nil) }
    if let limit = intent.repeatLimit, limit.itemID != entries.first?.id { endRepeatLimit() }
    guard let current = entries.first else { return actions + dropEverything() }
    if case .failed = current.status {
      actions += endRange(.itemFailed)
      // Keeps the start position of the failed item.
      var request = pendingRequest
      request?.seek = nil
      return actions + dropEverything(deferring: request)
    }
    // The item has started at its resume time.
    if current.resumeTime != nil, hasBegun(current.id) { queue.update(current.id) { $0.resumeTime = nil } }
    if progress.isIdle { return actions + decodeCurrent(current.id) }
    if let request = progress.replacementInPreparation {
      return request.itemID == current.id ? actions : actions + replaceCurrent(with: current.id)
    }
    if decodedPasses.isEmpty, isAboutToBegin(current.id) { return actions }
    guard decodedPasses.first?.pass.itemID == current.id else { return actions + replaceCurrent(with: current.id) }
    return actions + reconcileFollowing(loopHeardAt: time)
  }

  /// Starts decoding of the current item, from its deferred request or its start time.
  mutating func decodeCurrent(_ id: ItemID) -> [Action] {
    if progress.dropDeferredRequest(exceptOf: id) { heardEnd.leaveSilence() }
    let seekActions = seeks.current.map { $0.itemID != id } ?? false ? endSeeks(.itemChanged) : []
    guard output != .unavailable, !intent.isOpeningDeferred else { return seekActions }
    // A failed file is opened once for each retry.
    if let entry = entries[id], entry.isRetried, entry.status == .unknown { return seekActions }
    // The resume time may be after the item's end, so the duration must be known.
    if progress.deferredRequest == nil, let entry = entries[id], entry.resumeTime != nil, entry.status == .unknown {
      return seekActions
    }
    let next =
      progress.deferredRequest ?? DecodeRequest(itemID: id, time: entries[id].map { startTime(of: $0) } ?? .zero)
    if entries[id]?.resumeTime != nil { queue.update(id) { $0.resumeTime = nil } }
    return seekActions + decode(next)
  }

  /// Drops all decoded audio, and starts decoding of the current item.
  mutating func replaceCurrent(with id: ItemID) -> [Action] {
    let actions = dropEverything()
    return actions + decodeCurrent(id)
  }

  /// Drops the stream, all decoded passes, and the seeks and requests of other items.
  ///
  /// - Parameter request: The request from which the current item is decoded again later; nil: its present one.
  mutating func dropEverything(deferring request: DecodeRequest? = nil) -> [Action] {
    let id = entries.first?.id
    let actions = seeks.current?.itemID == id ? [] : endSeeks(.itemChanged)
    heardEnd.clear()
    let deferred = (request ?? progress.deferredRequest).flatMap { $0.itemID == id ? $0 : nil }
    guard !progress.isIdle else {
      progress.deferRequest(deferred)
      return actions
    }
    progress.stop(deferring: deferred)
    buffering.pause()
    return actions + [.dropStream]
  }
}
