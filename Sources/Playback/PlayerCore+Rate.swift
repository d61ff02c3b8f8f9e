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
    guard let run = timeline.run(at: frame), !run.isStill else { return changeSpeedAtOnce() }
    if let end = run.end, end.frame <= frame {
      if end.reason == .starved { changeSpeedAtOnce() }
      return
    }
    let fade = rateHz / 200
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

  private func changeSpeedAtOnce() {
    run(machine.changeSpeed(from: currentTime()), cause: .request)
  }
}
