import PlayheadMediaCore
import PlayheadPlayerModel

/// Observers of state, events and times.
extension PlayerCore {
  // MARK: - State

  /// Reports the changes of the state since the last call, if there are any.
  func publish(_ cause: ChangeCause) {
    changeObserver?([])
    completeFadeIfNotPlaying()
    var new = state
    let anchor = new.timebaseRate == publishedState.timebaseRate ? nil : timebaseAnchor
    if let anchor { new.timebaseRate = anchor.rate }
    if new != publishedState {
      deliveries.append(
        Delivery(
          .change(
            PlayerChange(
              old: publishedState, new: new, cause: isOnlyTimebaseRateChange(new) ? .request : cause,
              timebaseAnchor: anchor)),
          newestToken: newestToken))
      publishedState = new
    }
    deliver()
  }

  /// Whether only `timebaseRate` changed, because a requested rate is heard now. The cause of such a change is always
  /// the request, not the input that detected it.
  private func isOnlyTimebaseRateChange(_ new: PlayerState) -> Bool {
    var expected = publishedState
    guard expected.timebaseRate != 0, new.timebaseRate != 0 else { return false }
    expected.timebaseRate = new.timebaseRate
    return expected == new
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

  /// Removes a state or event observer. Returns false if there is no such observer.
  @discardableResult
  func removeObserver(_ token: ObserverToken) -> Bool {
    let count = stateObservers.count + eventObservers.count
    stateObservers.removeAll { $0.token == token }
    eventObservers.removeAll { $0.token == token }
    streamFinishers[token] = nil
    guard stateObservers.count + eventObservers.count < count else { return false }
    if isDelivering { removedTokens.insert(token) }
    return true
  }

  /// Calls `finish` when the player is closed before the observer is removed; at once if it is already closed.
  func addStreamFinisher(for token: ObserverToken, _ finish: @escaping @Sendable () -> Void) {
    if isClosed { return finish() }
    streamFinishers[token] = finish
  }

  // MARK: - Deliveries

  /// A pending call of an observer or a completion.
  struct Delivery {
    enum Content {
      case change(PlayerChange)
      case event(PlayerEvent)
      case time(ObserverToken, TimeObserverTable.Handler, TimeObservation)
      case meter(ObserverToken, MeterTable.Handler, MeterObservation)
      /// The end of a time observer.
      case end(TimeObserverTable.EndHandler)
      case completion(@Sendable (SeekResult) -> Void, SeekResult)
      /// The result of a preroll.
      case preroll(@Sendable (Bool) -> Void, Bool)
      case range(@Sendable (RangeOutcome) -> Void, RangeOutcome)
      case fade(@Sendable (FadeOutcome) -> Void, FadeOutcome)
    }

    var content: Content
    /// The newest observer when the delivery was enqueued. Later observers do not receive it, because their initial
    /// state includes its change.
    var newestToken: ObserverToken
    /// The time at which the reported sample was heard; nil if the call was not due at a sample.
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

  /// Makes the pending calls in order. A handler may call the player: resulting calls follow the pending ones, for all
  /// observers.
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
      case .range(let completion, let outcome): completion(outcome)
      case .fade(let completion, let outcome): completion(outcome)
      }
    }
    isDelivering = false
    removedTokens = []
  }

  /// How long ago the reported sample was heard. Measured at the call, because earlier handlers may take long.
  private func lateness(of delivery: Delivery) -> Int64 {
    delivery.heardAt.map { max(0, engine.loop.now.nanoseconds(since: $0)) } ?? 0
  }

  private func isDue(_ token: ObserverToken, _ delivery: Delivery) -> Bool {
    token <= delivery.newestToken && !removedTokens.contains(token) && !isClosed
  }

  // MARK: - Events

  func send(_ event: PlayerEvent) { enqueue(.event(event)) }

  /// Sends the event for an emission of the machine, with the item time.
  func emit(_ emission: Machine.Emission) {
    switch emission {
    case .playedToEnd(let id):
      let time = endTime(of: id)
      if let item = items[id], !machine.decodedRate.isReverse { positionObserver?(item, time, true) }
      send(.playedToEnd(id, time))
    case .failedToPlayToEnd(let id, let error): send(.failedToPlayToEnd(id, endTime(of: id), error))
    case .failedWhilePlaying(let id, let error): failedWhilePlaying(id, error)
    case .stalled(let id):
      beginStall(of: id)
      send(.stalled(id, stallTime(of: id)))
    case .itemFailed(let id, let error): send(.itemFailed(id, error))
    case .itemSkipped(let id, let error): send(.itemSkipped(id, error))
    case .transition(_, let next):
      chain.beginTransition(to: next, outputFrame: processedFrame)
    }
  }

  /// The item time of the underrun.
  private func stallTime(of id: PlayerItem.ID) -> MediaTime {
    underrunPosition.flatMap { timeline.time(of: id, streamID: $0.streamID, endingAt: $0.frame) } ?? currentTime()
  }

  /// The item time of the end that is being reported.
  func endTime(of id: PlayerItem.ID) -> MediaTime {
    chain.reportedEnd.flatMap { timeline.time(of: id, streamID: $0.streamID, endingAt: $0.streamFrame) }
      ?? items[id]?.duration ?? .indefinite
  }

  // MARK: - Times

  func addPeriodicTimeObserver(
    interval: MediaTime, onEnd: TimeObserverTable.EndHandler? = nil, _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    guard interval.isNumeric, interval >= MediaTime(value: 1, timescale: 1_000) else {
      throw MediaError(
        .invalidTime, "interval must be at least 1 ms (got \(interval) s)", operation: "addPeriodicTimeObserver")
    }
    try checkOpen("addPeriodicTimeObserver")
    let token = engine.makeToken()
    updateObserverPosition()
    observers.table.addPeriodic(token, interval: interval, onEnd: onEnd, handler)
    scheduleNextMilestone()
    return token
  }

  func addBoundaryTimeObserver(
    times: BoundaryTimes, itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: TimeObserverTable.EndHandler? = nil,
    _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    // Non-numeric times are sorted to both ends, so checking the first and the last time is enough.
    guard let first = times.ordered.first, let last = times.ordered.last else {
      throw MediaError(
        .invalidArgument, "a boundary observer needs at least one time", operation: "addBoundaryTimeObserver")
    }
    for time in [first, last] where !time.isNumeric {
      throw MediaError(
        .invalidTime, "boundary times must be numeric (got \(time))", operation: "addBoundaryTimeObserver")
    }
    if let itemID, items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "addBoundaryTimeObserver")
    }
    try checkOpen("addBoundaryTimeObserver")
    let token = engine.makeToken()
    updateObserverPosition()
    observers.table.addBoundary(
      token, times: times, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
    scheduleNextMilestone()
    return token
  }

  func addChapterTimeObserver(
    itemID: PlayerItem.ID?, includesSeeks: Bool, onEnd: TimeObserverTable.EndHandler? = nil,
    _ handler: @escaping TimeObserverTable.Handler
  ) throws(MediaError) -> ObserverToken {
    if let itemID, items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "addChapterTimeObserver")
    }
    try checkOpen("addChapterTimeObserver")
    let token = engine.makeToken()
    updateObserverPosition()
    observers.table.addChapters(token, itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
    scheduleNextMilestone()
    return token
  }

  func removeTimeObserver(_ token: ObserverToken) throws(MediaError) {
    guard observers.table.remove(token) else {
      throw MediaError(.noSuchObserver, "unknown observer \(token)", operation: "removeTimeObserver")
    }
  }

  /// Updates the observers' position to the current one, so that a new observer is not called for times before it.
  func updateObserverPosition() {
    guard let position, position.itemID == observers.table.position?.itemID else { return }
    observers.table.move(to: position.time)
  }
}
