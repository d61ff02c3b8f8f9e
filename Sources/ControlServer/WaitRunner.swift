import MediaCore
import Playback
import WireProtocol

/// Runs one `wait`: feeds a `WaitStateMachine` with what the player tells, and answers the request. Nothing polls: a time is
/// waited for with a boundary observer.
///
/// Threading: confined to the control loop.
final class WaitRunner: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, where the observers that carry it are called.
  private let target: NamedPlayer
  private let loop: any ControlLoop
  private let request: WaitingRequest
  private var machine: WaitStateMachine
  private var tokens: [ObserverToken] = []
  private var boundary: ObserverToken?
  private var timer: (any ControlTimer)?
  private var closeHandler: UInt64?
  private var isOver = false

  init(_ conditions: WireList<WaitCondition>, on target: NamedPlayer, loop: any ControlLoop, request: WaitingRequest) {
    self.target = target
    self.loop = loop
    self.request = request
    machine = WaitStateMachine(conditions)
  }

  /// Answers at once what holds already, and waits for the rest. Errors: what the observers need and did not get.
  func start(timeout: MediaTime?) throws(MediaError) {
    judge()
    guard !isOver else { return }
    let limit = timeout.flatMap(\.wholeNanoseconds)
    if let timeout, let limit, limit <= 0 {
      // Only what holds already was asked for; no clock is needed to tell.
      return request.fail(Self.timedOut(timeout))
    }
    request.onEnd { self.stop() }
    tokens = target.player.onLoop { player in
      [
        player.addStateObserver { _ in self.judge() },
        player.addEventObserver { self.handle($0) },
      ]
    }
    closeHandler = target.onClose { [self] in
      request.fail(MediaError(.waitEnded, "the player \(target.name) was closed"))
    }
    let times = machine.targetTimes
    if !times.isEmpty {
      boundary = try target.player.tryOnLoop { player throws(MediaError) in
        try player.addBoundaryTimeObserver(forTimes: times) { observation in
          guard observation.reason == .crossed else { return }
          self.machine.crossed(observation.time, in: observation.itemID, isReverse: observation.rate < 0)
          self.judge()
        }
      }
      // The time may have come between the first look and the observer, which then waits for what is past.
      judge()
      guard !isOver else { return }
    }
    guard let timeout, let limit else { return }
    timer = loop.schedule(at: loop.now.advanced(byNanoseconds: limit)) { [weak self] in
      self?.request.fail(Self.timedOut(timeout))
    }
  }

  private static func timedOut(_ timeout: MediaTime) -> MediaError {
    MediaError(.timedOut, "not within \(timeout.decimalDescription) seconds")
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    case .timeJumped:
      machine.timeJumped()
      judge()
    case .itemChanged, .playedToEnd, .itemFailed, .seam: judge()
    case .failedToPlayToEnd, .itemSkipped, .stalled, .packetsSkipped, .newErrorLogEntry, .newAccessLogEntry,
      .streamTitle, .timedMetadata, .mediaSelectionChanged, .chapterChanged:
      return
    }
  }

  private func judge() {
    guard !isOver else { return }
    let facts = target.player.onLoop { player in
      (player.state, player.currentTime(), player.currentItem?.forwardPlaybackEndTime)
    }
    let contains: (PlayerItem.ID) -> Bool = { [target] id in target.player.onLoop { $0.item(id) != nil } }
    switch machine.judge(.init(state: facts.0, time: facts.1, forwardEnd: facts.2, contains: contains)) {
    case .pending: return
    case .failed(let error):
      isOver = true
      request.fail(error)
    case .satisfied:
      isOver = true
      var fields: Fields = ["item": facts.0.currentItemID.map { .int($0) } ?? FieldValue.none]
      fields.append(position: facts.1)
      fields.append("timeControlStatus", .string(facts.0.timeControlStatus.wireName))
      request.finish(.ok(fields))
    }
  }

  private func stop() {
    isOver = true
    timer?.cancel()
    timer = nil
    let (ending, boundary) = (tokens, boundary)
    tokens = []
    self.boundary = nil
    // A player that was closed has none any more.
    target.player.onLoop { player in
      for token in ending { try? player.removeObserver(token) }
      if let boundary { try? player.removeTimeObserver(boundary) }
    }
    if let closeHandler { target.removeCloseHandler(closeHandler) }
    closeHandler = nil
  }
}

extension MediaTime {
  /// This time in nanoseconds, rounded; nil when it is not numeric or does not fit.
  var wholeNanoseconds: Int64? {
    let converted = convertScale(1_000_000_000)
    return converted.isNumeric ? converted.value : nil
  }
}
