import DequeModule
import MediaCore

/// What a player does, and when: intent (`rate`), the queue, what is being decoded, what sounds.
///
/// Pure: each input is a method that changes the state and returns the actions to be run, in order, by `PlayerCore`.
/// No I/O, no clock.
///
/// The decode thread works on one *generation* at a time: a run of items from some place on, in a stream of its own. A
/// seek, or a change of what is to be heard next, makes a new generation. It is *committed* when its first samples are
/// there: at once (it replaces what sounds) or as a *splice* (it takes over at the end of an item that still sounds).
struct PlayerStateMachine {
  typealias ItemID = PlayerItem.ID

  struct Entry: Sendable, Hashable {
    var id: ItemID
    var status = ItemStatus.unknown
    var duration = MediaTime.indefinite
    /// Whether `duration` is no estimate.
    var isDurationPrecise = false
    /// Where forward and backward playback end; nil: at the item's edges.
    var forwardEnd: MediaTime?
    var reverseEnd: MediaTime?
    /// It was heard whole and is shorter than `shortestLoop`: it is not repeated.
    var isTooShort = false
    /// Its sound broke off when it was decoded last.
    var hasBrokenOff = false
    /// Where it is to begin when it becomes current; nil: at its beginning, or it has begun.
    var resumeTime: MediaTime?
    /// How much of a pass hangs on what follows it: the reach of a filter, at the rate 1.
    var filterReach = MediaTime.zero

    /// Whether nothing is known but the id.
    var isUnknown: Bool { status == .unknown && self == Entry(id: id) }

    /// Where forward playback ends, as far as that is known.
    var endTime: MediaTime { min(forwardEnd ?? .positiveInfinity, duration.isNumeric ? duration : .positiveInfinity) }

    /// Where playback at this rate ends; nil: at the item's edge.
    func end(at rate: PlaybackRate) -> MediaTime? { rate.isReverse ? reverseEnd : forwardEnd }

    /// The same, with the edge's time.
    func endTime(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? reverseEnd ?? .zero : endTime }

    /// The latest time that can be sought; indefinite where that is not known, for behind an estimate there may be more.
    var latestTime: MediaTime { isDurationPrecise ? duration : .indefinite }
  }

  /// Where decoding of a generation begins.
  struct Start: Sendable, Hashable {
    var itemID: ItemID
    var time = MediaTime.zero
    var toleranceBefore = MediaTime.zero
    var toleranceAfter = MediaTime.zero
    /// The seek that this start carries out.
    var seek: SeekToken?
    /// Why the item's time is another one then; nil when it is not, or when the item begins.
    var jumpCause: TimeJumpCause?
    /// It goes on with what sounds.
    var isContinuation = false
    /// How it will be heard: after this pass's end in the present stream; nil: at once.
    var spliceAfter: PassID?
    /// Where the pass that it begins ends; nil: where the item does.
    var end: MediaTime?
    /// It begins behind the item's end.
    var isSilence = false
    /// How fast everything in its stream is played.
    var rate = PlaybackRate.normal

    var pass: Pass { Pass(itemID: itemID, start: time, end: end, isSilence: isSilence) }

    /// Whether what is heard from there on may come to the item's end anew, which had been heard.
    var isNewPass: Bool { seek != nil || jumpCause == .repeat || jumpCause == .restart }
  }

  typealias SeekToken = SeekQueue.Token

  /// What is to follow what has been decoded.
  struct Plan: Sendable, Hashable {
    /// How many passes of the generation had begun when this was planned. The decode thread may have begun more since:
    /// it passes over as many of `passes`.
    var begunCount = 0
    /// Where the pass that is being decoded ends.
    var currentEnd: MediaTime?
    var passes: [Pass] = []
  }

