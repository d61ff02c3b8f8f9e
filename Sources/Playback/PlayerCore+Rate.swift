import MediaCore

/// Rates: what is asked for, and how what is heard follows.
extension PlayerCore {
  /// How far ahead of what is heard a change of rate takes effect: long enough for the sound to be decoded anew, and for
  /// the device to give back what it has not played. 60 ms.
  static let changeMilliseconds: Int64 = 60

  // MARK: - Asking

  /// Plays at the rate that was noted for this, or else at the default one.
  func play() {
    let rate = nextRate ?? defaultRate
    guard (try? checkDirection(rate, operation: "play")) != nil else { return }
    changeRate(to: rate.value)
  }

  func pause() { changeRate(to: 0) }

  /// Plays at a rate, 0 pauses. Without `startsPlayback` a player that is paused only notes it for the next `play`.
  func setRate(_ rate: Double, startsPlayback: Bool = true) throws(MediaError) {
    guard rate != 0 else { return changeRate(to: 0) }
    let checked = try check(rate, operation: "rate")
    try checkDirection(checked, operation: "rate")
    if machine.rate != 0 || startsPlayback { return changeRate(to: checked.value) }
    nextRate = checked
    changeObserver?([])
  }

  func setDefaultRate(_ rate: Double) throws(MediaError) {
    let checked = try check(rate, operation: "default-rate")
    defaultRate = checked
    publish(.request)
  }

  /// The rate, if a player can play at it. Errors: `unsupportedRate`, for 0, too.
  func check(_ rate: Double, operation: String) throws(MediaError) -> PlaybackRate {
    guard let checked = PlaybackRate(rate) else {
      throw MediaError(
        .unsupportedRate, "a rate is from 1/32 to 32, or backwards from -1/32 to -32, not \(rate)",
        operation: operation)
    }
    return checked
  }

  /// Whether the current item can be played at this rate; 0 pauses. Errors: `unsupportedRate`, those of `checkDirection`.
  func checkRate(_ rate: Double) throws(MediaError) {
    guard rate != 0 else { return }
    try checkDirection(check(rate, operation: "rate"), operation: "rate")
  }

  /// Whether the current item can be played the way that a rate goes, as far as that is known. Errors: `rangesNotSupported`,
  /// or `onlyInOrder` for a descriptor.
  func checkDirection(_ rate: PlaybackRate, operation: String) throws(MediaError) {
    if rate.isReverse { try currentItem?.checkCanMove(operation: operation) }
  }

  /// `group`: with whom it is to be heard at the same frame.
  func changeRate(
    to rate: Double, immediately: Bool = false, with group: RateGroup? = nil, cause: ChangeCause = .request
  ) {
    if rate != 0 { engine.session.playbackAsked() }
    endPrerolls()
    rateGroup?.leave(self)
    rateGroup = group
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
    run(actions, cause: cause)
    followSpeed()
  }

  // MARK: - Following

  /// How fast the item's time goes on in what is being heard.
  var timebaseRate: Double {
    guard machine.timeControlStatus == .playing else { return 0 }
    return (timeline.rate(atOutputFrame: presentFrame) ?? machine.decodedSpeed).value
  }

  /// How a change of rate, or of pitch, comes to be heard.
  enum SpeedStep {
    /// Not yet: this is asked again when what is under way has been heard.
    case wait
    /// Nothing sounds that it could be joined to.
    case atOnce
    /// The pass goes over at this frame of its stream, where `time` of its item is, but for what of an error is left.
    case split(PassID, time: MediaTime, streamFrame: Int64, error: MediaTime)
  }

  /// The output frame at which a change that is requested now is heard.
  func nextSpeedFrame(leadMilliseconds: Int64 = changeMilliseconds) -> Int64 {
    output.heardFrame + Int64(timeline.sampleRateHz) * leadMilliseconds / 1_000
  }

