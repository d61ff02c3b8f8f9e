import HeapModule
import PlayheadMediaCore

/// The periodic and boundary observers of one player, in the order of their next times.
///
/// Times are item times; the table does not use output frames. The table has a *position* (`Position`): an item, a time
/// in it, and whether the sample there has been heard. Playback moves the position forward, and a jump moves it
/// elsewhere.
///
/// A boundary is passed exactly when the position moves from one of its sides to the other: it is *crossed* by
/// playback, or *skipped* by a jump. Playback crosses a boundary once its time is reached. A jump to a boundary ends
/// before it, until its sample is heard. Each passage is therefore exactly one of the two. In reverse the same applies
/// in the other direction.
///
/// A visit or a jump iterates over all observers. Every other call costs one heap operation, regardless of the number
/// of observers.
///
/// A pure value.
package struct TimeObserverTable {
  package typealias Handler = @Sendable (TimeObservation) -> Void
  /// Called when an observer ends with its item or its player.
  package typealias EndHandler = @Sendable () -> Void

  /// A pending call of an observer.
  package struct Call {
    package var token: ObserverToken
    package let handler: Handler
    package var time: MediaTime
    package var reason: TimeObservation.Reason
    package var isBackward = false
    /// The chapter that begins at `time`, for observers of chapters.
    package var chapter: PlayerChapter?
  }

  /// The position of the player. Boundaries before `time` have been passed and those after it are ahead; in reverse
  /// vice versa. A boundary at `time` has been passed if `isHeard`.
  package struct Position: Hashable {
    package var itemID: PlayerItemID
    package var time: MediaTime
    var isHeard = false
    package var isReverse = false

    package init(itemID: PlayerItemID, time: MediaTime, isHeard: Bool = false, isReverse: Bool = false) {
      self.itemID = itemID
      self.time = time
      self.isHeard = isHeard
      self.isReverse = isReverse
    }

    /// Whether a boundary exactly at `time` lies on the side of the earlier times.
    fileprivate var countsTimeAsBelow: Bool { isHeard != isReverse }

    /// Whether playback from here has reached `other`.
    fileprivate func reaches(_ other: MediaTime) -> Bool { isReverse ? time <= other : time >= other }
  }

  private enum Kind {
    case periodic(interval: MediaTime)
    case boundary(Boundaries, itemID: PlayerItemID?, includesSeeks: Bool)
  }

  /// The times of a boundary observer.
  private enum Boundaries {
    /// Ascending, without duplicates.
    case times([MediaTime])
    /// The starts of chapters of the current item.
    case chapters
  }

  private struct Observer {
    package var kind: Kind
    package let onEnd: EndHandler?
    package let handler: Handler
  }

  /// A future time of an observer.
  private struct DueTime: Comparable {
    package var time: MediaTime
    /// The sort key: `time`, or in reverse its negation.
    package var order: MediaTime
    package var token: ObserverToken
    /// The multiple for a periodic observer; the index in its list for a boundary observer.
    package var index: Int64

    package static func < (left: DueTime, right: DueTime) -> Bool {
      left.order == right.order ? left.token < right.token : left.order < right.order
    }
  }

  private var observers: [ObserverToken: Observer] = [:]
  /// The boundary observers by the item to which they are bound.
  private var boundTokens: [PlayerItemID: Set<ObserverToken>] = [:]
  private var heap = Heap<DueTime>()
  package private(set) var position: Position?
  /// The chapters of the current item, and of the item of `position`.
  private var chapters: [PlayerItemID: ChapterStarts] = [:]

  package var isEmpty: Bool { observers.isEmpty }

  /// The items to which observers are bound.
  package var boundItemIDs: Dictionary<PlayerItemID, Set<ObserverToken>>.Keys { boundTokens.keys }

  /// The number of times in the heap, including those of removed observers.
  var dueCount: Int { heap.count }

  /// The cost so far: times that were inserted into or removed from the heap, and observers that were visited.
  let steps = StepCounter()

  // MARK: - Observers

  /// Adds an observer of the multiples of `interval`, in every item.
  package mutating func addPeriodic(
    _ token: ObserverToken, interval: MediaTime, onEnd: EndHandler? = nil, _ handler: @escaping Handler
  ) {
    add(token, Observer(kind: .periodic(interval: interval), onEnd: onEnd, handler: handler))
  }

  /// Adds an observer of `times`, which must be ordered, in any item or in one only.
  package mutating func addBoundary(
    _ token: ObserverToken, times: BoundaryTimes, itemID: PlayerItemID?, includesSeeks: Bool = false,
    onEnd: EndHandler? = nil, _ handler: @escaping Handler
  ) {
    if let itemID { boundTokens[itemID, default: []].insert(token) }
    let kind = Kind.boundary(.times(times.ordered), itemID: itemID, includesSeeks: includesSeeks)
    add(token, Observer(kind: kind, onEnd: onEnd, handler: handler))
  }

  /// Adds an observer of `times`, which are ordered at once.
  package mutating func addBoundary(
    _ token: ObserverToken, times: [MediaTime], itemID: PlayerItemID?, includesSeeks: Bool = false,
    onEnd: EndHandler? = nil, _ handler: @escaping Handler
  ) {
    addBoundary(
      token, times: BoundaryTimes(times), itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
  }

  /// Adds an observer of the starts of chapters, of any item or of one only.
  package mutating func addChapters(
    _ token: ObserverToken, itemID: PlayerItemID?, includesSeeks: Bool, onEnd: EndHandler? = nil,
    _ handler: @escaping Handler
  ) {
    if let itemID { boundTokens[itemID, default: []].insert(token) }
    let kind = Kind.boundary(.chapters, itemID: itemID, includesSeeks: includesSeeks)
    add(token, Observer(kind: kind, onEnd: onEnd, handler: handler))
  }

  /// Sets the chapters of the current item. The chapters of the item of `position` stay until the player leaves it.
  package mutating func setChapters(_ starts: ChapterStarts, of itemID: PlayerItemID) {
    chapters = chapters.filter { $0.key == position?.itemID }
    let isKnown = chapters.updateValue(starts, forKey: itemID) != nil
    // Observers are scheduled once, when the chapters become known.
    guard !isKnown, !starts.times.isEmpty, let position, position.itemID == itemID else { return }
    steps.add(observers.count)
    for (token, observer) in observers {
      guard case .boundary(.chapters, _, _) = observer.kind else { continue }
      schedule(token, observer, from: position, includesPeriodic: false)
    }
  }

  private func times(of boundaries: Boundaries, in itemID: PlayerItemID) -> [MediaTime] {
    switch boundaries {
    case .times(let times): times
    case .chapters: chapters[itemID]?.times ?? []
    }
  }

  /// The chapter that begins at the time with that index.
  private func chapter(_ index: Int, of boundaries: Boundaries, in itemID: PlayerItemID) -> PlayerChapter? {
    guard case .chapters = boundaries else { return nil }
    return chapters[itemID]?.chapters[index]
  }

  /// Adds an observer. Only later times are due: a multiple at the current position is not.
  private mutating func add(_ token: ObserverToken, _ observer: Observer) {
    observers[token] = observer
    if let position { schedule(token, observer, from: position, includesPeriodic: false) }
  }

  /// Removes an observer. Returns false if there is none with that token.
  package mutating func remove(_ token: ObserverToken) -> Bool {
    guard let removed = observers.removeValue(forKey: token) else { return false }
    if case .boundary(_, let itemID?, _) = removed.kind {
      boundTokens[itemID]?.remove(token)
      if boundTokens[itemID]?.isEmpty == true { boundTokens[itemID] = nil }
    }
    // Times of removed observers stay in the heap until they are due or are the majority.
    if heap.count > 2 * observers.count + 64 {
      steps.add(heap.count)
      heap = Heap(heap.unordered.filter { observers[$0.token] != nil })
    }
    return true
  }

  /// Removes the observers that are bound to an item. Returns their end handlers, in the order in which they were
  /// added.
  package mutating func removeObservers(boundTo itemID: PlayerItemID) -> [EndHandler] {
    guard let tokens = boundTokens[itemID] else { return [] }
    return removeAll(tokens.sorted())
  }

  /// Removes all observers. Returns their end handlers, in the order in which they were added.
  package mutating func removeAll() -> [EndHandler] { removeAll(observers.keys.sorted()) }

  private mutating func removeAll(_ tokens: [ObserverToken]) -> [EndHandler] {
    tokens.compactMap { token in
      let onEnd = observers[token]?.onEnd
      _ = remove(token)
      return onEnd
    }
  }

  package func contains(_ token: ObserverToken) -> Bool { observers[token] != nil }

  /// Returns calls of all periodic observers, in the order in which they were added: for jumps, starts and stops.
  package mutating func periodicCalls(_ reason: TimeObservation.Reason, at time: MediaTime) -> [Call] {
    steps.add(observers.count)
    return observers.sorted { $0.key < $1.key }.compactMap { token, observer in
      guard case .periodic = observer.kind else { return nil }
      return Call(token: token, handler: observer.handler, time: time, reason: reason)
    }
  }

  // MARK: - The position

  /// Begins a new pass of the item at `time`, of which nothing has been heard. All boundaries from `time` on are ahead,
  /// and no boundary has been passed. With `includesPeriodic`, a multiple at `time` is also due.
  package mutating func visit(
    _ itemID: PlayerItemID, at time: MediaTime, includesPeriodic: Bool, isReverse: Bool = false
  ) {
    position = Position(itemID: itemID, time: time, isReverse: isReverse)
    scheduleAll(includesPeriodic: includesPeriodic)
  }

  /// Changes the direction after playback up to `time`: the boundary that was reached last is the first to be crossed
  /// again.
  package mutating func changeDirection(at time: MediaTime, isReverse: Bool) {
    move(to: time)
    guard var position, position.isReverse != isReverse else { return }
    position.isReverse = isReverse
    // The position stays on the same side of a boundary at this time.
    position.isHeard.toggle()
    self.position = position
    scheduleAll(includesPeriodic: false)
  }

  /// Handles a seek to `time` of the item. Returns the calls for the skipped boundaries, for observers that include
  /// seeks, in the order in which the seek passes them. If the player was not in that item, the seek counts from the
  /// item's beginning.
  package mutating func jump(in itemID: PlayerItemID, to time: MediaTime, isReverse: Bool = false) -> [Call] {
    let origin = position.flatMap { $0.itemID == itemID ? $0 : nil } ?? Position(itemID: itemID, time: .zero)
    let target = Position(itemID: itemID, time: time, isReverse: isReverse)
    position = target
    scheduleAll(includesPeriodic: false)
    let isBackward = target.time < origin.time || target.time == origin.time && origin.countsTimeAsBelow
    var calls: [Call] = []
    steps.add(observers.count)
    for (token, observer) in observers {
      guard case .boundary(let boundaries, let onlyItem, true) = observer.kind, onlyItem ?? itemID == itemID else {
        continue
      }
      let times = times(of: boundaries, in: itemID)
      let (from, to) = (Self.countBelow(origin, in: times), Self.countBelow(target, in: times))
      for index in min(from, to)..<max(from, to) {
        calls.append(
          Call(
            token: token, handler: observer.handler, time: times[index], reason: .skipped, isBackward: isBackward,
            chapter: chapter(index, of: boundaries, in: itemID)))
      }
    }
    return calls.sorted { left, right in
      if left.time == right.time { return left.token < right.token }
      return (left.time < right.time) != isBackward
    }
  }

  /// Leaves the item; there is no position.
  package mutating func leave() {
    position = nil
    heap = Heap()
  }

  /// Records that playback reached `time`, at which no observer was due.
  package mutating func move(to time: MediaTime) {
    guard var moved = position, time != moved.time, !moved.reaches(time) else { return }
    moved.time = time
    moved.isHeard = true
    position = moved
  }

  // MARK: - Times

  /// Returns the next time at which an observer is due.
  mutating func nextTime() -> MediaTime? {
    while let due = heap.min {
      if observers[due.token] != nil { return due.time }
      removeNext()
    }
    return nil
  }

  /// Handles playback up to `time`: returns the calls that are due, in order, and schedules the next time of each
  /// observer. If several multiples of an interval are due because the item omits a time range, only the first one is
  /// reported.
  package mutating func popCalls(through time: MediaTime) -> [Call] {
    guard var reached = position else { return [] }
    if !reached.reaches(time) { reached.time = time }
    reached.isHeard = true
    position = reached
    let limit = reached.isReverse ? -time : time
    var calls: [Call] = []
    while let due = heap.min, due.order <= limit {
      removeNext()
      guard let observer = observers[due.token] else { continue }
      switch observer.kind {
      case .periodic(let interval):
        calls.append(Call(token: due.token, handler: observer.handler, time: due.time, reason: .periodic))
        let next =
          due.time == time
          ? due.index + (reached.isReverse ? -1 : 1)
          : Self.multiple(of: interval, from: time, isReverse: reached.isReverse, isIncluded: false)
        if let next { insert(due.token, interval: interval, multiple: next) }
      case .boundary(let boundaries, _, _):
        calls.append(
          Call(
            token: due.token, handler: observer.handler, time: due.time, reason: .crossed,
            chapter: chapter(Int(due.index), of: boundaries, in: reached.itemID)))
        insert(
          due.token, times: times(of: boundaries, in: reached.itemID),
          index: Int(due.index) + (reached.isReverse ? -1 : 1))
      }
    }
    return calls
  }

  // MARK: - Scheduling

  private mutating func scheduleAll(includesPeriodic: Bool) {
    heap = Heap()
    guard let position else { return }
    steps.add(observers.count)
    for (token, observer) in observers { schedule(token, observer, from: position, includesPeriodic: includesPeriodic) }
  }

  private mutating func schedule(
    _ token: ObserverToken, _ observer: Observer, from position: Position, includesPeriodic: Bool
  ) {
    switch observer.kind {
    case .periodic(let interval):
      guard
        let multiple = Self.multiple(
          of: interval, from: position.time, isReverse: position.isReverse, isIncluded: includesPeriodic)
      else { return }
      insert(token, interval: interval, multiple: multiple)
    case .boundary(let boundaries, let onlyItem, _):
      guard onlyItem ?? position.itemID == position.itemID else { return }
      let times = times(of: boundaries, in: position.itemID)
      insert(token, times: times, index: Self.countBelow(position, in: times) - (position.isReverse ? 1 : 0))
    }
  }

  private mutating func insert(_ token: ObserverToken, times: [MediaTime], index: Int) {
    if times.indices.contains(index) { insert(token, time: times[index], index: Int64(index)) }
  }

  private mutating func insert(_ token: ObserverToken, interval: MediaTime, multiple: Int64) {
    let (value, overflow) = interval.value.multipliedReportingOverflow(by: multiple)
    guard !overflow else { return }
    insert(token, time: MediaTime(value: value, timescale: interval.timescale), index: multiple)
  }

  private mutating func removeNext() {
    steps.add(1)
    heap.removeMin()
  }

  private mutating func insert(_ token: ObserverToken, time: MediaTime, index: Int64) {
    steps.add(1)
    heap.insert(DueTime(time: time, order: position?.isReverse == true ? -time : time, token: token, index: index))
  }

  /// The number of the ascending `times` on the earlier side of `position`.
  private static func countBelow(_ position: Position, in times: [MediaTime]) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      let isTimeAbove = position.countsTimeAsBelow ? times[middle] > position.time : times[middle] >= position.time
      if isTimeAbove { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The first multiple of `interval` after `time`, or before it in reverse. With `isIncluded` also at it.
  private static func multiple(
    of interval: MediaTime, from time: MediaTime, isReverse: Bool, isIncluded: Bool
  ) -> Int64? {
    guard time.isNumeric else { return nil }
    let numerator = Int128(time.value) * Int128(interval.timescale)
    let denominator = Int128(time.timescale) * Int128(interval.value)
    let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
    let floor = remainder < 0 ? quotient - 1 : quotient
    if remainder == 0, isIncluded { return Int64(exactly: floor) }
    if isReverse { return Int64(exactly: remainder == 0 ? floor - 1 : floor) }
    return Int64(exactly: floor + 1)
  }
}
