import MediaCore
import Playback
import PlayerModel
import WireProtocol

/// Commands that control the playback of one player.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: PlaybackCommand, on target: NamedPlayer) throws(MediaError) -> Reply? {
    let player = target.player
    switch command {
    case .play: try play(player)
    case .playImmediately(let rate):
      try player.tryOnLoop { player throws(MediaError) in
        let fallbackRate = player.state.rate != 0 ? player.state.rate : player.rateForNextPlay
        try player.playImmediately(atRate: rate ?? fallbackRate)
      }
    case .mediaSelection(let change): return try changeMediaSelection(change, of: target)
    case .autoWait(let action):
      if let action {
        player.onLoop {
          $0.setAutomaticallyWaitsToMinimizeStalling(action.isOn(current: $0.automaticallyWaitsToMinimizeStalling))
        }
      }
      return .ok([
        "automaticallyWaitsToMinimizeStalling": .bool(target.state.automaticallyWaitsToMinimizeStalling)
      ])
    case .cancelPrerolls: player.onLoop { $0.cancelPendingPrerolls() }
    case .cancelSeeks: player.onLoop { $0.cancelPendingSeeks() }
    case .rateAt(let rate, let moment, let time):
      try player.tryOnLoop { player throws(MediaError) in
        try player.setRate(rate, time: time, atHostTime: hostTime(moment))
      }
      return .ok(["rate": .float(rate)])
    case .pause: player.onLoop { $0.pause() }
    case .toggle:
      if target.state.rate == 0 { try play(player) } else { player.onLoop { $0.pause() } }
    case .stop: player.onLoop { $0.stop() }
    case .status: return .ok(status(of: target))
    case .rate(let rate): return .ok(["rate": .float(try setRate(rate, on: target))])
    case .defaultRate(let rate):
      if let rate { try player.tryOnLoop { player throws(MediaError) in try player.setDefaultRate(rate) } }
      return .ok(["defaultRate": .float(target.state.defaultRate)])
    case .volume(let volume):
      if let volume {
        try player.tryOnLoop { player throws(MediaError) in try player.setVolume(volume.volume(from: player.state)) }
      }
      return .ok(["volume": .float(target.state.volume)])
    case .fade(let volume, let duration, let curve, let endAction, _):
      try player.tryOnLoop { player throws(MediaError) in
        try player.fade(
          to: volume.volume(from: player.state), duration: duration, curve: FadeCurve(curve),
          endAction: FadeEndAction(endAction))
      }
    case .pan(let pan):
      if let pan { try player.tryOnLoop { player throws(MediaError) in try player.setPan(Float(pan)) } }
      return .ok(["pan": .float(target.state.pan)])
    case .mute(let action):
      if let action { player.onLoop { $0.setMuted(action.isOn(current: $0.state.isMuted)) } }
      return .ok(["isMuted": .bool(target.state.isMuted)])
    case .pitch(let algorithm):
      if let algorithm {
        try player.tryOnLoop { player throws(MediaError) in
          try player.setAudioTimePitchAlgorithm(AudioTimePitchAlgorithm(algorithm))
        }
      }
      return .ok(["audioTimePitchAlgorithm": .string(target.state.audioTimePitchAlgorithm.rawValue)])
    case .replayGain(let change): return .ok(try setReplayGain(change, on: target))
    case .endAction(let action):
      if let action {
        try player.tryOnLoop { player throws(MediaError) in
          try player.setActionAtItemEnd(ActionAtItemEnd(action))
        }
      }
      return .ok(["actionAtItemEnd": .string(target.state.actionAtItemEnd.rawValue)])
    case .repeat(let mode):
      if let mode {
        try player.tryOnLoop { player throws(MediaError) in try player.setRepeatMode(RepeatMode(mode)) }
      }
      return .ok(["repeat": .string(target.state.repeatMode.rawValue)])
    case .playRange, .seek, .loop, .step, .preroll, .chapter:
      preconditionFailure("the handler of immediate commands got one that waits")
    }
    return nil
  }

  /// Starts playback like the player's `play`, but throws an error if that is not possible.
  private func play(_ player: QueuePlayer) throws(MediaError) {
    try player.tryOnLoop { player throws(MediaError) in try player.setRate(player.rateForNextPlay) }
  }

  private func status(of target: NamedPlayer) -> Fields {
    var (state, anchor, chapter) = target.player.onLoop { ($0.state, $0.timebaseAnchor, $0.currentChapter) }
    // The clock may advance between the two reads.
    state.timebaseRate = anchor.rate
    let item = target.player.onLoop { player in state.currentItemID.flatMap { player.item($0) } }
    var fields: Fields = [
      "player": .string(target.name), "timeControlStatus": .string(state.timeControlStatus.wireName),
      "reasonForWaitingToPlay": state.reasonForWaitingToPlay.map { .string($0.rawValue) } ?? FieldValue.none,
      "rate": .float(state.rate), "item": state.currentItemID.map { .int($0) } ?? FieldValue.none,
      "index": state.currentItemID == nil ? FieldValue.none : 0, "count": .int(state.itemCount),
      "time": .time(anchor.time), "pts": .fraction(anchor.time), "hostTime": .hostTime(anchor.hostTime),
      "duration": .time(state.itemDuration),
      "providesPreciseDuration": .bool(state.itemProvidesPreciseDuration),
      "volume": .float(state.volume), "isFading": .bool(state.isFading),
      "isMuted": .bool(state.isMuted), "pan": .float(state.pan),
      "actionAtItemEnd": .string(state.actionAtItemEnd.rawValue), "repeat": .string(state.repeatMode.rawValue),
      "loop": state.loop.map { .string($0.wireText) } ?? FieldValue.none,
      "passes": state.loop.map { .int($0.loopCount) } ?? FieldValue.none,
      "passesLeft": state.loop?.remainingCount.map { .int($0) } ?? FieldValue.none,
      "itemStatus": .string(state.itemStatus.name),
      "version": .int(state.queueVersion), "timebaseRate": .float(state.timebaseRate),
      "defaultRate": .float(state.defaultRate),
      "shuffle": state.shuffleSeed.map { .int($0) } ?? FieldValue.none,
      "onFailure": .string(state.itemFailurePolicy.rawValue),
      "automaticallyWaitsToMinimizeStalling": .bool(state.automaticallyWaitsToMinimizeStalling),
      "audioTimePitchAlgorithm": .string(state.audioTimePitchAlgorithm.rawValue),
      "chapter": chapter.map { .int($0.number) } ?? FieldValue.none,
      "chapterTitle": chapter?.chapter.title.map { .string($0) } ?? FieldValue.none,
      "replayGain": .string(state.replayGain.mode.rawValue),
    ]
    item?.appendTitles(to: &fields)
    item?.appendStreamTitle(to: &fields)
    if let error = state.itemStatus.error { Self.append(error, to: &fields) }
    return fields
  }

  /// Sets the rate, if given, without starting a paused player. Returns the current rate. While the player is paused,
  /// returns the rate of the next `play`.
  private func setRate(_ rate: Double?, on target: NamedPlayer) throws(MediaError) -> Double {
    if let rate {
      try target.player.tryOnLoop { player throws(MediaError) in try player.setRate(rate, startsPlayback: false) }
    }
    return target.player.onLoop { $0.state.rate == 0 ? $0.rateForNextPlay : $0.state.rate }
  }

  /// The host time of a moment. Nil: as soon as possible. A time beyond the range of the clock becomes the latest time,
  /// which is rejected as too far in the future.
  private func hostTime(_ moment: PlaybackCommand.RateMoment) -> HostTime? {
    func nanoseconds(_ time: MediaTime) -> Int64 {
      time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max
    }
    switch moment {
    case .now: return nil
    case .instant(let time): return HostTime(nanoseconds: nanoseconds(time))
    case .after(let delay):
      let (sum, overflow) = server.engine.loop.now.nanoseconds.addingReportingOverflow(nanoseconds(delay))
      return HostTime(nanoseconds: overflow ? .max : sum)
    }
  }

  // MARK: - Fades

  /// Starts a fade, and replies at its end.
  func startFade(
    to volume: VolumeSetting, duration: MediaTime, _ curve: PlaybackCommand.FadeCurve,
    endAction: PlaybackCommand.FadeEndAction, on target: NamedPlayer, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.fade(
        to: volume.volume(from: player.state), duration: duration, curve: FadeCurve(curve),
        endAction: FadeEndAction(endAction)
      ) { request.finish(Self.reply($0, of: target)) }
    }
  }

  private static func reply(_ outcome: FadeOutcome, of target: NamedPlayer) -> Reply {
    switch outcome {
    case .finished: .ok(["finished": true])
    case .replaced, .notPlaying: .ok(["finished": false, "reason": .string(outcome.rawValue)])
    case .closed: .error(MediaError(.waitEnded, "the player \(target.name) was closed"))
    }
  }

  // MARK: - Seeking

  /// Starts a seek.
  func start(
    _ seek: PlaybackCommand.Seek, on target: NamedPlayer,
    completion: @escaping @Sendable (Result<SeekReply, MediaError>) -> Void
  ) throws(MediaError) {
    let itemID = try target.itemID(ifGiven: seek.item)
    try target.player.tryOnLoop { player throws(MediaError) in
      let position: TimeExpression =
        switch seek.target {
        case .time(let expression): expression
        case .date(let date): .absolute(try player.time(ofDate: date))
        }
      try player.seek(
        to: position, toleranceBefore: seek.toleranceBefore, toleranceAfter: seek.toleranceAfter,
        mode: seek.isChase ? .chase : .replace, itemID: itemID
      ) { completion(Self.reply($0)) }
    }
  }

  /// Starts a seek to the next or previous chapter.
  func startChapterSeek(isNext: Bool, on target: NamedPlayer, _ request: AnyWaitingRequest) throws(MediaError) {
    try target.player.tryOnLoop { player throws(MediaError) in
      if isNext {
        try player.seekToNextChapter { request.finish(with: Self.reply($0)) { Reply($0) } }
      } else {
        try player.seekToPreviousChapter { request.finish(with: Self.reply($0)) { Reply($0) } }
      }
    }
  }

  /// Starts to step by `count` steps, backward if `count` is negative.
  func start(step count: Int, on target: NamedPlayer, _ request: AnyWaitingRequest) throws(MediaError) {
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.step(byCount: count) { request.finish(with: Self.reply($0)) { Reply($0) } }
    }
  }

  /// Starts a preroll. A rate of nil means the rate of the next `play`.
  func startPreroll(_ rate: Double?, on target: NamedPlayer, _ request: AnyWaitingRequest) throws(MediaError) {
    try target.player.tryOnLoop { player throws(MediaError) in
      try player.preroll(atRate: rate ?? player.rateForNextPlay) { request.finish(.ok(["ready": .bool($0)])) }
    }
  }

  private static func reply(_ result: SeekResult) -> Result<SeekReply, MediaError> {
    if result.unfinishedReason == .durationUnknown {
      return .failure(
        MediaError(
          .invalidTime, "the duration is unknown, so the target cannot be a part of it or its end", operation: "seek"))
    }
    return .success(
      SeekReply(
        finished: result.finished, item: result.itemID, time: result.time, requested: result.requested,
        before: result.toleranceBefore, after: result.toleranceAfter, exact: result.isExact, clamped: result.isClamped,
        microseconds: result.durationNanoseconds / 1_000, hostTime: result.hostTime, reason: reason(result)))
  }

  /// The reason why a seek did not finish, or why its position is not exact. Nil for an exact position.
  private static func reason(_ result: SeekResult) -> String? {
    if let reason = result.unfinishedReason { return reason.rawValue }
    if result.isExact { return nil }
    return result.positionDoubt?.rawValue ?? "tolerance"
  }

  // MARK: - Start timings

  /// The timings of the player's last start or seek.
  func explain(_ target: NamedPlayer) throws(MediaError) -> Reply {
    guard let report = target.player.onLoop({ $0.lastStartReport }) else {
      throw MediaError(.invalidState, "the player \(target.name) has not started playback yet")
    }
    func microseconds(_ nanoseconds: Int64) -> FieldValue { .integer(nanoseconds / 1_000) }
    return .ok([
      "player": .string(target.name), "kind": .string(report.kind.rawValue), "item": .int(report.itemID),
      "requested": .time(report.requested), "reached": .time(report.reached),
      "wait": microseconds(report.waitNanoseconds), "open": microseconds(report.openNanoseconds),
      "index": microseconds(report.indexNanoseconds), "demux": microseconds(report.demuxNanoseconds),
      "decode": microseconds(report.decodeNanoseconds), "resample": microseconds(report.resampleNanoseconds),
      "commit": microseconds(report.commitNanoseconds),
      "device": report.deviceNanoseconds.map(microseconds) ?? FieldValue.none,
      "total": microseconds(report.totalNanoseconds),
    ])
  }
}

