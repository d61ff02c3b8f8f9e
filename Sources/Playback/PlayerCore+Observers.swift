import MediaCore

/// Those who watch a player: state, events, times.
extension PlayerCore {
  // MARK: - State

  /// Tells what changed since the last call, if anything did.
  func publish(_ cause: ChangeCause) {
    changeObserver?([])
    let new = state
    if new != publishedState {
      deliveries.append(
        Delivery(
          .change(PlayerChange(old: publishedState, new: new, cause: isRateFollowing(new) ? .request : cause)),
          newestToken: newestToken))
      publishedState = new
    }
    deliver()
  }

  /// Whether all that changed is that a rate that was asked for is heard: that was the cause, whenever it is found out.
  private func isRateFollowing(_ new: PlayerState) -> Bool {
    var followed = publishedState
    guard followed.timebaseRate != 0, new.timebaseRate != 0 else { return false }
    followed.timebaseRate = new.timebaseRate
    return followed == new
  }

  func addStateObserver(_ handler: @escaping @Sendable (PlayerChange) -> Void) -> ObserverToken {
    newestToken = engine.makeToken()
    stateObservers.append((newestToken, handler))
    return newestToken
  }

  func addEventObserver(_ handler: @escaping @Sendable (PlayerEvent) -> Void) -> ObserverToken {
    newestToken = engine.makeToken()
    eventObservers.append((newestToken, handler))
    return newestToken
  }

  /// False when there is none.
  @discardableResult
  func removeObserver(_ token: ObserverToken) -> Bool {
    let count = stateObservers.count + eventObservers.count
    stateObservers.removeAll { $0.token == token }
    eventObservers.removeAll { $0.token == token }
    streamEnds[token] = nil
    guard stateObservers.count + eventObservers.count < count else { return false }
    if isDelivering { removedTokens.insert(token) }
    return true
  }

  /// Calls `end` when the player is closed before the observer is removed; at once when it is closed already.
  func endStream(of token: ObserverToken, _ end: @escaping @Sendable () -> Void) {
    if isClosed { return end() }
    streamEnds[token] = end
  }

  // MARK: - Telling

  /// One thing that somebody is to be told.
  struct Delivery {
    enum Content {
      case change(PlayerChange)
      case event(PlayerEvent)
      case time(ObserverToken, TimeObserverTable.Handler, TimeObservation)
      case meter(ObserverToken, MeterTable.Handler, MeterObservation)
      /// The end of a time observer.
      case end(TimeObserverTable.EndHandler)
      case completion(@Sendable (SeekResult) -> Void, SeekResult)
      /// What came of a preroll.
      case preroll(@Sendable (Bool) -> Void, Bool)
    }

    var content: Content
    /// Observers that were added later know it already.
    var newestToken: ObserverToken
    /// When what is told of was heard; nil where nothing was due.
    var heardAt: HostTime?

    init(_ content: Content, newestToken: ObserverToken, heardAt: HostTime? = nil) {
      self.content = content
      self.newestToken = newestToken
      self.heardAt = heardAt
    }
  }

  func enqueue(_ content: Delivery.Content, heardAt: HostTime? = nil) {
    deliveries.append(Delivery(content, newestToken: newestToken, heardAt: heardAt))
    deliver()
  }

  /// Tells what waits, in order. Who is told may call back: what that causes is told afterwards, to everybody.
  func deliver() {
    guard !isDelivering, !isRunningActions else { return }
    isDelivering = true
    while let delivery = deliveries.popFirst() {
      switch delivery.content {
      case .change(let change):
        for observer in stateObservers where isDue(observer.token, delivery) { observer.handler(change) }
      case .event(let event):
        for observer in eventObservers where isDue(observer.token, delivery) { observer.handler(event) }
      case .time(let token, let handler, var observation):
        guard observers.table.contains(token) else { break }
        observation.lateNanoseconds = lateness(of: delivery)
        handler(observation)
      case .meter(let token, let handler, var observation):
        guard meters.observers.contains(where: { $0.token == token }) else { break }
        observation.lateNanoseconds = lateness(of: delivery)
        handler(observation)
      case .end(let handler): handler()
      case .completion(let completion, let result): completion(result)
      case .preroll(let completion, let isReady): completion(isReady)
      }
    }
    isDelivering = false
    removedTokens = []
  }