  enum Action: Sendable, Hashable {
    /// Decode into a new stream from `Start` on.
    case prepare(generation: UInt64, Start)
    /// The prepared stream sounds from now on.
    case commit(generation: UInt64)
    /// The prepared stream takes over at the end of the pass.
    case splice(generation: UInt64, after: PassID)
    /// Nothing after the end of the pass in its stream is to sound.
    case truncate(after: PassID)
    /// The pass, which has been decoded beyond it, ends at this time, and nothing after it is to sound.
    case shorten(PassID, at: MediaTime)
    /// The pass, which has been decoded beyond it, ends at this frame of its stream, but sounds on until what follows it
    /// is there.
    case split(PassID, atStreamFrame: Int64)
    /// Nothing is to sound: there is no item.
    case dropStream
    case setPlan(Plan)
    case setRunning(Bool)
    case completeSeek(SeekToken, SeekResult.Outcome)
    case emit(Emission)
  }

  /// Events, to which the runner adds the time.
  enum Emission: Sendable, Hashable {
    case playedToEnd(ItemID)
    case failedToPlayToEnd(ItemID, MediaError)
    case stalled(ItemID)
    case itemFailed(ItemID, MediaError)
    /// A player that plays went on behind an item that failed.
    case itemSkipped(ItemID, MediaError)
    /// A pass ended, and another follows.
    case seam(from: ItemID, to: ItemID)
  }

  /// Where a failure paused the player.
  struct Stop: Sendable, Hashable {
    var itemID: ItemID
    var error: MediaError
  }

  enum Decoding: Sendable, Hashable {
    case idle
    case preparing(Start)
    case active
  }

  /// A pass of the present stream.
  struct Decoded: Sendable, Hashable {
    var id: PassID
    /// As the decode thread was told, and so far carried out.
    var pass: Pass
    /// Whether it is heard backwards.
    var isReverse: Bool
  }

  // MARK: - State

  var entries = QueueEntries()
  /// Becomes larger when all is done that makes the queue another one.
  var queueVersion: UInt64 = 0 { didSet { queueChanges.append(entries.takeSteps(), version: queueVersion) } }
  /// What led to the newest versions.
  var queueChanges = QueueChangeLog()
  /// What was current before.
  var history = PlayHistory()
  /// Nil while the queue is not shuffled.
  var shuffle: QueueShuffle?
  var failurePolicy = ItemFailurePolicy.skip
  /// The desired rate; 0 while paused.
  var rate: Double = 0
  /// The rate that is played at, or was last.
  var speed = PlaybackRate.normal
  /// The rate at which the present generation is decoded.
  var decodedSpeed = PlaybackRate.normal
  var actionAtItemEnd: ActionAtItemEnd
  private(set) var isOutputReady = false
  /// Nothing is opened until a request of this player comes (`releaseOpening`).
  private(set) var isOpeningHeld = false
  /// The output is there and takes no sound.
  private var isOutputStalled = false
  // Not private: `PlayerStateMachine+Following.swift` has its part in what follows.
  var repeatMode = RepeatMode.off
  /// How many repeats there are to be while `repeatMode` is `.one`; nil: they are not counted.
  var repeatLimit: RepeatLimit?
  /// How many times an item has been repeated since the player was made.
  var repeatCount = 0
  var loop: Loop?
  /// What is heard of the current item while a loop is being set; nil at any other time.
  var loopHeardAt: MediaTime?
  var generation: UInt64 = 0
  var decoding = Decoding.idle
  /// Whether what is decoded keeps its pitch in another way than is wanted.
  var isPitchStale = false
  /// The passes of the present stream, in order, that have not been heard to their end. The first is current.
  var decoded = Deque<Decoded>()
  /// Whether all of the last of `decoded` is in the stream, so that the decode thread cannot be told another end of it.
  var isLastEnded = false
  /// How many passes of the present generation have begun.
  var begunCount = 0
  /// A generation that is to replace what sounds, until the mixer has taken it.
  var uncommitted: (generation: UInt64, start: Start)?
  /// Entries that left the queue and have not been taken by `takeRemoval`.
  var removal = Removal()
  var plan = Plan()
  /// Whether the present stream was cut after the last of `decoded`: what follows needs a generation of its own.
  var isCut = false
  /// Where the current item is to start once it can be: a seek before it was ready, a position kept over a lost device.
  var pendingStart: Start?
  /// The seeks that have not completed, all in the current item.
  var seeks = SeekQueue()
  /// Whether the render side sounds this player.
  var isSounding = false
  /// Samples ran out: what comes is held back until it is enough.
  var isStarved = false
  /// The item whose samples ran out, until that is heard.
  var untoldStall: ItemID?
  /// Samples ran out, and no more are known to have come.
  var isDry = false
  /// As far ahead as is wanted has been decoded.
  var isBufferFull = false
  /// Whether a stall ends by itself; otherwise it pauses.
  var automaticallyWaits = true
  /// It is to play from a moment on that has not come.
  var isStartHeld = false
  /// Why nothing sounds though the player would play; nil: it does.
  var holdReason: WaitingReason?
  /// `actionAtItemEnd` is `.none` and the current item's end has been heard.
  var hasPassedEnd = false
  /// The item whose end has been told, while it stays current at its end.
  var endedItem: ItemID?
  /// The item at which `ItemFailurePolicy.stop` paused the player last, and why.
  var stop: Stop?
  let canAdvance: Bool

