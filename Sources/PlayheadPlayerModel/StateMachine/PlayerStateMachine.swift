import DequeModule
import PlayheadMediaCore

/// The logic of a player: the requested rate, the queue, the decoded passes, and whether audio is rendered.
///
/// Pure: each input is a method that changes the state, and returns the actions that `PlayerCore` runs in order. No
/// I/O, no clock.
///
/// The decode thread works on one *generation* at a time: a sequence of passes from a start position, in a separate
/// stream. A seek, or a change of the following passes, makes a new generation. The generation is *committed* when its
/// first samples are decoded. A committed generation either replaces the current stream at once, or follows as a
/// *splice* at the end of a pass that is still heard.
package struct PlayerStateMachine {
  package typealias ItemID = PlayerItemID
  package typealias SeekToken = SeekQueue.Token

  // MARK: - State

  package internal(set) var queue = QueueModel()
  package internal(set) var failurePolicy = ItemFailurePolicy.skip
  /// The requested rate; 0 while paused.
  package internal(set) var rate: Double = 0
  /// The rate of playback; while paused the last one.
  package internal(set) var targetRate = PlaybackRate.normal
  /// The rate at which the current generation is decoded.
  package internal(set) var decodedRate = PlaybackRate.normal
  package internal(set) var actionAtItemEnd: ActionAtItemEnd
  private(set) var isOutputReady = false
  /// Whether nothing is opened until the next request to this player (`allowOpening`).
  private(set) var isOpeningDeferred = false
  /// Whether the output is open, but accepts no audio.
  private var isOutputStalled = false
  // Not private, because extensions in other files use the properties below.
  /// The limit of repeats while `repeatMode` is `.one`; nil: unlimited.
  package var repeatLimit: RepeatLimit?
  /// The number of repeats of items since the player was made.
  package internal(set) var repeatCount = 0
  package internal(set) var loop: Loop?
  /// The end of the range that is played; nil: playback continues.
  package internal(set) var rangeEnd: RangeEnd?
  /// The position that is heard while a loop is being set; nil at any other time.
  var loopHeardAt: MediaTime?
  package internal(set) var generation: UInt64 = 0
  package var decoding = Decoding.idle
  /// Whether the decoded audio uses another pitch algorithm than the requested one.
  var isPitchStale = false
  /// The passes of the current stream that have not been heard to their end, in order. The first one is current.
  package var decodedPasses = Deque<DecodedPass>()
  /// Whether the last of `decodedPasses` is completely in the stream, so that a plan can no longer change its end.
  package internal(set) var isLastPassComplete = false
  /// The number of passes of the current generation that have begun.
  package internal(set) var begunCount = 0
  /// A generation that replaces the current stream, until the mixer has switched to it.
  package internal(set) var uncommitted: (generation: UInt64, request: DecodeRequest)?
  package internal(set) var plan = Plan()
  /// Whether the current stream was cut after the last of `decodedPasses`: following passes need a new generation.
  var isCut = false
  /// The deferred request for the current item: a seek before it was ready, or the position at the loss of a device.
  package internal(set) var deferredRequest: DecodeRequest?
  /// The pending seeks, all in the current item.
  package var seeks = SeekQueue()
  /// Whether the mixer renders audio of this player.
  package internal(set) var isRendering = false
  /// Whether an underrun occurred: new samples are not played until enough are decoded.
  package internal(set) var isRebuffering = false
  /// The item of an underrun that has not been heard yet.
  package internal(set) var pendingStall: ItemID?
  /// Whether an underrun occurred, and no samples are known to have arrived since.
  var isBufferDrained = false
  /// Whether the requested amount is decoded ahead.
  var isBufferFull = false
  /// Whether a stall ends automatically. If false, a stall pauses the player.
  package internal(set) var automaticallyWaits = true
  /// Whether the player waits for a start instant in the future.
  package internal(set) var isWaitingForStartTime = false
  /// The reason why the session prevents playback; nil: it is allowed.
  package internal(set) var sessionWaitingReason: WaitingReason?
  /// Whether `actionAtItemEnd` is `.none` and the current item's end has been heard.
  package internal(set) var hasPassedEnd = false
  /// The item whose end has been reported, while it stays current at its end.
  package internal(set) var endedItemID: ItemID?
  /// The last pause by `ItemFailurePolicy.stop`, with its item and error.
  var failureStop: FailureStop?
  package let canAdvance: Bool

  /// - Parameter canAdvance: True for a player with a queue (`QueuePlayer`), false for a player with one item
  ///   (`Player`).
  package init(canAdvance: Bool) {
    self.canAdvance = canAdvance
    actionAtItemEnd = canAdvance ? .advance : .pause
  }

  // MARK: - Derived state

  package var entries: QueueEntries { queue.entries }

  package var repeatMode: RepeatMode { queue.repeatMode }

  package var timeControlStatus: TimeControlStatus {
    if rate == 0 { return .paused }
    let isPlaying = isRendering && !isWaitingForStartTime && !isOutputStalled && sessionWaitingReason == nil
    return isPlaying ? .playing : .waiting
  }

  package var reasonForWaitingToPlay: WaitingReason? {
    guard timeControlStatus == .waiting else { return nil }
    guard let current = entries.first else { return .noItemToPlay }
    if case .failed = current.status { return .currentItemFailed }
    if !isOutputReady || isOutputStalled { return .outputUnavailable }
    if let sessionWaitingReason { return sessionWaitingReason }
    if isWaitingForStartTime { return .startTimeNotReached }
    return isRebuffering ? .toMinimizeStalls : .evaluatingBufferingRate
  }

  /// The error that stops playback: the current item could not be opened, or could not be decoded to its end.
  package var error: MediaError? {
    if reasonForWaitingToPlay == .currentItemFailed { return entries.first?.status.error }
    guard rate == 0, let failureStop, failureStop.itemID == entries.first?.id else { return nil }
    return failureStop.error
  }

  /// Whether the mixer should render the player's audio.
  package var isRunning: Bool { rate != 0 && sessionWaitingReason == nil }

  /// Whether the player is paused after the current item's end was heard, in either direction.
  package var hasItemEnded: Bool {
    rate == 0 && endedItemID != nil && endedItemID == entries.first?.id && pendingRequest == nil
  }

  /// Whether virtual time may advance, because no preparation is pending.
  package var isSettled: Bool {
    guard let current = entries.first, current.status.error == nil, isOutputReady, !isOpeningDeferred else {
      return true
    }
    return decoding == .active
  }

  /// Whether the mixer has a stream of the current item, also while a following one is being prepared.
  package var hasStream: Bool {
    switch decoding {
    case .idle: false
    case .preparing(let request): request.spliceAfter != nil
    case .active: true
    }
  }

  /// The request of the generation in preparation.
  package var requestInPreparation: DecodeRequest? {
    if case .preparing(let request) = decoding { request } else { nil }
  }

  /// The number of entries, including the current one, that are opened ahead of time.
  package static let lookAheadCount = 8

  /// Entries to open: the current one and the next ones, while their status is unknown.
  package var itemsToLoad: [ItemID] {
    isOpeningDeferred ? [] : entries.prefix(Self.lookAheadCount).filter { $0.status == .unknown }.map(\.id)
  }

  /// Failed entries to open again: the current one and the next ones, while the player plays.
  package var itemsToRetry: [ItemID] {
    guard failurePolicy == .retry, rate != 0, !isOpeningDeferred else { return [] }
    return entries.prefix(Self.lookAheadCount).filter { $0.status.error != nil }.map(\.id)
  }

  package func entry(_ id: ItemID) -> Entry? { entries[id] }

  // MARK: - Requests

  /// Plays at a rate, or pauses at 0. Until `changeDecodedRate` or `splitForRateChange`, audio that was decoded at
  /// another rate continues in a playing player, and is not heard in a paused one.
  package mutating func setRate(_ newRate: Double) -> [Action] {
    let wasPaused = rate == 0
    if newRate != 0 { failureStop = nil }
    let newTargetRate = newRate == 0 ? targetRate : PlaybackRate(newRate) ?? targetRate
    targetRate = newTargetRate
    rate = newRate == 0 ? 0 : newTargetRate.value
    if newRate == 0 {
      isRendering = false
      isRebuffering = false
      pendingStall = nil
      return wasPaused ? [] : [.setRunning(false)]
    }
    guard wasPaused else { return [] }
    let actions = advancePastFailure() + reconcile()
    // Audio decoded at another rate is decoded again before it is heard (`changeDecodedRate`).
    guard !needsRateChange else { return actions }
    // Decoded audio is heard at once.
    if decoding == .active, !decodedPasses.isEmpty { isRendering = true }
    return actions + (hasStream ? [.setRunning(true)] : [])
  }

  /// Sets the action at the end of an item. Applies it at once if the current item's end has been heard.
  package mutating func setActionAtItemEnd(_ action: ActionAtItemEnd) -> [Action] {
    actionAtItemEnd = action
    guard hasPassedEnd, let current = entries.first else { return reconcile() }
    // A seek back into the item is in preparation: silence after its end is not continued.
    if let requestInPreparation, !requestInPreparation.isSilence { return reconcile() }
    switch action {
    case .none: return []
    case .pause,
      .advance where decodedRate.isReverse,
      .stop where decodedRate.isReverse:
      // Seek back to the item's end: the silence after it is not continued.
      endedItemID = current.id
      return setRate(0)
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
    rangeEnd = newRangeEnd.map { RangeEnd(itemID: current.id, time: $0) }
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
    if case .preparing(let prepared) = decoding, prepared.spliceAfter == nil { return decode(prepared) }
    // An uncommitted request, also of a seek, is decoded again from its own position.
    if let uncommitted { return decode(uncommitted.request) }
    guard hasStream, !hasPassedEnd, endedItemID == nil,
      id == nil || decodedPasses.contains(where: { $0.pass.itemID == id }) || requestInPreparation?.itemID == id
    else {
      return []
    }
    return decode(DecodeRequest(itemID: current.id, time: time, isContinuation: true))
  }

  // MARK: - The decode thread

  /// Handles a generation whose first samples are decoded.
  package mutating func prepared(generation: UInt64) -> [Action] {
    guard generation == self.generation, case .preparing(let request) = decoding else { return [] }
    decoding = .active
    if !isRebuffering { pendingStall = nil }
    decodedPasses.append(
      DecodedPass(id: PassID(generation: generation, index: 0), pass: request.pass, isReverse: request.rate.isReverse))
    begunCount = 1
    isLastPassComplete = false
    if let pass = request.spliceAfter { return [.splice(generation: generation, after: pass)] + reconcile() }
    hasPassedEnd = request.isSilence
    // Restoring the position at an item's end does not report the end again.
    if request.isNewPass { endedItemID = nil }
    uncommitted = (generation, request)
    return [.commit(generation: generation)] + reconcile()
  }

  // MARK: - Mixer

  /// Handles the switch of the mixer to a committed generation.
  package mutating func committed(generation: UInt64) -> [Action] {
    // A later generation may have been requested since, which follows this one.
    guard let committed = uncommitted, committed.generation == generation else { return [] }
    uncommitted = nil
    guard let token = committed.request.seek, seeks.complete(token) else { return [] }
    return [.completeSeek(token, .finished)] + performSeek()
  }

  // MARK: - The output

  /// Handles an available device: playback resumes at the position where it was interrupted.
  package mutating func outputBecameReady() -> [Action] {
    isOutputReady = true
    isOutputStalled = false
    return reconcile()
  }

  /// Handles a device that stops accepting audio, or accepts it again. No audio was lost.
  package mutating func outputStalled(_ isStalled: Bool) -> [Action] {
    isOutputStalled = isOutputReady && isStalled
    return []
  }

  /// Handles the loss of the device while `time` of the current item was heard. Pending seeks complete as unfinished.
  /// Playback will resume at the target of the newest seek, or else at the interrupted position.
  package mutating func outputWasLost(at time: MediaTime?) -> [Action] {
    isOutputReady = false
    isOutputStalled = false
    isRendering = false
    isRebuffering = false
    generation += 1
    if hasPassedEnd { endedItemID = entries.first?.id }
    let prepared = requestInPreparation
    let interrupted = prepared == nil || prepared?.spliceAfter != nil ? uncommitted?.request : prepared
    uncommitted = nil
    decoding = .idle
    decodedPasses = []
    plan = Plan()
    guard let current = entries.first else { return endSeeks(.outputLost) }
    if let seekRequest = seeks.newest.flatMap({ decodeRequest(for: $0, in: current) }) {
      deferredRequest = seekRequest
    } else if let interrupted, interrupted.itemID == current.id, !interrupted.isSilence {
      deferredRequest = interrupted
    } else if let time {
      deferredRequest = DecodeRequest(itemID: current.id, time: time)
    }
    deferredRequest?.seek = nil
    return endSeeks(.outputLost)
  }

  /// Prevents opening of items until `allowOpening`. Must be called before anything is decoded.
  package mutating func deferOpening() { isOpeningDeferred = true }

  /// Allows opening of the current and the next items.
  package mutating func allowOpening() -> [Action] {
    guard isOpeningDeferred else { return [] }
    isOpeningDeferred = false
    return reconcile()
  }

  /// Closes the player: drops all audio, completes all seeks, and sets the rate to 0.
  package mutating func close() -> [Action] {
    let actions = endSeeks(.closed) + replaceAll([])
    rate = 0
    return actions
  }

  // MARK: - Internals

  /// Starts a generation for `request`. Defers the request while there is no output.
  package mutating func decode(_ request: DecodeRequest) -> [Action] {
    var request = request
    if request.spliceAfter == nil {
      uncommitted = nil
      request.end = passEnd(from: request.time, of: request.itemID)
      // The new stream has no underrun yet.
      if isRebuffering, pendingStall == nil { isRendering = false }
      pendingStall = nil
      isRebuffering = false
      isBufferDrained = false
      isBufferFull = false
    }
    guard isOutputReady else {
      deferredRequest = request
      decoding = .idle
      return []
    }
    generation += 1
    // The following item keeps the direction of the current one until the direction is changed.
    let changesDirection = targetRate.isReverse != decodedRate.isReverse
    if !changesDirection || request.spliceAfter == nil || request.isContinuation { decodedRate = targetRate }
    request.rate = decodedRate
    if request.spliceAfter == nil || request.isContinuation { isPitchStale = false }
    decoding = .preparing(request)
    isCut = false
    if request.spliceAfter == nil { decodedPasses = [] }
    plan = Plan()
    return [.prepare(generation: generation, request)]
  }

  /// Compares the decoded and prepared passes with the wanted ones, and corrects the difference.
  package mutating func reconcile() -> [Action] {
    var actions = skipFailedItems()
    if let rangeEnd, rangeEnd.itemID != entries.first?.id { actions += endRange(.itemChanged) }
    if let loop, loop.itemID != entries.first?.id { self.loop = nil }
    if let repeatLimit, repeatLimit.itemID != entries.first?.id { endRepeatLimit() }
    guard let current = entries.first else { return actions + dropEverything() }
    if case .failed = current.status {
      actions += endRange(.itemFailed)
      // Keeps the start position of the failed item.
      if let request = pendingRequest, request.itemID == current.id {
        deferredRequest = request
        deferredRequest?.seek = nil
      }
      return actions + dropEverything()
    }
    // The item has started at its resume time.
    if current.resumeTime != nil, hasBegun(current.id) { queue.update(current.id) { $0.resumeTime = nil } }
    switch decoding {
    case .idle:
      actions += decodeCurrent(current.id)
    case .preparing(let request):
      if request.spliceAfter != nil {
        actions +=
          decodedPasses.first?.pass.itemID == current.id ? reconcileFollowing() : replaceCurrent(with: current.id)
      } else if request.itemID != current.id {
        actions += replaceCurrent(with: current.id)
      }
    case .active:
      if decodedPasses.isEmpty, isAboutToBegin(current.id) { break }
      actions +=
        decodedPasses.first?.pass.itemID == current.id ? reconcileFollowing() : replaceCurrent(with: current.id)
    }
    return actions
  }

  /// Starts decoding of the current item, from its deferred request or its start time.
  mutating func decodeCurrent(_ id: ItemID) -> [Action] {
    if deferredRequest?.itemID != id {
      deferredRequest = nil
      hasPassedEnd = false
    }
    let seekActions = seeks.current.map { $0.itemID != id } ?? false ? endSeeks(.itemChanged) : []
    guard isOutputReady, !isOpeningDeferred else { return seekActions }
    // A failed file is opened once for each retry.
    if let entry = entries[id], entry.isRetried, entry.status == .unknown { return seekActions }
    // The resume time may be after the item's end, so the duration must be known.
    if deferredRequest == nil, let entry = entries[id], entry.resumeTime != nil, entry.status == .unknown {
      return seekActions
    }
    let next = deferredRequest ?? DecodeRequest(itemID: id, time: entries[id].map { startTime(of: $0) } ?? .zero)
    deferredRequest = nil
    if entries[id]?.resumeTime != nil { queue.update(id) { $0.resumeTime = nil } }
    return seekActions + decode(next)
  }

  /// Drops all decoded audio, and starts decoding of the current item.
  mutating func replaceCurrent(with id: ItemID) -> [Action] {
    let actions = dropEverything()
    return actions + decodeCurrent(id)
  }

  /// Drops the stream, all decoded passes, and the seeks and requests of other items.
  mutating func dropEverything() -> [Action] {
    var actions = seeks.current?.itemID == entries.first?.id ? [] : endSeeks(.itemChanged)
    uncommitted = nil
    hasPassedEnd = false
    endedItemID = nil
    deferredRequest = deferredRequest.flatMap { request in entries.first?.id == request.itemID ? request : nil }
    guard decoding != .idle || !decodedPasses.isEmpty else { return actions }
    generation += 1
    decoding = .idle
    decodedPasses = []
    plan = Plan()
    isRendering = false
    isRebuffering = false
    actions.append(.dropStream)
    return actions
  }
}