  /// How long ago what is told of was heard. Counted when it is told: who is told something else before may take long.
  private func lateness(of delivery: Delivery) -> Int64 {
    delivery.heardAt.map { max(0, engine.loop.now.nanoseconds(since: $0)) } ?? 0
  }

  private func isDue(_ token: ObserverToken, _ delivery: Delivery) -> Bool {
    token <= delivery.newestToken && !removedTokens.contains(token) && !isClosed
  }

  // MARK: - Events

  func send(_ event: PlayerEvent) { enqueue(.event(event)) }

  /// Adds the time to what the machine says.
  func emit(_ emission: Machine.Emission) {
    switch emission {
    case .playedToEnd(let id):
      let time = endTime(of: id)
      if let item = items[id], !machine.decodedSpeed.isReverse { placeObserver?(item, time, true) }
      send(.playedToEnd(id, time))
    case .failedToPlayToEnd(let id, let error): send(.failedToPlayToEnd(id, endTime(of: id), error))
    case .stalled(let id):
      noteStall(of: id)
      send(.stalled(id, stallTime(of: id)))
    case .itemFailed(let id, let error): send(.itemFailed(id, error))
    case .itemSkipped(let id, let error): send(.itemSkipped(id, error))
    case .seam(_, let next):
      guard let end = toldEnd else { break }
      seam = OpenSeam(end: end, toItemID: next, outputFrame: processedFrame)
    }
  }

  /// The time at which samples of the item ran out.
  private func stallTime(of id: PlayerItem.ID) -> MediaTime {
    starvedPlace.flatMap { timeline.time(of: id, streamID: $0.streamID, endingAt: $0.frame) } ?? currentTime()
  }

  /// The time at which the item's sound ended, which is the end that is being told.
  private func endTime(of id: PlayerItem.ID) -> MediaTime {
    toldEnd.flatMap { timeline.time(of: id, streamID: $0.streamID, endingAt: $0.streamFrame) } ?? items[id]?.duration
      ?? .indefinite
  }

  // MARK: - Times

  func addPeriodicTimeObserver(
    interval: MediaTime, onEnd: TimeObserverTable.EndHandler? = nil, _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    guard interval.isNumeric, interval >= MediaTime(value: 1, timescale: 1_000) else {
      throw MediaError(.invalidTime, "an interval is 1 ms or more, not \(interval) s", operation: "tick")
    }
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "tick") }
    let token = engine.makeToken()
    movePlace()
    observers.table.addPeriodic(token, interval: interval, onEnd: onEnd, handler)
    aimTimer()
    return token
  }

  func addBoundaryTimeObserver(
    times: BoundaryTimes, itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: TimeObserverTable.EndHandler? = nil,
    _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    // Times that are no numbers are first or last in their order.
    guard let first = times.ordered.first, let last = times.ordered.last else {
      throw MediaError(.invalidArgument, "a boundary observer needs a time", operation: "at")
    }
    for time in [first, last] where !time.isNumeric {
      throw MediaError(.invalidTime, "a boundary is a time, not \(time)", operation: "at")
    }
    if let itemID, items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "at")
    }
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "at") }
    let token = engine.makeToken()
    movePlace()
    observers.table.addBoundary(
      token, times: times, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
    aimTimer()
    return token
  }

  func addChapterTimeObserver(
    itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: TimeObserverTable.EndHandler? = nil,
    _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    if let itemID, items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "at-chapters")
    }
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "at-chapters") }
    let token = engine.makeToken()
    movePlace()
    observers.table.addChapters(token, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
    aimTimer()
    return token
  }

  func removeTimeObserver(_ token: ObserverToken) throws(MediaError) {
    guard observers.table.remove(token) else {
      throw MediaError(.noSuchObserver, "there is no observer \(token)", operation: "untick")
    }
  }

  /// What a new observer is told is counted from where playback is, not from the last time that somebody was told.
  func movePlace() {
    guard let position, position.itemID == observers.table.place?.itemID else { return }
    observers.table.move(to: position.time)
  }
}