  /// `canAdvance`: whether there is a queue to advance in (QueuePlayer), or one item only (Player).
  init(canAdvance: Bool) {
    self.canAdvance = canAdvance
    actionAtItemEnd = canAdvance ? .advance : .pause
  }

  // MARK: - Facts derived

  var timeControlStatus: TimeControlStatus {
    if rate == 0 { return .paused }
    return isSounding && !isStartHeld && !isOutputStalled && holdReason == nil ? .playing : .waiting
  }

  var reasonForWaitingToPlay: WaitingReason? {
    guard timeControlStatus == .waiting else { return nil }
    guard let current = entries.first else { return .noItemToPlay }
    if case .failed = current.status { return .currentItemFailed }
    if !isOutputReady || isOutputStalled { return .outputUnavailable }
    if let holdReason { return holdReason }
    if isStartHeld { return .startTimeNotReached }
    return isStarved ? .toMinimizeStalls : .evaluatingBufferingRate
  }

  /// What keeps the player from playing on: the current item failed, or broke off.
  var error: MediaError? {
    if reasonForWaitingToPlay == .currentItemFailed { return entries.first?.status.error }
    guard rate == 0, let stop, stop.itemID == entries.first?.id else { return nil }
    return stop.error
  }

  /// Whether the mixer is to sound what there is.
  var isRunning: Bool { rate != 0 && holdReason == nil }

  /// Whether the player is paused where the current item's end has been heard, forwards or backwards.
  var hasItemEnded: Bool {
    rate == 0 && endedItem != nil && endedItem == entries.first?.id && startUnderWay == nil
  }

  /// Whether nothing is under way that sound would have to wait for.
  var isSettled: Bool {
    guard let current = entries.first, current.status.error == nil, isOutputReady, !isOpeningHeld else { return true }
    return decoding == .active
  }

  /// Whether the mixer has a stream of the current item, which may be one that another is to follow.
  var hasStream: Bool {
    switch decoding {
    case .idle: false
    case .preparing(let start): start.spliceAfter != nil
    case .active: true
    }
  }

  /// The item and place that the prepared generation begins with.
  var preparedStart: Start? { if case .preparing(let start) = decoding { start } else { nil } }

  /// How many entries are looked at before they are due, with the current one.
  static let lookAheadCount = 8

  /// Entries whose status is to be found out: the current one and those that follow soon.
  var itemsToLoad: [ItemID] {
    isOpeningHeld ? [] : entries.prefix(Self.lookAheadCount).filter { $0.status == .unknown }.map(\.id)
  }

  func entry(_ id: ItemID) -> Entry? { entries[id] }

  // MARK: - Intent

  /// Plays at a rate, or pauses at 0. What has been decoded at another rate goes on so, or is not heard, until
  /// `changeSpeed` or `splitForSpeed`.
  mutating func setRate(_ newRate: Double) -> [Action] {
    let wasPaused = rate == 0
    if newRate != 0 { stop = nil }
    let newSpeed = newRate == 0 ? speed : PlaybackRate(newRate) ?? speed
    speed = newSpeed
    rate = newRate == 0 ? 0 : newSpeed.value
    if newRate == 0 {
      isSounding = false
      isStarved = false
      untoldStall = nil
      return wasPaused ? [] : [.setRunning(false)]
    }
    guard wasPaused else { return [] }
    let actions = playOnBehindFailure() + reconcile()
    // What is there at another rate is decoded anew before it sounds (`changeSpeed`).
    guard !needsSpeedChange else { return actions }
    // What is there already sounds at once: nothing is waited for.
    if decoding == .active, !decoded.isEmpty { isSounding = true }
    return actions + (hasStream ? [.setRunning(true)] : [])
  }

