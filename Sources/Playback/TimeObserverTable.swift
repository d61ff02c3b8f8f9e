import HeapModule
import MediaCore

/// Periodic and boundary observers of one player, in the order in which their times come.
///
/// Times are item times: the table knows nothing of output frames. It has a *place*: an item, a time in it, and whether
/// the sample there has been heard. Playing moves the place forward, a jump puts it elsewhere, and a boundary is passed
/// exactly when the place comes from one of its sides to the other: *crossed* by playing, *skipped* by a jump. Who plays
/// has crossed a boundary once its time is reached; who jumps to a boundary stands in front of it until its sample is
/// heard. So every pass is exactly one of the two. Backwards all that is the same, seen from the other side.
///
/// A visit or a jump costs a look at each observer; every call between them costs what a heap costs, however many there
/// are.
///
/// A pure value.
struct TimeObserverTable {
  typealias Handler = @Sendable (TimeObservation) -> Void
  /// Called when an observer ends with its item or its player.
  typealias EndHandler = @Sendable () -> Void

  /// Somebody is to be told something.
  struct Call {
    var token: ObserverToken
    let handler: Handler
    var time: MediaTime
    var reason: TimeObservation.Reason
    var isBackward = false
    /// The one whose start `time` is, for who observes chapters.
    var chapter: PlayerChapter?
  }

  /// Where the player stands. Boundaries before `time` lie behind it, those after it ahead, or backwards the other way
  /// round; one at `time` itself is behind it if `isHeard`.
  struct Place: Hashable {
    var itemID: PlayerItem.ID
    var time: MediaTime
    var isHeard = false
    var isReverse = false

    /// Whether a boundary at `time` itself lies on the side of the earlier ones.
    fileprivate var isAbove: Bool { isHeard != isReverse }

    /// Whether the player has come to `other`, playing.
    fileprivate func reaches(_ other: MediaTime) -> Bool { isReverse ? time <= other : time >= other }
  }

  private enum Kind {
    case periodic(interval: MediaTime)
    case boundary(Boundaries, itemID: PlayerItem.ID?, includesSeeks: Bool)
  }

  /// The times of a boundary observer.
  private enum Boundaries {
    /// Ascending, without duplicates.
    case times([MediaTime])
    /// Where the chapters of an item begin, whichever it is in.
    case chapters
  }

  private struct Observer {
    var kind: Kind
    let onEnd: EndHandler?
    let handler: Handler
  }

  /// A time that is to come.
  private struct Due: Comparable {
    var time: MediaTime
    /// What it is sorted by: `time`, or backwards what grows then.
    var order: MediaTime
    var token: ObserverToken
    /// Periodic: the multiple; boundary: the index in its list.
    var index: Int64

    static func < (left: Due, right: Due) -> Bool {
      left.order == right.order ? left.token < right.token : left.order < right.order
    }
  }

  private var observers: [ObserverToken: Observer] = [:]
  /// Boundary observers by the item that they are bound to.
  private var bound: [PlayerItem.ID: Set<ObserverToken>] = [:]
  private var heap = Heap<Due>()
  private(set) var place: Place?
  /// Those of the current item, and of the one that `place` is in.
  private var chapters: [PlayerItem.ID: ChapterStarts] = [:]

  var isEmpty: Bool { observers.isEmpty }

  /// The items that observers are bound to.
  var boundItemIDs: Dictionary<PlayerItem.ID, Set<ObserverToken>>.Keys { bound.keys }

  /// Times kept, those of removed observers included.
  var dueCount: Int { heap.count }

  /// What all that was done so far has cost: times put into their order or taken out of it, and observers looked at.
  private(set) var stepCount = 0

  // MARK: - Observers

  mutating func addPeriodic(
    _ token: ObserverToken, interval: MediaTime, onEnd: EndHandler? = nil, _ handler: @escaping Handler
  ) {
    add(token, Observer(kind: .periodic(interval: interval), onEnd: onEnd, handler: handler))
  }

  mutating func addBoundary(
    _ token: ObserverToken, times: BoundaryTimes, itemID: PlayerItem.ID?, includesSeeks: Bool = false,
    onEnd: EndHandler? = nil, _ handler: @escaping Handler
  ) {
    if let itemID { bound[itemID, default: []].insert(token) }
    let kind = Kind.boundary(.times(times.ordered), itemID: itemID, includesSeeks: includesSeeks)
    add(token, Observer(kind: kind, onEnd: onEnd, handler: handler))
  }

