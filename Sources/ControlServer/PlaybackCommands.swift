import MediaCore
import Playback
import WireProtocol

/// Commands that play one player's queue.
extension Connection {
  /// Runs those that answer at once; nil is a plain ok.
  func run(_ command: PlaybackCommand, on target: NamedPlayer) throws(MediaError) -> Reply? {
    let player = target.player
    switch command {
    case .play: player.onLoop { $0.play() }
    case .pause: player.onLoop { $0.pause() }
    case .toggle: player.onLoop { $0.state.rate == 0 ? $0.play() : $0.pause() }
    case .stop: player.onLoop { $0.stop() }
    case .status: return .ok(status(of: target))
    case .rate(let rate): return .ok(["rate": .float(try setRate(rate, on: target))])
    case .volume(let volume):
      if let volume { try player.tryOnLoop { player throws(MediaError) in try player.setVolume(Float(volume)) } }
      return .ok(["volume": .float(target.state.volume)])
    case .mute(let action):
      if let action { player.onLoop { $0.setMuted(action.isOn(besides: $0.state.isMuted)) } }
      return .ok(["muted": .bool(target.state.isMuted)])
    case .endAction(let action):
      if let action {
        try player.tryOnLoop { player throws(MediaError) in
          try player.setActionAtItemEnd(ActionAtItemEnd(action))
        }
      }
      return .ok(["actionAtItemEnd": .string(target.state.actionAtItemEnd.rawValue)])
    case .seek: preconditionFailure("seek waits: Command.isWaiting")
    }
    return nil
  }

  private func status(of target: NamedPlayer) -> Fields {
    let (state, time) = target.player.onLoop { ($0.state, $0.currentTime()) }
    return [
      "player": .string(target.name), "timeControlStatus": .string(state.timeControlStatus.wireName),
      "reasonForWaitingToPlay": state.reasonForWaitingToPlay.map { .string($0.rawValue) } ?? FieldValue.none,
      "rate": .float(state.rate), "item": state.currentItemID.map { .int($0) } ?? FieldValue.none,
      "index": state.currentItemID == nil ? FieldValue.none : 0, "count": .int(state.itemCount),
      "time": .time(time), "pts": .fraction(time), "duration": .time(state.itemDuration),
      "providesPreciseDuration": .bool(state.itemProvidesPreciseDuration),
      "volume": .float(state.volume), "muted": .bool(state.isMuted),
      "actionAtItemEnd": .string(state.actionAtItemEnd.rawValue), "itemStatus": .string(state.itemStatus.name),
      "version": .int(state.queueVersion),
    ]
  }

  /// The rate that the next `play` uses, or that is played with; setting it while paused starts nothing.
  private func setRate(_ rate: Double?, on target: NamedPlayer) throws(MediaError) -> Double {
    let present = target.state.rate
    guard let rate else { return present == 0 ? 1 : present }
    guard rate == 1 else {
      throw MediaError(.unsupportedRate, "rate \(rate) is not supported: only 1 is", operation: "rate")
    }
    return rate
  }

  // MARK: - Seeking

  /// Begins a seek. A part of the duration, or the end, waits until the item's duration is known.
  func begin(
    _ seek: PlaybackCommand.Seek, on target: NamedPlayer, _ request: WaitingRequest
  ) throws(MediaError) {
    let state = target.state
    if let item = state.currentItemID, state.itemStatus == .unknown, seek.target.needsDuration {
      if let wanted = seek.item, UInt64(wanted) != item { throw Self.notCurrent(wanted, item) }
      let loop = server.loop
      let wait = ReadinessWait(target, items: [item]) { error in
        // In a turn of its own: this is called while the player changes.
        loop.execute { [weak self] in
          if let error { return request.fail(error) }
          do throws(MediaError) {
            try self?.beginResolved(seek, on: target, request)
          } catch { request.fail(error) }
        }
      }
      request.onEnd { wait.cancel() }
      wait.start()
    } else {
      try beginResolved(seek, on: target, request)
    }
  }

  private static func notCurrent(_ wanted: Int, _ item: PlayerItem.ID) -> MediaError {
    MediaError(.noSuchItem, "item \(wanted) is not the current item, which is \(item)")
  }

  private func beginResolved(
    _ seek: PlaybackCommand.Seek, on target: NamedPlayer, _ request: WaitingRequest
  ) throws(MediaError) {
    let (state, heard) = target.player.onLoop { ($0.state, $0.currentTime()) }
    guard let item = state.currentItemID else {
      throw MediaError(.noCurrentItem, "there is no current item to seek in")
    }
    if let wanted = seek.item, UInt64(wanted) != item { throw Self.notCurrent(wanted, item) }
    let base = target.seekTarget.flatMap { $0.item == item ? $0.time : nil } ?? heard
    var time = max(try seek.target.resolve(current: base, duration: state.itemDuration), .zero)
    // Behind an estimate there may be more.
    if state.itemProvidesPreciseDuration { time = min(time, state.itemDuration) }
    let previous = target.seekTarget
    let serial = (previous?.serial ?? 0) + 1
    target.seekTarget = (item, time, serial)
    do throws(MediaError) {
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.seek(
          to: time, toleranceBefore: seek.toleranceBefore, toleranceAfter: seek.toleranceAfter, itemID: item
        ) { result in
          if target.seekTarget?.serial == serial { target.seekTarget = nil }
          request.finish(Self.reply(result))
        }
      }
    } catch {
      target.seekTarget = previous
      throw error
    }
  }

  private static func reply(_ result: SeekResult) -> Reply {
    var fields: Fields = ["finished": .bool(result.finished), "item": .int(result.itemID)]
    fields.append(position: result.time)
    fields.append("requested", .time(result.requested))
    return .ok(fields)
  }
}

extension TimeExpression {
  /// Whether it means nothing before the item's duration is known.
  fileprivate var needsDuration: Bool {
    switch self {
    case .percent, .end: true
    case .absolute, .relative: false
    }
  }
}

extension PlaybackCommand.Switch {
  /// What becomes of something that is on, or is not.
  fileprivate func isOn(besides present: Bool) -> Bool {
    switch self {
    case .on: true
    case .off: false
    case .toggle: !present
    }
  }
}

extension ActionAtItemEnd {
  fileprivate init(_ action: PlaybackCommand.ItemEndAction) {
    switch action {
    case .advance: self = .advance
    case .pause: self = .pause
    case .none: self = .none
    }
  }
}

extension TimeControlStatus {
  /// AVFoundation's name, as the wire has it.
  var wireName: String {
    switch self {
    case .paused: "paused"
    case .waiting: "waitingToPlayAtSpecifiedRate"
    case .playing: "playing"
    }
  }
}