  /// Lets what is heard come to the rate and the pitch that are wanted. Where a change is under way already, or something
  /// else is about to follow, it waits: this is asked again when that has been heard.
  func followSpeed() {
    guard !isClosed, inputIndex != nil, machine.needsSpeedChange else { return }
    if let rateGroup { return rateGroup.timeMayHavePassed() }
    take(speedStep(at: nextSpeedFrame()))
  }

  func take(_ step: SpeedStep) {
    switch step {
    case .wait: break
    case .atOnce: run(machine.changeSpeed(from: currentTime()), cause: .request)
    case .split(let pass, let time, let streamFrame, let error):
      nextStartError = error
      defer { nextStartError = .zero }
      run(machine.splitForSpeed(pass, at: time, streamFrame: streamFrame), cause: .request)
    }
  }

  /// How a change can be heard at an output frame.
  func speedStep(at frame: Int64) -> SpeedStep {
    guard machine.canSplitForSpeed else { return .atOnce }
    takeSpans()
    let rateHz = Int64(timeline.sampleRateHz)
    let current = timeline.rate(atOutputFrame: frame) ?? machine.decodedSpeed
    let fade =
      machine.entries.first.map { isFaded(from: current, to: machine.speed, of: $0.id) } ?? true
      ? rateHz / 200 : 0
    if machine.isTurning, let end = endOfHeardPass, end.frame <= frame + fade { return turn(at: end.end) }
    guard let run = timeline.run(at: frame), !run.isStill else { return .atOnce }
    if let end = run.end, end.frame <= frame { return end.reason == .starved ? .atOnce : .wait }
    // A cross-fade is over before another one begins.
    let streamFrame = max(fade, run.streamFrame + max(0, frame - run.outputFrame))
    guard let generation = [outgoing, sounding].compactMap({ $0 }).first(where: { $0.stream.id == run.streamID }),
      let span = timeline.span(streamID: run.streamID, streamFrame: streamFrame)
    else { return .wait }
    // A take-over has to be heard before another one can be asked for.
    if let outgoing, outgoing.stream.id != run.streamID { return .wait }
    let pass = PassID(generation: generation.number, index: span.passIndex)
    // Behind that end something else is heard.
    if ends.contains(where: { $0.passID == pass && $0.streamFrame <= streamFrame }) { return .wait }
    guard streamFrame + fade <= generation.stream.writtenFrame else { return .atOnce }
    guard machine.canSplit(pass) else { return .wait }
    let time = timeline.time(in: span, at: streamFrame)
    let mended = mendable(generation.startError, at: time, in: span)
    return .split(
      pass, time: time - mended, streamFrame: streamFrame, error: generation.startError - mended)
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
  private func turn(at end: ItemEnd) -> SpeedStep {
    // It is about to change there already, and nothing can be asked for before that has been heard.
    if (outgoing != nil && sounding?.isContinuation == true) || preparing?.isContinuation == true
      || waiting.first?.generation.isContinuation == true
    {
      return .wait
    }
    guard let time = timeline.time(of: end.itemID, streamID: end.streamID, endingAt: end.streamFrame) else {
      return .wait
    }
    return .split(end.passID, time: time, streamFrame: end.streamFrame, error: .zero)
  }

  /// How much of what the change before was off can be made up for at a time: so that however many there are no more than a
  /// frame or two add up. Time never goes back from one frame to the next, nor out of the pass.
  private func mendable(_ error: MediaTime, at time: MediaTime, in span: PlayerTimeline.Span) -> MediaTime {
    guard error != .zero, !machine.isTurning else { return .zero }
    let most = MediaTime(.zero, advancedByFrames: 3, rate: timeline.sampleRateHz * 4, playbackRate: machine.speed)
    if span.rate.isReverse {
      let mended = max(error, most)
      return time - mended <= span.time ? mended : .zero
    }
    let mended = min(error, most)
    return time - mended >= span.time ? mended : .zero
  }
}