  mutating func setActionAtItemEnd(_ action: ActionAtItemEnd) -> [Action] {
    actionAtItemEnd = action
    guard hasPassedEnd, let current = entries.first else { return reconcile() }
    // Somebody goes back into the item: nothing behind its end is played on.
    if let preparedStart, !preparedStart.isSilence { return reconcile() }
    switch action {
    case .none: return []
    case .pause,
      .advance where decodedSpeed.isReverse:
      // Back to where the item ended: the silence behind it is not played on.
      endedItem = current.id
      return setRate(0)
        + start(Start(itemID: current.id, time: current.endTime(at: decodedSpeed), jumpCause: .endAction))
    case .advance:
      leave(current)
      return reconcile()
    }
  }

  // MARK: - Seeking

  /// Goes to a place in the current item, which has not failed. A place that hangs on the duration waits until it is known.
  mutating func seek(
    _ token: SeekToken, to target: SeekTarget, before: MediaTime = .zero, after: MediaTime = .zero,
    mode: SeekMode = .replace, jumpCause: TimeJumpCause = .seek
  ) -> [Action] {
    guard let current = entries.first, current.status.error == nil else {
      return [.completeSeek(token, .unfinished(.itemChanged))]
    }
    let request = SeekQueue.Request(
      token: token, itemID: current.id, target: target, toleranceBefore: before, toleranceAfter: after,
      jumpCause: jumpCause)
    let (superseded, beginsNow) = seeks.ask(request, mode: mode)
    return superseded.map { .completeSeek($0, .unfinished(.superseded)) } + (beginsNow ? beginSeek() : [])
  }

  /// Completes the seeks that are under way, unfinished. What they prepared is still heard.
  mutating func cancelSeeks() -> [Action] { endSeeks(.cancelled) }

  mutating func endSeeks(_ reason: SeekResult.UnfinishedReason) -> [Action] {
    seeks.end().map { .completeSeek($0, .unfinished(reason)) }
  }

  /// Carries out the seek that is now the current one, if there is one and it can be.
  private mutating func beginSeek() -> [Action] {
    guard let seek = seeks.current, let entry = entry(seek.itemID) else { return [] }
    if let next = placeToStart(seek, entry) { return start(next) }
    guard entry.status != .unknown, seeks.complete(seek.token) else { return [] }
    return [.completeSeek(seek.token, .unfinished(.durationUnknown))] + beginSeek()
  }

  /// Where a seek goes; nil while it hangs on a duration that is not known.
  private func placeToStart(_ seek: SeekQueue.Request, _ entry: Entry) -> Start? {
    guard let time = try? seek.target.time(duration: entry.duration) else { return nil }
    return Start(
      itemID: seek.itemID, time: time.clamped(to: entry.latestTime), toleranceBefore: seek.toleranceBefore,
      toleranceAfter: seek.toleranceAfter, seek: seek.token, jumpCause: seek.jumpCause)
  }

  // MARK: - Items

  mutating func itemLoaded(_ id: ItemID, duration: MediaTime, isPrecise: Bool = true) -> [Action] {
    guard var entry = entries[id], entry.status.error == nil else { return [] }
    let wasUnknown = entry.status == .unknown
    entry.status = .readyToPlay
    entry.duration = duration
    entry.isDurationPrecise = isPrecise
    entries[id] = entry
    // How long it is was waited for.
    let actions = wasUnknown && entry.resumeTime != nil ? reconcile() : []
    guard wasUnknown, let seek = seeks.current, seek.itemID == id, seek.target.needsDuration else { return actions }
    return actions + beginSeek()
  }

