import PlayheadMediaCore
import PlayheadPlayerModel

/// Changes of the state, and events.
extension PlayerCore {
  // MARK: - State

  /// Reports the changes of the state since the last call, if there are any.
  func publish(_ cause: ChangeCause) {
    for feature in features { feature.stateWillPublish() }
    let former = calls.publishedState
    var new = state
    let anchor = new.timebaseRate == former.timebaseRate ? nil : timebaseAnchor
    if let anchor { new.timebaseRate = anchor.rate }
    if new != former {
      // If only the audible rate changed, a requested rate is heard now. The cause is that request, not the input that
      // detected the change.
      calls.addChange(new, cause: isOnlyTimebaseRateChange(new) ? .request : cause, timebaseAnchor: anchor)
    }
    calls.deliver()
  }

  private func isOnlyTimebaseRateChange(_ new: PlayerState) -> Bool {
    var expected = calls.publishedState
    guard expected.timebaseRate != 0, new.timebaseRate != 0 else { return false }
    expected.timebaseRate = new.timebaseRate
    return expected == new
  }

  // MARK: - Events

  func send(_ event: PlayerEvent) { calls.send(event) }

  /// Sends the event for an emission of the machine, with the item time.
  func emit(_ emission: Machine.Emission) {
    switch emission {
    case .playedToEnd(let id):
      let time = endTime(of: id)
      if let item = items[id] { persistence.playedToEnd(item, at: time) }
      send(.playedToEnd(id, time))
    case .failedToPlayToEnd(let id, let error): send(.failedToPlayToEnd(id, endTime(of: id), error))
    case .failedWhilePlaying(let id, let error): retries.itemFailed(id, error)
    case .stalled(let id):
      stalls.begin(of: id)
      send(.stalled(id, stallTime(of: id)))
    case .itemFailed(let id, let error): send(.itemFailed(id, error))
    case .itemSkipped(let id, let error): send(.itemSkipped(id, error))
    case .transition(_, let next):
      chain.beginTransition(to: next, outputFrame: milestones.processedFrame)
    }
  }

  /// The item time of the underrun.
  private func stallTime(of id: PlayerItem.ID) -> MediaTime {
    stalls.underrun.flatMap { timeline.time(of: id, streamID: $0.streamID, endingAt: $0.frame) } ?? currentTime()
  }

  /// The item time of the end that is being reported.
  func endTime(of id: PlayerItem.ID) -> MediaTime {
    chain.reportedEnd.flatMap { timeline.time(of: id, streamID: $0.streamID, endingAt: $0.streamFrame) }
      ?? items[id]?.duration ?? .indefinite
  }
}