  mutating func addBoundary(
    _ token: ObserverToken, times: [MediaTime], itemID: PlayerItem.ID?, includesSeeks: Bool = false,
    onEnd: EndHandler? = nil, _ handler: @escaping Handler
  ) {
    addBoundary(
      token, times: BoundaryTimes(times), itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
  }

  /// The same for the start of each chapter of whichever item it is, or of one only.
  mutating func addChapters(
    _ token: ObserverToken, itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: EndHandler? = nil,
    _ handler: @escaping Handler
  ) {
    if let itemID { bound[itemID, default: []].insert(token) }
    let kind = Kind.boundary(.chapters, itemID: itemID, includesSeeks: includesSeeks)
    add(token, Observer(kind: kind, onEnd: onEnd, handler: handler))
  }

  /// The current item has these chapters. Those of the item that the player still is in stay known until it is elsewhere.
  mutating func setChapters(_ starts: ChapterStarts, of itemID: PlayerItem.ID) {
    chapters = chapters.filter { $0.key == place?.itemID }
    let isKnown = chapters.updateValue(starts, forKey: itemID) != nil
    // What nothing was known of, nothing was scheduled of.
    guard !isKnown, !starts.times.isEmpty, let place, place.itemID == itemID else { return }
    stepCount += observers.count
    for (token, observer) in observers {
      guard case .boundary(.chapters, _, _) = observer.kind else { continue }
      schedule(token, observer, from: place, includesPeriodic: false)
    }
  }

  private func times(of boundaries: Boundaries, in itemID: PlayerItem.ID) -> [MediaTime] {
    switch boundaries {
    case .times(let times): times
    case .chapters: chapters[itemID]?.times ?? []
    }
  }

  /// The chapter that begins at the time of that index.
  private func chapter(_ index: Int, of boundaries: Boundaries, in itemID: PlayerItem.ID) -> PlayerChapter? {
    guard case .chapters = boundaries else { return nil }
    return chapters[itemID]?.chapters[index]
  }

  /// What an observer is told begins with what comes after its adding: a multiple at the very place is not due.
  private mutating func add(_ token: ObserverToken, _ observer: Observer) {
    observers[token] = observer
    if let place { schedule(token, observer, from: place, includesPeriodic: false) }
  }

  /// False when there is none of that token.
  mutating func remove(_ token: ObserverToken) -> Bool {
    guard let removed = observers.removeValue(forKey: token) else { return false }
    if case .boundary(_, let itemID?, _) = removed.kind {
      bound[itemID]?.remove(token)
      if bound[itemID]?.isEmpty == true { bound[itemID] = nil }
    }
    // What is left of removed observers goes when its time comes, or when it is the greater part.
    if heap.count > 2 * observers.count + 64 {
      stepCount += heap.count
      heap = Heap(heap.unordered.filter { observers[$0.token] != nil })
    }
    return true
  }

  /// Removes the observers that are bound to an item. Returns their end handlers, in the order of adding.
  mutating func removeObservers(boundTo itemID: PlayerItem.ID) -> [EndHandler] {
    guard let tokens = bound[itemID] else { return [] }
    return removeAll(tokens.sorted())
  }

  /// Removes all observers. Returns their end handlers, in the order of adding.
  mutating func removeAll() -> [EndHandler] { removeAll(observers.keys.sorted()) }

  private mutating func removeAll(_ tokens: [ObserverToken]) -> [EndHandler] {
    tokens.compactMap { token in
      let onEnd = observers[token]?.onEnd
      _ = remove(token)
      return onEnd
    }
  }

  func contains(_ token: ObserverToken) -> Bool { observers[token] != nil }

  /// Calls of all periodic observers, in the order in which they were added: for jumps, starts and stops.
  mutating func periodicCalls(_ reason: TimeObservation.Reason, at time: MediaTime) -> [Call] {
    stepCount += observers.count
    return observers.sorted { $0.key < $1.key }.compactMap { token, observer in
      guard case .periodic = observer.kind else { return nil }
      return Call(token: token, handler: observer.handler, time: time, reason: reason)
    }
  }

  // MARK: - The place

  /// The player comes to `time` of the item, and nothing of it has been heard: a new pass begins, all boundaries from
  /// `time` on lie ahead, and no boundary was passed. `includesPeriodic`: a multiple at `time` itself is due, too.
  mutating func visit(
    _ itemID: PlayerItem.ID, at time: MediaTime, includesPeriodic: Bool, isReverse: Bool = false
  ) {
    place = Place(itemID: itemID, time: time, isReverse: isReverse)
    scheduleAll(includesPeriodic: includesPeriodic)
  }

  /// Having been played up to `time` the item goes on the other way: what was reached last is the first to be crossed again.
  mutating func turn(at time: MediaTime, isReverse: Bool) {
    move(to: time)
    guard var place, place.isReverse != isReverse else { return }
    place.isReverse = isReverse
    // On the same side of a boundary there as before.
    place.isHeard.toggle()
    self.place = place
    scheduleAll(includesPeriodic: false)
  }

  /// A seek put the player to `time` of the item. Answers the boundaries that it went over, for those who include seeks:
  /// in the order in which they lie on the way. A player that was not in that item comes from its beginning.
  mutating func jump(in itemID: PlayerItem.ID, to time: MediaTime, isReverse: Bool = false) -> [Call] {
    let origin = place.flatMap { $0.itemID == itemID ? $0 : nil } ?? Place(itemID: itemID, time: .zero)
    let target = Place(itemID: itemID, time: time, isReverse: isReverse)
    place = target
    scheduleAll(includesPeriodic: false)
    let isBackward = target.time < origin.time || target.time == origin.time && origin.isAbove
    var calls: [Call] = []
    stepCount += observers.count
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

  /// There is no item to be in.
  mutating func leave() {
    place = nil
    heap = Heap()
  }

  /// What was not due has been played up to `time`.
  mutating func move(to time: MediaTime) {
    guard var moved = place, time != moved.time, !moved.reaches(time) else { return }
    moved.time = time
    moved.isHeard = true
    place = moved
  }

  // MARK: - Times

  /// The next time at which an observer is due.
  mutating func nextTime() -> MediaTime? {
    while let due = heap.min {
      if observers[due.token] != nil { return due.time }
      removeNext()
    }
    return nil
  }

  /// `time` was reached by playing: answers who is due up to it, in order, and schedules each for its next time. Of an
  /// interval's multiples that came all at once, because the item leaves time out, the first one is told.
  mutating func take(through time: MediaTime) -> [Call] {
    guard var reached = place else { return [] }
    if !reached.reaches(time) { reached.time = time }
    reached.isHeard = true
    place = reached
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
    guard let place else { return }
    stepCount += observers.count
    for (token, observer) in observers { schedule(token, observer, from: place, includesPeriodic: includesPeriodic) }
  }

  private mutating func schedule(
    _ token: ObserverToken, _ observer: Observer, from place: Place, includesPeriodic: Bool
  ) {
    switch observer.kind {
    case .periodic(let interval):
      guard
        let multiple = Self.multiple(
          of: interval, from: place.time, isReverse: place.isReverse, isIncluded: includesPeriodic)
      else { return }
      insert(token, interval: interval, multiple: multiple)
    case .boundary(let boundaries, let onlyItem, _):
      guard onlyItem ?? place.itemID == place.itemID else { return }
      let times = times(of: boundaries, in: place.itemID)
      insert(token, times: times, index: Self.countBelow(place, in: times) - (place.isReverse ? 1 : 0))
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
    stepCount += 1
    heap.removeMin()
  }

  private mutating func insert(_ token: ObserverToken, time: MediaTime, index: Int64) {
    stepCount += 1
    heap.insert(Due(time: time, order: place?.isReverse == true ? -time : time, token: token, index: index))
  }

  /// How many of the ascending `times` lie on the earlier side of `place`.
  private static func countBelow(_ place: Place, in times: [MediaTime]) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      let isAbove = place.isAbove ? times[middle] > place.time : times[middle] >= place.time
      if isAbove { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The first multiple of `interval` after `time`, backwards before it, or at it.
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
