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
  }

  /// Where decoding of a generation begins.
  struct Start: Sendable, Hashable {
    var itemID: ItemID
    var time = MediaTime.zero
    var toleranceBefore = MediaTime.zero
    var toleranceAfter = MediaTime.zero
    /// The seek that this start carries out.
    var seek: SeekToken?
    /// It goes on with what sounds.
    var isContinuation = false
    /// How it will be heard: after this item's end in the present stream; nil: at once.
    var spliceAfter: ItemID?
  }

  /// A seek that has not been completed yet.
  typealias SeekToken = UInt64

  /// What is to follow what has been decoded.
  struct Plan: Sendable, Hashable {
    /// How many items of the generation had begun when this was planned. The decode thread may have begun more since:
    /// it passes over as many of `items`.
    var begunCount = 0
    var items: [ItemID] = []
    /// After the last item time goes on in silence.
    var endsInSilence = false
  }

  enum Action: Sendable, Hashable {
    /// Decode into a new stream from `Start` on.
    case prepare(generation: UInt64, Start)
    /// The prepared stream sounds from now on.
    case commit(generation: UInt64)
    /// The prepared stream takes over at the end of the item.
    case splice(generation: UInt64, after: ItemID)
    /// Nothing after the end of the item in the present stream is to sound.
    case truncate(after: ItemID)
    /// Nothing is to sound: there is no item.
    case dropStream
    case setPlan(Plan)
    case setRunning(Bool)
    case completeSeek(SeekToken, finished: Bool)
    case emit(Emission)
  }

  /// Events, to which the runner adds the time.
  enum Emission: Sendable, Hashable {
    case playedToEnd(ItemID)
    case failedToPlayToEnd(ItemID, MediaError)
    case stalled(ItemID)
    case itemFailed(ItemID, MediaError)
  }

  private enum Decoding: Sendable, Hashable {
    case idle
    case preparing(Start)
    case active
  }

  /// How far ahead the decode thread is told what follows.
  static let planLength = 64

  // MARK: - State

  private(set) var entries = Deque<Entry>()
  private(set) var queueVersion: UInt64 = 0
  private(set) var rate: Double = 0
  private(set) var actionAtItemEnd: ActionAtItemEnd
  private(set) var isOutputReady = false
  private(set) var generation: UInt64 = 0
  private var decoding = Decoding.idle
  /// The items of the present stream, in order, that have not been heard to their end. The first is current.
  private var decoded = Deque<ItemID>()
  /// How many items of the present generation have begun.
  private var begunCount = 0
  /// A generation that is to replace what sounds, until the mixer has taken it.
  private var uncommitted: (generation: UInt64, start: Start)?
  /// Entries that left the queue and have not been taken by `takeRemoved`.
  private var removed: [ItemID] = []
  private(set) var plan = Plan()
  /// Whether the present stream was cut after the last of `decoded`: what follows needs a generation of its own.
  private var isCut = false
  /// Where the current item is to start once it can be: a seek before it was ready, a position kept over a lost device.
  private var pendingStart: Start?
  /// The seek that waits to be carried out or committed, and the generation that does it.
  private var pendingSeek: SeekToken?
  /// Whether the render side sounds this player.
  private var isSounding = false
  private var isStarved = false
  /// `actionAtItemEnd` is `.none` and the current item's end has been heard.
  private(set) var hasPassedEnd = false
  /// The item whose end has been told, while it stays current at its end.
  private(set) var endedItem: ItemID?
  let canAdvance: Bool

  /// `canAdvance`: whether there is a queue to advance in (QueuePlayer), or one item only (Player).
  init(canAdvance: Bool) {
    self.canAdvance = canAdvance
    actionAtItemEnd = canAdvance ? .advance : .pause
  }

  // MARK: - Facts derived

  var timeControlStatus: TimeControlStatus {
    if rate == 0 { return .paused }
    return isSounding && !isStarved ? .playing : .waiting
  }

  var reasonForWaitingToPlay: WaitingReason? {
    guard timeControlStatus == .waiting else { return nil }
    guard let current = entries.first else { return .noItemToPlay }
    if case .failed = current.status { return .currentItemFailed }
    if !isOutputReady { return .outputUnavailable }
    return isStarved ? .toMinimizeStalls : .evaluatingBufferingRate
  }

  /// Whether nothing is under way that sound would have to wait for.
  var isSettled: Bool {
    guard let current = entries.first, current.status.error == nil, isOutputReady else { return true }
    return decoding == .active
  }

  /// Whether the mixer has a stream of the current item, which may be one that another is to follow.
  private var hasStream: Bool {
    switch decoding {
    case .idle: false
    case .preparing(let start): start.spliceAfter != nil
    case .active: true
    }
  }

  /// The item and place that the prepared generation begins with.
  var preparedStart: Start? { if case .preparing(let start) = decoding { start } else { nil } }

  /// Entries whose status is to be found out: the current one and those that follow soon.
  var itemsToLoad: [ItemID] { entries.prefix(8).filter { $0.status == .unknown }.map(\.id) }

  func entry(_ id: ItemID) -> Entry? { entries.first { $0.id == id } }

  // MARK: - Queue

  /// Adds entries behind `index` others (0: before the current one, which `insert` of the public API never asks for).
  mutating func insert(_ ids: [ItemID], at index: Int) -> [Action] {
    insert(ids.map { Entry(id: $0) }, at: index)
  }

  /// The same for entries of which more is known.
  mutating func insert(_ newEntries: [Entry], at index: Int) -> [Action] {
    entries.insert(contentsOf: newEntries, at: index)
    queueVersion += 1
    return reconcile()
  }

  /// Removes entries; unknown ids are ignored. Removing the current one goes on with the next.
  mutating func remove(_ ids: Set<ItemID>) -> [Action] {
    if ids.count == 1, let first = entries.first, ids.contains(first.id) {
      removed.append(entries.removeFirst().id)
    } else {
      removed += entries.lazy.map(\.id).filter { ids.contains($0) }
      entries.removeAll { ids.contains($0.id) }
    }
    queueVersion += 1
    return reconcile()
  }

  /// Replaces the whole queue.
  mutating func replaceAll(_ ids: [ItemID]) -> [Action] { replaceAll(ids.map { Entry(id: $0) }) }

  /// The same with entries of which more is known.
  mutating func replaceAll(_ newEntries: [Entry]) -> [Action] {
    let staying = Set(newEntries.map(\.id))
    removed += entries.lazy.map(\.id).filter { !staying.contains($0) }
    entries = Deque(newEntries)
    queueVersion += 1
    return reconcile()
  }

  /// The entries that left the queue since the last call, however they did.
  mutating func takeRemoved() -> [ItemID] {
    defer { removed = [] }
    return removed
  }

  /// Ends the current item at once.
  mutating func advance() -> [Action] {
    guard let current = entries.first else { return [] }
    return remove([current.id])
  }

  // MARK: - Intent

  mutating func setRate(_ newRate: Double) -> [Action] {
    let wasPaused = rate == 0
    rate = newRate
    if newRate == 0 {
      isSounding = false
      isStarved = false
      return wasPaused ? [] : [.setRunning(false)]
    }
    guard wasPaused else { return [] }
    var actions = reconcile()
    if hasStream { actions.append(.setRunning(true)) }
    return actions
  }

  mutating func setActionAtItemEnd(_ action: ActionAtItemEnd) -> [Action] {
    actionAtItemEnd = action
    guard hasPassedEnd, let current = entries.first else { return reconcile() }
    switch action {
    case .none: return []
    case .pause:
      hasPassedEnd = false
      return setRate(0) + reconcile()
    case .advance: return remove([current.id])
    }
  }

  /// Goes to a time of the current item. An earlier seek that is still under way completes first, unfinished.
  mutating func seek(_ token: SeekToken, to time: MediaTime, before: MediaTime, after: MediaTime) -> [Action] {
    guard let current = entries.first else { return [.completeSeek(token, finished: false)] }
    var actions = cancelPendingSeek()
    if case .failed = current.status { return actions + [.completeSeek(token, finished: false)] }
    pendingSeek = token
    actions += start(
      Start(itemID: current.id, time: time, toleranceBefore: before, toleranceAfter: after, seek: token))
    return actions
  }

  /// Completes a seek that is under way, unfinished. What it prepared is still heard.
  mutating func cancelPendingSeek() -> [Action] {
    guard let token = pendingSeek else { return [] }
    pendingSeek = nil
    return [.completeSeek(token, finished: false)]
  }

  // MARK: - Items

  mutating func itemLoaded(_ id: ItemID, duration: MediaTime) -> [Action] {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return [] }
    if case .failed = entries[index].status { return [] }
    entries[index].status = .readyToPlay
    entries[index].duration = duration
    return []
  }

  mutating func itemFailed(_ id: ItemID, _ error: MediaError) -> [Action] {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return [] }
    if case .failed = entries[index].status { return [] }
    entries[index].status = .failed(error)
    return [.emit(.itemFailed(id, error))] + reconcile()
  }

  /// What has been decoded of item `id` is not what it is to be any more; `time` of the current item is being heard.
  mutating func decodeAnew(_ id: ItemID, from time: MediaTime) -> [Action] {
    guard let current = entries.first else { return [] }
    if case .preparing(let prepared) = decoding, prepared.spliceAfter == nil { return start(prepared) }
    guard hasStream, !hasPassedEnd, endedItem == nil, decoded.contains(id) || preparedStart?.itemID == id else {
      return []
    }
    return start(Start(itemID: current.id, time: time, isContinuation: true))
  }

  // MARK: - The decode thread

  /// The first samples of a generation are there.
  mutating func prepared(generation: UInt64) -> [Action] {
    guard generation == self.generation, case .preparing(let start) = decoding else { return [] }
    decoding = .active
    decoded.append(start.itemID)
    begunCount = 1
    if let item = start.spliceAfter { return [.splice(generation: generation, after: item)] + reconcile() }
    hasPassedEnd = false
    endedItem = nil
    uncommitted = (generation, start)
    return [.commit(generation: generation)] + reconcile()
  }

  /// The decode thread went on to the next item of its plan.
  mutating func began(_ id: ItemID, generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    decoded.append(id)
    begunCount += 1
    if plan.items.first == id { plan.items.removeFirst() }
    plan.begunCount = begunCount
    return reconcile()
  }

  // MARK: - The render side

  /// A committed generation took its place.
  mutating func committed(generation: UInt64) -> [Action] {
    // The queue may have asked for another generation since, to follow this one.
    guard let committed = uncommitted, committed.generation == generation else { return [] }
    uncommitted = nil
    guard let token = committed.start.seek, token == pendingSeek else { return [] }
    pendingSeek = nil
    return [.completeSeek(token, finished: true)]
  }

  mutating func soundBegan() -> [Action] {
    isSounding = rate != 0
    isStarved = false
    return []
  }

  mutating func starved() -> [Action] {
    guard rate != 0, decoding == .active, !isStarved else { return [] }
    isStarved = true
    guard let current = entries.first else { return [] }
    return [.emit(.stalled(current.id))]
  }

  /// The end of `id` has been heard; `error` when it broke off there.
  mutating func endHeard(_ id: ItemID, error: MediaError?) -> [Action] {
    guard decoded.first == id, entries.first?.id == id, !hasPassedEnd else { return [] }
    // A seek within this item is about to be heard: it has not ended, after all.
    if let start = preparedStart, start.spliceAfter == nil { return [] }
    var actions: [Action] = []
    if endedItem != id {
      actions.append(.emit(error.map { Emission.failedToPlayToEnd(id, $0) } ?? .playedToEnd(id)))
    }
    endedItem = nil
    if actionAtItemEnd == .advance || decoded.count > 1 {
      decoded.removeFirst()
      removed.append(entries.removeFirst().id)
      queueVersion += 1
      actions += cancelPendingSeek()
      if decoded.isEmpty, !isAboutToBegin(entries.first { $0.status.error == nil }?.id) {
        if case .preparing(var start) = decoding {
          start.spliceAfter = nil
          decoding = .preparing(start)
        } else {
          decoding = .idle
          isSounding = false
        }
      }
      return actions + reconcile()
    }
    if actionAtItemEnd == .none {
      hasPassedEnd = true
      return actions
    }
    endedItem = id
    return actions + setRate(0)
  }

  // MARK: - The output

  /// There is a device: what was interrupted goes on from where it was.
  mutating func outputBecameReady() -> [Action] {
    isOutputReady = true
    return reconcile()
  }

  /// The device went away while `time` of the current item was heard.
  mutating func outputWasLost(at time: MediaTime?) -> [Action] {
    isOutputReady = false
    isSounding = false
    isStarved = false
    generation += 1
    let prepared = preparedStart
    let interrupted = prepared == nil || prepared?.spliceAfter != nil ? uncommitted?.start : prepared
    uncommitted = nil
    decoding = .idle
    decoded = []
    plan = Plan()
    guard let current = entries.first else { return [] }
    if let interrupted, interrupted.itemID == current.id {
      pendingStart = interrupted
    } else if let time {
      pendingStart = Start(itemID: current.id, time: time)
    }
    return []
  }

  // MARK: - Internals

  private mutating func start(_ start: Start) -> [Action] {
    if start.spliceAfter == nil { uncommitted = nil }
    guard isOutputReady else {
      pendingStart = start
      decoding = .idle
      return []
    }
    generation += 1
    decoding = .preparing(start)
    isCut = false
    if start.spliceAfter == nil { decoded = [] }
    plan = Plan()
    return [.prepare(generation: generation, start)]
  }

  /// Compares what is decoded, or being prepared, with what the queue wants, and mends the difference.
  private mutating func reconcile() -> [Action] {
    var actions: [Action] = []
    // A failed item is passed over by a player that wants to play and has another one.
    while rate != 0, entries.count > 1, case .failed = entries[0].status {
      removed.append(entries.removeFirst().id)
      queueVersion += 1
    }
    guard let current = entries.first else { return actions + dropEverything() }
    if case .failed = current.status { return actions + dropEverything() }
    switch decoding {
    case .idle:
      actions += startCurrent(current.id)
    case .preparing(let start):
      if let item = start.spliceAfter {
        actions += reconcileSplice(after: item, next: start.itemID)
      } else if start.itemID != current.id {
        actions += replaceCurrent(with: current.id)
      }
    case .active:
      if decoded.isEmpty, isAboutToBegin(current.id) { break }
      if decoded.first != current.id {
        actions += replaceCurrent(with: current.id)
      } else {
        actions += reconcileFollowing()
      }
    }
    return actions
  }

  /// Whether the decode thread has been told to go on with this item next.
  private func isAboutToBegin(_ id: ItemID?) -> Bool { decoding == .active && id != nil && plan.items.first == id }

  private mutating func startCurrent(_ id: ItemID) -> [Action] {
    if pendingStart?.itemID != id {
      pendingStart = nil
      hasPassedEnd = false
    }
    let orphan = pendingStart?.seek == nil ? cancelPendingSeek() : []
    guard isOutputReady else { return orphan }
    let next = pendingStart ?? Start(itemID: id)
    pendingStart = nil
    return orphan + start(next)
  }

  private mutating func replaceCurrent(with id: ItemID) -> [Action] {
    let actions = dropEverything()
    return actions + startCurrent(id)
  }

  /// What may follow the current item, in order.
  private func following(_ count: Int) -> ArraySlice<ItemID> {
    guard actionAtItemEnd == .advance else { return [] }
    return entries.dropFirst().lazy.filter { if case .failed = $0.status { false } else { true } }
      .prefix(count).map(\.id)[...]
  }

  private mutating func reconcileFollowing() -> [Action] {
    let wanted = following(decoded.count - 1 + Self.planLength)
    for (index, id) in decoded.dropFirst().enumerated() where index >= wanted.count || wanted[index] != id {
      let last = decoded[index]
      decoded.removeLast(decoded.count - index - 1)
      var actions: [Action] = [.truncate(after: last)]
      if index < wanted.count {
        actions += start(Start(itemID: wanted[index], spliceAfter: last))
      } else {
        actions += cut()
      }
      return actions
    }
    if isCut {
      guard decoded.count - 1 < wanted.count, let last = decoded.last else { return [] }
      return start(Start(itemID: wanted[decoded.count - 1], spliceAfter: last))
    }
    let next = Plan(
      begunCount: begunCount, items: Array(wanted.dropFirst(decoded.count - 1)),
      endsInSilence: actionAtItemEnd == .none)
    // A shorter look-ahead than it could be is good enough until half of it is used up.
    let isGoodEnough =
      next.endsInSilence == plan.endsInSilence && next.items.starts(with: plan.items)
      && (plan.items.count == next.items.count || plan.items.count * 2 > Self.planLength)
    guard !isGoodEnough else { return [] }
    plan = next
    return [.setPlan(next)]
  }

  private mutating func reconcileSplice(after item: ItemID, next: ItemID) -> [Action] {
    guard decoded.first == entries.first?.id else { return replaceCurrent(with: entries[0].id) }
    let wanted = following(decoded.count)
    for (index, id) in decoded.dropFirst().enumerated() where index >= wanted.count || wanted[index] != id {
      decoding = .active
      return reconcileFollowing()
    }
    let index = decoded.count - 1
    if index < wanted.count, wanted[index] == next { return [] }
    guard index < wanted.count else {
      decoding = .active
      return cut()
    }
    return start(Start(itemID: wanted[index], spliceAfter: item))
  }

  /// The decode thread is to leave the present stream alone: what it added would come after the cut.
  private mutating func cut() -> [Action] {
    generation += 1
    isCut = true
    plan = Plan()
    return [.setPlan(plan)]
  }

  private mutating func dropEverything() -> [Action] {
    var actions = cancelPendingSeek()
    uncommitted = nil
    hasPassedEnd = false
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
