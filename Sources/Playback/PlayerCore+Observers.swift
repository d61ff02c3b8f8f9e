import MediaCore

/// Those who watch a player: state, events, times.
extension PlayerCore {
  // MARK: - State

  /// Tells what changed since the last call, if anything did.
  func publish(_ cause: ChangeCause) {
    let new = state
    guard new != publishedState else { return }
    let change = PlayerChange(old: publishedState, new: new, cause: cause)
    publishedState = new
    for observer in stateObservers { observer.handler(change) }
  }

  func addStateObserver(_ handler: @escaping @Sendable (PlayerChange) -> Void) -> ObserverToken {
    let token = engine.makeToken()
    stateObservers.append((token, handler))
    return token
  }

  func addEventObserver(_ handler: @escaping @Sendable (PlayerEvent) -> Void) -> ObserverToken {
    let token = engine.makeToken()
    eventObservers.append((token, handler))
    return token
  }

  func removeObserver(_ token: ObserverToken) {
    stateObservers.removeAll { $0.token == token }
    eventObservers.removeAll { $0.token == token }
  }

  // MARK: - Events

  func send(_ event: PlayerEvent) { for observer in eventObservers { observer.handler(event) } }

  /// Adds the time to what the machine says.
  func emit(_ emission: Machine.Emission) {
    switch emission {
    case .playedToEnd(let id): send(.playedToEnd(id, endTime(of: id)))
    case .failedToPlayToEnd(let id, let error): send(.failedToPlayToEnd(id, endTime(of: id), error))
    case .stalled(let id): send(.stalled(id, currentTime()))
    case .itemFailed(let id, let error): send(.itemFailed(id, error))
    }
  }

  /// The time at which the item's sound ended, which is at the frame that is being processed.
  private func endTime(of id: PlayerItem.ID) -> MediaTime {
    timeline.time(of: id, endingAt: processedFrame) ?? items[id]?.duration ?? .indefinite
  }

  // MARK: - Times

  func addPeriodicTimeObserver(
    interval: MediaTime, _ handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    guard interval.isNumeric, interval > .zero else {
      throw MediaError(.invalidTime, "an interval is more than 0, not \(interval)", operation: "tick")
    }
    let token = engine.makeToken()
    updateAim()
    timeObservers.addPeriodic(token, interval: interval, handler)
    aimTimer()
    return token
  }

  func addBoundaryTimeObserver(
    times: [MediaTime], itemID: PlayerItem.ID?, _ handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    guard !times.isEmpty else {
      throw MediaError(.invalidArgument, "a boundary observer needs a time", operation: "at")
    }
    for time in times where !time.isNumeric {
      throw MediaError(.invalidTime, "a boundary is a time, not \(time)", operation: "at")
    }
    if let itemID, items[itemID] == nil {
      throw MediaError(.noSuchItem, "there is no item \(itemID) in the queue", operation: "at")
    }
    let token = engine.makeToken()
    updateAim()
    timeObservers.addBoundary(token, times: times, itemID: itemID, handler)
    aimTimer()
    return token
  }

  func removeTimeObserver(_ token: ObserverToken) throws(MediaError) {
    guard timeObservers.remove(token) else {
      throw MediaError(.noSuchObserver, "there is no observer \(token)", operation: "untick")
    }
  }

  /// A new observer is aimed from where playback is, not from the last time that somebody was told.
  private func updateAim() {
    guard let position, position.itemID == machine.entries.first?.id else { return }
    timeObservers.move(to: position.time)
  }
}
