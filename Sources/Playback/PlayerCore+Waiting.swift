import MediaCore
import RealtimeAudio

/// Waiting for samples: what is held back, what is played early, and what is ready.
extension PlayerCore {
  /// How much has to be decoded behind a stall before playing goes on: half a second.
  private static let resumptionMilliseconds = 500

  // MARK: - Asking

  /// Plays with what there is, at once. See `PlayerControl.playImmediately`.
  func playImmediately(atRate rate: Double) throws(MediaError) {
    guard rate != 0 else {
      throw MediaError(.unsupportedRate, "0 is no rate to play at", operation: "play-immediately")
    }
    try checkRate(rate)
    commitEarly()
    changeRate(to: rate, immediately: true)
  }

  func setAutomaticallyWaits(_ waits: Bool) {
    run(machine.setAutomaticallyWaits(waits), cause: .request)
    if !waits, machine.rate != 0 { commitEarly() }
  }

  /// A stream of which only the first samples are there is played nevertheless. Where there are none yet, a player that
  /// does not wait by itself plays with the first that come.
  func commitEarly() {
    guard let start = machine.preparedStart, start.spliceAfter == nil, let preparing else { return }
    guard preparing.stream.writtenFrame > 0 else {
      if !machine.automaticallyWaits { pipeline.report(reaching: 1) }
      return
    }
    takeSpans()
    run(machine.prepared(generation: preparing.number), cause: .request)
    send(machine.plan)
  }

  // MARK: - What is there

  /// Whether nothing is decoded of what would be heard next. Not so where the sound has ended.
  var isBufferEmpty: Bool {
    guard let current = machine.entries.first, current.status.error == nil else { return true }
    guard machine.preparedStart?.spliceAfter != nil || machine.preparedStart == nil, let sounding else { return true }
    return bufferedFrameCount(of: sounding) == 0 && sounding.stream.endFrame == nil
  }

  /// Frames of what sounds that have been decoded and not been heard.
  private func bufferedFrameCount(of generation: Generation) -> Int64 {
    max(0, generation.stream.writtenFrame - (heardStreamFrame(of: generation.stream.id) ?? 0))
  }

  // MARK: - Holding

  /// Holds the stream that ran dry for as long as the machine waits. Answers whether the mixer is to be told.
  func holdOrRelease() -> Bool {
    guard machine.isStarved else {
      guard let held = heldStream else { return false }
      heldStream = nil
      held.hold(at: nil)
      return machine.rate != 0
    }
    guard heldStream == nil, let stream = sounding?.stream else { return false }
    let frame = starvedPlace.flatMap { $0.streamID == stream.id ? $0.frame : nil } ?? stream.writtenFrame
    heldStream = stream
    stream.hold(at: frame)
    pipeline.report(reaching: resumptionFrame(after: frame))
    return false
  }

  /// The frame that has to be decoded before playback continues after samples ran out at `frame`.
  private func resumptionFrame(after frame: Int64) -> Int64 {
    frame + Int64(timeline.sampleRateHz * Self.resumptionMilliseconds / 1_000)
  }

  /// Follows a starvation: renders again at once if samples have come already, or when those of the next item come, as many as
  /// a device takes at once.
  func awaitSamples() {
    endSilence()
    guard machine.rate != 0, !machine.isStarved, machine.isLastEnded, let place = starvedPlace,
      let stream = sounding?.stream, stream.id == place.streamID, stream.writtenFrame <= place.frame
    else { return }
    pipeline.report(reaching: place.frame + Int64(timeline.sampleRateHz / 10))
  }

  /// Renders again what the mixer has rendered as silence, if samples for it have come.
  ///
  /// They may have come before the player handled the starvation. Then no report of the decode thread follows while that
  /// thread rests or waits for a file.
  func endSilence() {
    guard machine.rate != 0, timeline.runs.last?.end?.reason == .starved, let place = starvedPlace,
      let sounding, sounding.stream.id == place.streamID
    else { return }
    let writtenFrame = sounding.stream.writtenFrame
    if !machine.isStarved {
      if writtenFrame > place.frame { output.commit() }
    } else if writtenFrame >= resumptionFrame(after: place.frame) {
      run(machine.keepsUp(generation: sounding.number), cause: .buffered)
    }
  }
}