  mutating func itemFailed(_ id: ItemID, _ error: MediaError) -> [Action] {
    guard let entry = entries[id], entry.status.error == nil else { return [] }
    entries[id]?.status = .failed(error)
    let isCurrent = entries.first?.id == id
    return [.emit(.itemFailed(id, error))] + (isCurrent ? endSeeks(.itemFailed) : []) + reconcile()
  }

  /// What has been decoded of item `id` is not what it is to be any more; `time` of the current item is being heard.
  mutating func decodeAnew(_ id: ItemID, from time: MediaTime) -> [Action] {
    guard let current = entries.first else { return [] }
    if case .preparing(let prepared) = decoding, prepared.spliceAfter == nil { return start(prepared) }
    // What is about to be heard, be it of a seek, is there already and is decoded anew.
    if let uncommitted { return start(uncommitted.start) }
    guard hasStream, !hasPassedEnd, endedItem == nil,
      decoded.contains(where: { $0.pass.itemID == id }) || preparedStart?.itemID == id
    else {
      return []
    }
    return start(Start(itemID: current.id, time: time, isContinuation: true))
  }

  // MARK: - The decode thread

  /// The first samples of a generation are there.
  mutating func prepared(generation: UInt64) -> [Action] {
    guard generation == self.generation, case .preparing(let start) = decoding else { return [] }
    decoding = .active
    if !isStarved { untoldStall = nil }
    decoded.append(
      Decoded(id: PassID(generation: generation, index: 0), pass: start.pass, isReverse: start.rate.isReverse))
    begunCount = 1
    isLastEnded = false
    if let pass = start.spliceAfter { return [.splice(generation: generation, after: pass)] + reconcile() }
    hasPassedEnd = start.isSilence
    // What has been told of its end stays told when it is only put there again.
    if start.isNewPass { endedItem = nil }
    uncommitted = (generation, start)
    return [.commit(generation: generation)] + reconcile()
  }

  // MARK: - The render side

  /// A committed generation took its place.
  mutating func committed(generation: UInt64) -> [Action] {
    // The queue may have asked for another generation since, to follow this one.
    guard let committed = uncommitted, committed.generation == generation else { return [] }
    uncommitted = nil
    guard let token = committed.start.seek, seeks.complete(token) else { return [] }
    return [.completeSeek(token, .finished)] + beginSeek()
  }

  // MARK: - The output

  /// There is a device: what was interrupted goes on from where it was.
  mutating func outputBecameReady() -> [Action] {
    isOutputReady = true
    isOutputStalled = false
    return reconcile()
  }

  /// The device takes no sound, or takes it again. Nothing of it was lost.
  mutating func outputStalled(_ isStalled: Bool) -> [Action] {
    isOutputStalled = isOutputReady && isStalled
    return []
  }

  /// The device went away while `time` of the current item was heard. Seeks complete; where the newest of them went is
  /// where playback goes on.
  mutating func outputWasLost(at time: MediaTime?) -> [Action] {
    isOutputReady = false
    isOutputStalled = false
    isSounding = false
    isStarved = false
    generation += 1
    if hasPassedEnd { endedItem = entries.first?.id }
    let prepared = preparedStart
    let interrupted = prepared == nil || prepared?.spliceAfter != nil ? uncommitted?.start : prepared
    uncommitted = nil
    decoding = .idle
    decoded = []
    plan = Plan()
    guard let current = entries.first else { return endSeeks(.outputLost) }
    if let sought = seeks.newest.flatMap({ placeToStart($0, current) }) {
      pendingStart = sought
    } else if let interrupted, interrupted.itemID == current.id, !interrupted.isSilence {
      pendingStart = interrupted
    } else if let time {
      pendingStart = Start(itemID: current.id, time: time)
    }
    pendingStart?.seek = nil
    return endSeeks(.outputLost)
  }

  /// Opens nothing until `releaseOpening`. Before anything is decoded.
  mutating func holdOpening() { isOpeningHeld = true }

  /// Opens the current item, and those that follow soon are to be opened.
  mutating func releaseOpening() -> [Action] {
    guard isOpeningHeld else { return [] }
    isOpeningHeld = false
    return reconcile()
  }

