import PlayheadMediaCore
import PlayheadPlayerModel

/// The rates at which `play` plays.
struct RateSettings {
  var `default` = PlaybackRate.normal
  /// The rate of the next `play` only; nil: `default`.
  var stored: PlaybackRate?

  /// The rate of the next `play`.
  var next: PlaybackRate { stored ?? `default` }
}

/// Rates: requests, and their effect on the audible pass.
extension PlayerCore {
  /// The delay after which a change of rate is heard: 60 ms. In this time the audio is decoded again, and audio that
  /// the device has not played is replaced.
  static let rateChangeMilliseconds: Int64 = 60

  // MARK: - Requests

  /// Plays at `rates.next`.
  func play() {
    let rate = rates.next
    guard (try? checkDirection(rate, operation: "play")) != nil else { return }
    changeRate(to: rate.value)
  }

  func pause() { changeRate(to: 0) }

  /// Plays at a rate; 0 pauses. Without `startsPlayback` a paused player stores the rate for the next `play`.
  func setRate(_ rate: Double, startsPlayback: Bool = true) throws(MediaError) {
    try checkOpen("setRate")
    guard rate != 0 else { return changeRate(to: 0) }
    let checked = try validatedRate(rate, operation: "setRate")
    try checkDirection(checked, operation: "setRate")
    if machine.rate != 0 || startsPlayback { return changeRate(to: checked.value) }
    rates.stored = checked
    persistence.settingsChanged()
  }

  func setDefaultRate(_ rate: Double) throws(MediaError) {
    try checkOpen("setDefaultRate")
    let checked = try validatedRate(rate, operation: "setDefaultRate")
    rates.default = checked
    publish(.request)
  }

  /// Converts a rate to a `PlaybackRate`.
  ///
  /// - Throws: `unsupportedRate`, also for 0.
  func validatedRate(_ rate: Double, operation: String) throws(MediaError) -> PlaybackRate {
    guard let checked = PlaybackRate(rate) else {
      throw MediaError(
        .unsupportedRate, "rate must be between 1/32 and 32, negative for reverse (got \(rate))",
        operation: operation)
    }
    return checked
  }

  /// Checks that the rate is in range and that the current item supports its direction; 0 is valid.
  ///
  /// - Throws: `unsupportedRate`; the errors of `checkDirection`.
  func checkRate(_ rate: Double) throws(MediaError) {
    guard rate != 0 else { return }
    try checkDirection(validatedRate(rate, operation: "setRate"), operation: "setRate")
  }

  /// Checks that the current item can play in the direction of a rate. An item that is not open passes the check.
  ///
  /// - Throws: `rangesNotSupported`, or `onlyInOrder` for a descriptor.
  func checkDirection(_ rate: PlaybackRate, operation: String) throws(MediaError) {
    if rate.isReverse { try currentItem?.checkSeekable(operation: operation) }
  }

  /// Changes the requested rate; 0 pauses. The decoded rate follows with `applyRequestedRate`.
  ///
  /// - Parameters:
  ///   - immediately: Whether playback starts with the available samples, however few.
  ///   - group: The group of players that change at the same output frame; nil: none.
  func changeRate(
    to rate: Double, immediately: Bool = false, with group: JointRateChange? = nil, cause: ChangeCause = .request
  ) {
    volume.settleFade()
    if rate != 0 { engine.session.playbackRequested() }
    prerolls.end()
    jointChanges.leaveAll(joining: group, playsAtOnce: rate != 0)
    if rate != 0 {
      rates.stored = nil
      if machine.rate == 0 { seeks.latency.resumed() }
    }
    if rate != 0, !machine.automaticallyWaits { commitEarly() }
    let (time, wasPaused) = (currentTime(), machine.rate == 0)
    var actions = machine.setRate(rate, isBufferEmpty: rate != 0 && isBufferEmpty, immediately: immediately)
    // The direction changes at once. Otherwise the end at which the player is paused would count as reached by
    // playback.
    if wasPaused, machine.isChangingDirection { actions += machine.changeDecodedRate(from: time) }
    run(actions, cause: cause)
    applyRequestedRate()
  }

  // MARK: - Effect

  /// The rate of the audio that is heard; 0 while the player does not play.
  var timebaseRate: Double { timebaseRate(atFrame: presentFrame) }

  /// The rate of the audio at an output frame; 0 while the player does not play.
  func timebaseRate(atFrame frame: Int64) -> Double {
    guard machine.timeControlStatus == .playing else { return 0 }
    return (timeline.rate(atOutputFrame: frame) ?? machine.decodedRate).value
  }

  /// How the audible audio adopts a new rate or pitch algorithm.
  enum RateChangePlan {
    /// The change must wait: `applyRequestedRate` is called again when pending audio has been heard.
    case wait
    /// Decode again from the current position, because there is no audible audio to continue.
    case atOnce
    /// The same, because the decoded audio ends before the change would be heard.
    case late
    /// Split the pass at `streamFrame` of its stream, which is at item time `time`. `error` is the remaining rounding
    /// error.
    case split(PassID, time: MediaTime, streamFrame: Int64, error: MediaTime)
  }

  /// Returns the output frame at which a change that is requested now is heard.
  func nextRateChangeFrame(leadMilliseconds: Int64 = rateChangeMilliseconds) -> Int64 {
    output.heardFrame + Int64(timeline.sampleRateHz) * leadMilliseconds / 1_000
  }

