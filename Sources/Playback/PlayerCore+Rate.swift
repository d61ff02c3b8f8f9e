import MediaCore

/// Rates: what is asked for, and how what is heard follows.
extension PlayerCore {
  /// How far ahead of what is heard a change of rate takes effect: long enough for the sound to be decoded anew, and for
  /// the device to give back what it has not played. 60 ms.
  private static let changeMilliseconds: Int64 = 60

  // MARK: - Asking

  /// Plays at the rate that was noted for this, or else at the default one.
  func play() {
    let rate = nextRate ?? defaultRate
    changeRate(to: rate.value)
  }

  func pause() { changeRate(to: 0) }

  /// Plays at a rate, 0 pauses. Without `startsPlayback` a player that is paused only notes it for the next `play`.
  func setRate(_ rate: Double, startsPlayback: Bool = true) throws(MediaError) {
    guard rate != 0 else { return changeRate(to: 0) }
    let checked = try check(rate, operation: "rate")
    if machine.rate != 0 || startsPlayback { return changeRate(to: checked.value) }
    nextRate = checked
  }

  func setDefaultRate(_ rate: Double) throws(MediaError) {
    let checked = try check(rate, operation: "default-rate")
    defaultRate = checked
    publish(.request)
  }

  private func check(_ rate: Double, operation: String) throws(MediaError) -> PlaybackRate {
    guard let checked = PlaybackRate(rate) else {
      throw MediaError(
        .unsupportedRate, "a rate is from 1/32 to 32, or backwards from -1/32 to -32, not \(rate)",
        operation: operation)
    }
    return checked
  }

  /// Whether a player can play at this rate; 0 pauses. Errors: `unsupportedRate`.
  func checkRate(_ rate: Double) throws(MediaError) {
    if rate != 0 { _ = try check(rate, operation: "rate") }
  }

  func changeRate(to rate: Double, immediately: Bool = false) {
    endPrerolls()
    leaveStartGroup(playsAtOnce: rate != 0)
    if rate != 0 {
      nextRate = nil
      if machine.rate == 0 { traceResumption() }
    }
    if rate != 0, !machine.automaticallyWaits { commitEarly() }
    let (time, wasPaused) = (currentTime(), machine.rate == 0)
    var actions = machine.setRate(rate, isBufferEmpty: rate != 0 && isBufferEmpty, immediately: immediately)
    // At once, before anybody takes the end that a paused player stands at for one that it plays to.
    if wasPaused, machine.isTurning { actions += machine.changeSpeed(from: time) }
    run(actions, cause: .request)
    followSpeed()
  }

  // MARK: - Following

  /// How fast the item's time goes on in what is being heard.
  var timebaseRate: Double {
    guard machine.timeControlStatus == .playing else { return 0 }
    return (timeline.rate(atOutputFrame: presentFrame) ?? machine.decodedSpeed).value
  }

  /// Lets what is heard come to the rate that is wanted. Where a change is under way already, or something else is about
  /// to follow, it waits: this is asked again when that has been heard.
  func followSpeed() {
    guard !isClosed, inputIndex != nil, machine.needsSpeedChange else { return }
    guard machine.canSplitForSpeed else { return changeSpeedAtOnce() }
    takeSpans()
    let rateHz = Int64(timeline.sampleRateHz)
    let frame = output.heardFrame + rateHz * Self.changeMilliseconds / 1_000
    let current = timeline.rate(atOutputFrame: frame) ?? machine.decodedSpeed
    let fade =
      machine.entries.first.map { isFaded(from: current, to: machine.speed, of: $0.id) } ?? true
      ? rateHz / 200 : 0
    if machine.isTurning, let end = endOfHeardPass, end.frame <= frame + fade { return turn(at: end.end) }
    guard let run = timeline.run(at: frame), !run.isStill else { return changeSpeedAtOnce() }
    if let end = run.end, end.frame <= frame {
      if end.reason == .starved { changeSpeedAtOnce() }
      return
    }
    // A cross-fade is over before another one begins.
    let streamFrame = max(fade, run.streamFrame + max(0, frame - run.outputFrame))
    guard let generation = [outgoing, sounding].compactMap({ $0 }).first(where: { $0.stream.id == run.streamID }),
      let span = timeline.span(streamID: run.streamID, streamFrame: streamFrame)
    else { return }
    // A take-over has to be heard before another one can be asked for.
    if let outgoing, outgoing.stream.id != run.streamID { return }
    let pass = PassID(generation: generation.number, index: span.passIndex)
    // Behind that end something else is heard.
    if ends.contains(where: { $0.passID == pass && $0.streamFrame <= streamFrame }) { return }
    guard streamFrame + fade <= generation.stream.writtenFrame else { return changeSpeedAtOnce() }
    self.run(
      machine.splitForSpeed(pass, at: timeline.time(in: span, at: streamFrame), streamFrame: streamFrame),
      cause: .request)
  }

  /// Whether what goes on at another rate is faded in. What is only turned round goes on with the very sample it came to.
  func isFaded(from former: PlaybackRate, to rate: PlaybackRate, of itemID: PlayerItem.ID) -> Bool {
    guard rate.isReverse != former.isReverse, rate.magnitude == former.magnitude else { return true }
    return rate.magnitude != .normal && items[itemID]?.timePitchSlot.value.stretch != nil
  }

  /// The end of the pass that is heard, if it is in the stream, and the output frame at which it will be heard.
  private var endOfHeardPass: (end: ItemEnd, frame: Int64)? {
    guard let end = ends.first, end.passID == machine.decoded.first?.id,
      let frame = timeline.outputFrame(streamID: end.streamID, streamFrame: end.streamFrame)
    else { return nil }
    return (end, frame)
  }

  /// Who turns round does not go beyond the pass that is heard: it is turned where it ends, and so does not end.
  private func turn(at end: ItemEnd) {
    // It is about to change there already, and nothing can be asked for before that has been heard.
    if (outgoing != nil && sounding?.isContinuation == true) || preparing?.isContinuation == true
      || waiting.first?.generation.isContinuation == true
    {
      return
    }
    guard let time = timeline.time(of: end.itemID, streamID: end.streamID, endingAt: end.streamFrame) else { return }
    run(machine.splitForSpeed(end.passID, at: time, streamFrame: end.streamFrame), cause: .request)
  }

  private func changeSpeedAtOnce() {
    run(machine.changeSpeed(from: currentTime()), cause: .request)
  }
}
