import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Early playback, and the buffer state.
extension PlayerCore {
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
}