  /// Makes the audible pass adopt the requested rate and pitch algorithm. Has no effect while another change or
  /// transition is pending, and is called again when that has been heard.
  func applyRequestedRate() {
    guard !isClosed, inputIndex != nil, machine.needsRateChange else { return }
    if let group = jointChanges.rateChange { return group.timeMayHavePassed() }
    perform(rateChangePlan(at: nextRateChangeFrame()))
  }

  /// Applies a plan. `sharedFrame` is the output frame of a joint change.
  func perform(_ plan: RateChangePlan, sharedFrame: Int64? = nil) {
    switch plan {
    case .wait: break
    case .atOnce, .late:
      if case .late = plan { logInexactChange() }
      run(machine.changeDecodedRate(from: currentTime()), cause: .request)
    case .split(let pass, let time, let streamFrame, let error):
      jointChanges.withSplit(JointChanges.Split(startError: error, sharedFrame: sharedFrame)) {
        run(machine.splitForRateChange(pass, at: time, streamFrame: streamFrame), cause: .request)
      }
    }
  }

  /// Determines how the audible pass can adopt the requested rate at an output frame.
  func rateChangePlan(at frame: Int64) -> RateChangePlan {
    guard machine.canSplitForRateChange else { return machine.isRebuffering ? .late : .atOnce }
    readSegments()
    let rateHz = Int64(timeline.sampleRateHz)
    let current = timeline.rate(atOutputFrame: frame) ?? machine.decodedRate
    let fade =
      machine.entries.first.map { isFaded(from: current, to: machine.targetRate, of: $0.id) } ?? true
      ? rateHz / 200 : 0
    if machine.isChangingDirection, let end = endOfHeardPass, end.frame <= frame + fade {
      return reversalPlan(at: end.end)
    }
    guard let run = timeline.run(at: frame), !run.isPositionOnly else { return .atOnce }
    if let end = run.end, end.frame <= frame { return end.reason == .underrun ? .late : .wait }
    // A cross-fade must end before the next one begins.
    let streamFrame = max(fade, run.streamFrame + max(0, frame - run.outputFrame))
    guard let generation = chain.mixedGeneration(ofStream: run.streamID),
      let segment = timeline.segment(streamID: run.streamID, streamFrame: streamFrame)
    else { return .wait }
    // A scheduled stream must be heard before the next one can be requested.
    if let outgoing = chain.outgoing, outgoing.stream.id != run.streamID { return .wait }
    let pass = PassID(generation: generation.number, index: segment.passIndex)
    // The pass ends before this frame, and other audio follows.
    if chain.ends.contains(where: { $0.passID == pass && $0.streamFrame <= streamFrame }) { return .wait }
    guard streamFrame + fade <= generation.stream.writtenFrame else { return .late }
    guard machine.canSplit(pass) else { return .wait }
    let time = timeline.time(in: segment, at: streamFrame)
    let correction = correctablePart(of: generation.startError, at: time, in: segment)
    return .split(
      pass, time: time - correction, streamFrame: streamFrame, error: generation.startError - correction)
  }

  /// Whether a change of rate is cross-faded. A change of direction alone continues with the same sample, without a
  /// fade.
  func isFaded(from former: PlaybackRate, to rate: PlaybackRate, of itemID: PlayerItem.ID) -> Bool {
    guard rate.isReverse != former.isReverse, rate.magnitude == former.magnitude else { return true }
    return rate.magnitude != .normal && items[itemID]?.timePitchSlot.value.stretchAlgorithm != nil
  }

  /// The end of the audible pass and its output frame; nil if the end is not decoded yet.
  private var endOfHeardPass: (end: ItemEnd, frame: Int64)? {
    guard let end = chain.ends.first, end.passID == machine.decodedPasses.first?.id,
      let frame = timeline.outputFrame(streamID: end.streamID, streamFrame: end.streamFrame)
    else { return nil }
    return (end, frame)
  }

  /// Reverses playback exactly at the end of the audible pass, so that no audio after the end is heard. The pass is
  /// then not reported as ended.
  private func reversalPlan(at end: ItemEnd) -> RateChangePlan {
    // Another change is already scheduled at this end, and must be heard first.
    if chain.hasPendingContinuation { return .wait }
    guard let time = timeline.time(of: end.itemID, streamID: end.streamID, endingAt: end.streamFrame) else {
      return .wait
    }
    return .split(end.passID, time: time, streamFrame: end.streamFrame, error: .zero)
  }

  /// Returns the part of a rounding error that can be corrected at `time`. Corrections keep the accumulated error of
  /// many changes within two frames. A correction neither reverses the item time from one frame to the next, nor moves
  /// it before the start of the segment.
  private func correctablePart(
    of error: MediaTime, at time: MediaTime, in segment: PlayerTimeline.Segment
  ) -> MediaTime {
    guard error != .zero, !machine.isChangingDirection else { return .zero }
    let limit = MediaTime(.zero, advancedByFrames: 3, rate: timeline.sampleRateHz * 4, playbackRate: machine.targetRate)
    if segment.rate.isReverse {
      let correction = max(error, limit)
      return time - correction <= segment.time ? correction : .zero
    }
    let correction = min(error, limit)
    return time - correction >= segment.time ? correction : .zero
  }
}
