import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Underruns: withheld samples, early playback, and the buffer state.
extension PlayerCore {
  /// The amount of audio that must be decoded after an underrun before playback resumes: 500 ms.
  private static let resumptionMilliseconds = 500

  // MARK: - Requests

  /// Plays at once with the available samples; see `PlayerControl.playImmediately`.
  func playImmediately(atRate rate: Double) throws(MediaError) {
    try checkOpen("playImmediately")
    guard rate != 0 else {
      throw MediaError(.unsupportedRate, "rate must not be 0", operation: "playImmediately")
    }
    try checkRate(rate)
    commitEarly()
    changeRate(to: rate, immediately: true)
  }

  func setAutomaticallyWaits(_ waits: Bool) {
    run(machine.setAutomaticallyWaits(waits), cause: .request)
    if !waits, machine.rate != 0 { commitEarly() }
  }

  /// Commits a stream that is still in preparation, if it has samples. If it has none, a player that does not wait
  /// automatically plays as soon as the first samples arrive.
  func commitEarly() {
    guard let request = machine.requestInPreparation, request.spliceAfter == nil, let preparing = chain.preparing else {
      return
    }
    guard preparing.stream.writtenFrame > 0 else {
      if !machine.automaticallyWaits { pipeline.requestReport(reaching: 1) }
      return
    }
    readSegments()
    run(machine.prepared(generation: preparing.number), cause: .request)
    send(machine.plan)
  }

  // MARK: - Buffer

  /// Whether all decoded audio has been heard. False at the end of the audio.
  var isBufferEmpty: Bool {
    guard let current = machine.entries.first, current.status.error == nil else { return true }
    guard machine.requestInPreparation?.spliceAfter != nil || machine.requestInPreparation == nil,
      let sounding = chain.sounding
    else {
      return true
    }
    return bufferedFrameCount(of: sounding) == 0 && sounding.stream.endFrame == nil
  }

  /// The number of frames of a generation that are decoded and not yet heard.
  private func bufferedFrameCount(of generation: Generation) -> Int64 {
    max(0, generation.stream.writtenFrame - (heardStreamFrame(of: generation.stream.id) ?? 0))
  }

  // MARK: - Withholding

  /// Withholds new samples of a stream after an underrun while the machine waits, and releases them when the wait ends.
  /// Returns whether commands must be posted to the mixer.
  func withholdOrRelease() -> Bool {
    guard machine.isRebuffering else {
      guard let withheld = withheldStream else { return false }
      withheldStream = nil
      withheld.mask(from: nil)
      return machine.rate != 0
    }
    guard withheldStream == nil, let stream = chain.sounding?.stream else { return false }
    let frame = underrunPosition.flatMap { $0.streamID == stream.id ? $0.frame : nil } ?? stream.writtenFrame
    withheldStream = stream
    stream.mask(from: frame)
    pipeline.requestReport(reaching: resumptionFrame(after: frame))
    return false
  }

  /// The frame that must be decoded before playback resumes after an underrun at `frame`.
  private func resumptionFrame(after frame: Int64) -> Int64 {
    frame + Int64(timeline.sampleRateHz * Self.resumptionMilliseconds / 1_000)
  }

  /// Handles an underrun that is no stall. Renders again at once if samples have already arrived. Otherwise requests a
  /// report when 100 ms of the next item are decoded, about as much as a device reads at once.
  func awaitSamples() {
    endSilence()
    guard machine.rate != 0, !machine.isRebuffering, machine.progress.isLastPassComplete,
      let underrun = underrunPosition,
      let stream = chain.sounding?.stream, stream.id == underrun.streamID, stream.writtenFrame <= underrun.frame
    else { return }
    pipeline.requestReport(reaching: underrun.frame + Int64(timeline.sampleRateHz / 10))
  }

  /// Renders again the audio that the mixer replaced by silence, if its samples have arrived.
  ///
  /// The samples may have arrived before the player handled the underrun. In that case the decode thread sends no
  /// further report while it is idle or waits for a file.
  func endSilence() {
    guard machine.rate != 0, timeline.runs.last?.end?.reason == .underrun, let underrun = underrunPosition,
      let sounding = chain.sounding, sounding.stream.id == underrun.streamID
    else { return }
    let writtenFrame = sounding.stream.writtenFrame
    if !machine.isRebuffering {
      if writtenFrame > underrun.frame { output.postCommands() }
    } else if writtenFrame >= resumptionFrame(after: underrun.frame) {
      run(machine.becameLikelyToKeepUp(generation: sounding.number), cause: .buffered)
    }
  }
}