extension PlaybackCommand.Switch {
  /// The new state, given the current one.
  func isOn(current: Bool) -> Bool {
    switch self {
    case .on: true
    case .off: false
    case .toggle: !current
    }
  }
}

extension FadeCurve {
  fileprivate init(_ curve: PlaybackCommand.FadeCurve) {
    switch curve {
    case .linear: self = .linear
    case .equalPower: self = .equalPower
    }
  }
}

extension FadeEndAction {
  fileprivate init(_ action: PlaybackCommand.FadeEndAction) {
    switch action {
    case .none: self = .none
    case .pause: self = .pause
    case .stop: self = .stop
    }
  }
}

extension ActionAtItemEnd {
  fileprivate init(_ action: PlaybackCommand.ItemEndAction) {
    switch action {
    case .advance: self = .advance
    case .stop: self = .stop
    case .pause: self = .pause
    case .none: self = .none
    }
  }
}

extension AudioTimePitchAlgorithm {
  init(_ algorithm: PlaybackCommand.PitchAlgorithm) {
    switch algorithm {
    case .timeDomain: self = .timeDomain
    case .spectral: self = .spectral
    case .varispeed: self = .varispeed
    }
  }
}

extension TimeControlStatus {
  /// The name that AVFoundation uses, which is the name on the wire.
  var wireName: String {
    switch self {
    case .paused: "paused"
    case .waiting: "waitingToPlayAtSpecifiedRate"
    case .playing: "playing"
    }
  }
}

extension VolumeSetting {
  /// The volume that follows from the state of a player.
  fileprivate func volume(from state: PlayerState) -> Float { Float(volume(from: Double(state.volume))) }
}