  /// The player ends: nothing sounds any more, nothing waits, and it does not play.
  mutating func close() -> [Action] {
    let actions = endSeeks(.closed) + replaceAll([])
    rate = 0
    return actions
  }

  // MARK: - Internals

  mutating func start(_ start: Start) -> [Action] {
    var start = start
    if start.spliceAfter == nil {
      uncommitted = nil
      start.end = passEnd(from: start.time, of: start.itemID)
      // What is prepared has not run out yet.
      if isStarved, untoldStall == nil { isSounding = false }
      untoldStall = nil
      isStarved = false
      isDry = false
      isBufferFull = false
    }
    guard isOutputReady else {
      pendingStart = start
      decoding = .idle
      return []
    }
    generation += 1
    // What follows the item is heard the way that the item is, until that is turned round.
    let isTurn = speed.isReverse != decodedSpeed.isReverse
    if !isTurn || start.spliceAfter == nil || start.isContinuation { decodedSpeed = speed }
    start.rate = decodedSpeed
    if start.spliceAfter == nil || start.isContinuation { isPitchStale = false }
    decoding = .preparing(start)
    isCut = false
    if start.spliceAfter == nil { decoded = [] }
    plan = Plan()
    return [.prepare(generation: generation, start)]
  }

  /// Compares what is decoded, or being prepared, with what the queue wants, and mends the difference.
  mutating func reconcile() -> [Action] {
    var actions = passOverFailures()
    if let loop, loop.itemID != entries.first?.id { self.loop = nil }
    if let repeatLimit, repeatLimit.itemID != entries.first?.id { endRepeatLimit() }
    guard let current = entries.first else { return actions + dropEverything() }
    if case .failed = current.status {
      // Where it was to begin is where it is.
      if let start = startUnderWay, start.itemID == current.id {
        pendingStart = start
        pendingStart?.seek = nil
      }
      return actions + dropEverything()
    }
    // It has begun where it was to begin.
    if current.resumeTime != nil, isBegun(current.id) { entries[current.id]?.resumeTime = nil }
    switch decoding {
    case .idle:
      actions += startCurrent(current.id)
    case .preparing(let start):
      if start.spliceAfter != nil {
        actions += decoded.first?.pass.itemID == current.id ? reconcileFollowing() : replaceCurrent(with: current.id)
      } else if start.itemID != current.id {
        actions += replaceCurrent(with: current.id)
      }
    case .active:
      if decoded.isEmpty, isAboutToBegin(current.id) { break }
      actions += decoded.first?.pass.itemID == current.id ? reconcileFollowing() : replaceCurrent(with: current.id)
    }
    return actions
  }

  mutating func startCurrent(_ id: ItemID) -> [Action] {
    if pendingStart?.itemID != id {
      pendingStart = nil
      hasPassedEnd = false
    }
    let orphans = seeks.current.map { $0.itemID != id } ?? false ? endSeeks(.itemChanged) : []
    guard isOutputReady, !isOpeningHeld else { return orphans }
    // Where it is to begin may lie behind its end: that has to be known.
    if pendingStart == nil, let entry = entries[id], entry.resumeTime != nil, entry.status == .unknown {
      return orphans
    }
    let next = pendingStart ?? Start(itemID: id, time: entries[id].map(firstTime) ?? .zero)
    pendingStart = nil
    if entries[id]?.resumeTime != nil { entries[id]?.resumeTime = nil }
    return orphans + start(next)
  }

  mutating func replaceCurrent(with id: ItemID) -> [Action] {
    let actions = dropEverything()
    return actions + startCurrent(id)
  }

  private mutating func dropEverything() -> [Action] {
    var actions = seeks.current?.itemID == entries.first?.id ? [] : endSeeks(.itemChanged)
    uncommitted = nil
    hasPassedEnd = false
    endedItem = nil
    pendingStart = pendingStart.flatMap { start in entries.first?.id == start.itemID ? start : nil }
    guard decoding != .idle || !decoded.isEmpty else { return actions }
    generation += 1
    decoding = .idle
    decoded = []
    plan = Plan()
    isSounding = false
    isStarved = false
    actions.append(.dropStream)
    return actions
  }
}
