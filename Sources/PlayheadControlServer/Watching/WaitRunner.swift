import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol

/// Runs one `wait`: passes the player's changes to a `WaitStateMachine`, and replies to the request. A boundary time
/// observer reports the requested times, so nothing polls.
///
/// Threading: confined to the control loop.
final class WaitRunner: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which the observers that capture it are called.
  private let target: NamedPlayer
  private let loop: any ControlLoop
  private let request: WaitingRequest<WaitCommand>
  private var machine: WaitStateMachine
  private var tokens: [ObserverToken] = []
  private var boundaryToken: ObserverToken?
  private var silenceToken: ObserverToken?
  private var timer: (any ControlTimer)?
  private var closeHandlerID: UInt64?
  private var isFinished = false

  init(
    _ conditions: [WaitCondition], on target: NamedPlayer, loop: any ControlLoop,
    request: WaitingRequest<WaitCommand>
  ) {
    self.target = target
    self.loop = loop
    self.request = request
    machine = WaitStateMachine(conditions)
  }

  /// Replies immediately if all conditions are true, if one can no longer become true, or if the timeout is not
  /// positive. Otherwise starts to wait. A timeout of nil means no limit.
  ///
  /// - Throws: The errors of adding the observers.
  func start(timeout: MediaTime?) throws(MediaError) {
    evaluate()
    guard !isFinished else { return }
    let timeoutNanoseconds = timeout.flatMap(\.wholeNanoseconds)
    if let timeout, let timeoutNanoseconds, timeoutNanoseconds <= 0 {
      // A timeout of zero only checks the current state, which needs no timer.
      return request.fail(Self.timeoutError(timeout))
    }
    request.onEnd { self.stop() }
    tokens = target.player.onLoop { player in
      [
        player.addStateObserver { _ in self.evaluate() },
        player.addEventObserver { self.handle($0) },
      ]
    }
    closeHandlerID = target.addCloseHandler { [self] in
      request.fail(MediaError(.waitEnded, "the player \(target.name) was closed"))
    }
    let times = machine.targetTimes
    if !times.isEmpty {
      boundaryToken = try target.player.tryOnLoop { player throws(MediaError) in
        try player.addBoundaryTimeObserver(forTimes: times) { observation in
          guard observation.reason == .crossed else { return }
          self.machine.crossed(observation.time, in: observation.itemID, isReverse: observation.rate < 0)
          self.evaluate()
        }
      }
      // Checks again, because the observer does not report a crossing between the first check and its start.
      evaluate()
      guard !isFinished else { return }
    }
    if let duration = machine.silenceDuration {
      silenceToken = try target.player.tryOnLoop { player throws(MediaError) in
        try player.addSilenceObserver(lasting: duration, threshold: player.silenceDetection.threshold) { silence in
          self.machine.silenceChanged(isSilent: silence.phase == .began)
          self.evaluate()
        }
      }
    }
    guard let timeout, let timeoutNanoseconds else { return }
    timer = loop.schedule(at: loop.now.advanced(byNanoseconds: timeoutNanoseconds)) { [weak self] in
      self?.request.fail(Self.timeoutError(timeout))
    }
  }

  private static func timeoutError(_ timeout: MediaTime) -> MediaError {
    MediaError(.timedOut, "not within \(timeout.decimalDescription) seconds")
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    case .timeJumped:
      machine.timeJumped()
      evaluate()
    case .itemChanged, .playedToEnd, .itemFailed, .transition: evaluate()
    case .failedToPlayToEnd, .itemSkipped, .stalled, .packetsSkipped, .newErrorLogEntry, .newAccessLogEntry,
      .streamTitle, .timedMetadata, .mediaSelectionChanged, .chapterChanged, .silence:
      return
    }
  }

  private func evaluate() {
    guard !isFinished else { return }
    let (state, anchor, forwardEnd) = target.player.onLoop { player in
      (player.state, player.timebaseAnchor, player.currentItem?.forwardPlaybackEndTime)
    }
    let contains: (PlayerItem.ID) -> Bool = { [target] id in target.player.onLoop { $0.item(id) != nil } }
    switch machine.evaluate(.init(state: state, time: anchor.time, forwardEnd: forwardEnd, contains: contains)) {
    case .pending: return
    case .failed(let error):
      isFinished = true
      request.fail(error)
    case .satisfied:
      isFinished = true
      request.finish(
        WaitCommand.Reply(
          item: state.currentItemID, time: anchor.time, timeControlStatus: state.timeControlStatus.wireName,
          hostTime: anchor.hostTime))
    }
  }

  private func stop() {
    isFinished = true
    timer?.cancel()
    timer = nil
    let (endingTokens, endingBoundaryToken, endingSilenceToken) = (tokens, boundaryToken, silenceToken)
    (tokens, boundaryToken, silenceToken) = ([], nil, nil)
    // A closed player has no observers, so errors are ignored.
    target.player.onLoop { player in
      for token in endingTokens { try? player.removeObserver(token) }
      if let endingBoundaryToken { try? player.removeTimeObserver(endingBoundaryToken) }
      if let endingSilenceToken { try? player.removeSilenceObserver(endingSilenceToken) }
    }
    if let closeHandlerID { target.removeCloseHandler(closeHandlerID) }
    closeHandlerID = nil
  }
}

extension MediaTime {
  /// The time in nanoseconds, rounded. Nil if the time is not numeric, or out of the range of `Int64`.
  var wholeNanoseconds: Int64? {
    let converted = convertScale(1_000_000_000)
    return converted.isNumeric ? converted.value : nil
  }
}
