import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Continuations: audio that replaces that of the same pass, for example at another rate, from the position that is
/// heard.
extension PlayerCore {
  /// Continues the audible pass with the stream, from the position that is heard, with a cross-fade of 5 ms.
  func continueAudio(with next: Generation, _ core: RenderCore, input: Int) {
    let isShared = next.sharedFrame != nil
    core.setStream(
      next.stream, fromFrame: isShared ? 0 : playedFrameCount(of: next), anchorFrame: next.sharedFrame ?? .min,
      switchFade: Self.changeFade(core), input: input)
  }

  /// Logs that a change is cross-faded, because its audio, or that before it, is not decoded in time.
  func logInexactChange() { logger.info("a change was ready too late to replace the audio exactly") }

  /// The cross-fade between two versions of the same audio: linear, 5 ms.
  static func changeFade(_ core: RenderCore) -> SwitchFade {
    SwitchFade(frameCount: Int64(core.format.sampleRateHz / 200))
  }

  /// The number of frames that playback advanced while its continuation was decoded. For a shared change it is counted
  /// from the shared frame, as if the stream had been ready in time.
  private func playedFrameCount(of prepared: Generation) -> Int64 {
    max(0, min(elapsedFrameCount(of: prepared), prepared.stream.writtenFrame))
  }

  /// Like `playedFrameCount`, but not limited to the frames of the stream: the number may be negative, or larger than
  /// the decoded part.
  private func elapsedFrameCount(of prepared: Generation) -> Int64 {
    if let frame = prepared.sharedFrame { return output.heardFrame - frame }
    guard let position, let start = timeline.position(streamID: prepared.stream.id, streamFrame: 0),
      // The next item may have begun meanwhile; its time is not comparable.
      position.itemID == start.itemID,
      let rate = timeline.rate(streamID: prepared.stream.id, streamFrame: 0),
      let elapsed = (position.time - start.time).frameCount(
        rate: timeline.sampleRateHz, playbackRate: rate, rounding: .towardNegativeInfinity)
    else { return 0 }
    return elapsed
  }

  // MARK: - Prepared streams

  /// Starts the prepared generation.
  ///
  /// If playback has passed all audio of a continuation, it is decoded again from the position that is heard. If only a
  /// short part remains, the previous audio is heard until more is decoded.
  func startPrepared(_ generation: UInt64) {
    if let prepared = chain.preparing, prepared.number == generation {
      let (elapsed, written) = (elapsedFrameCount(of: prepared), prepared.stream.writtenFrame)
      // A device reads about 100 ms at once.
      let required = elapsed + Int64(timeline.sampleRateHz / 10)
      if elapsed > written {
        run(machine.restartContinuation(from: currentTime()), cause: .buffered)
      } else if prepared.isContinuation, written < required, prepared.stream.endFrame == nil, isAdvancing {
        chain.update(generation) { $0.awaitedFrame = required }
        return pipeline.requestReport(reaching: required)
      }
    }
    finishPreparation(of: generation)
  }

  /// Whether audio is heard that a continuation can replace later.
  private var isAdvancing: Bool { chain.sounding != nil && machine.rate != 0 && !machine.isRebuffering }

  /// Handles more decoded audio of a prepared generation, or the suspension of its decoding: then no more follows.
  func decodedMore(of generation: UInt64) {
    guard let prepared = chain.preparing, prepared.number == generation, let frame = prepared.awaitedFrame else {
      return
    }
    chain.update(generation) { $0.awaitedFrame = nil }
    if prepared.stream.writtenFrame >= frame { startPrepared(generation) } else { finishPreparation(of: generation) }
  }

  private func finishPreparation(of generation: UInt64) {
    run(machine.prepared(generation: generation), cause: .buffered)
    // The plan is sent even if no pass follows, because the decode thread waits for it.
    if generation == machine.generation { send(machine.plan) }
  }

  /// Renders the next stream as soon as possible, because it was scheduled too late.
  func spliceMissed() {
    guard let next = chain.sounding, let core = output.core, let inputIndex else { return }
    if next.isContinuation {
      logInexactChange()
      continueAudio(with: next, core, input: inputIndex)
    } else {
      core.setStream(next.stream, fromFrame: 0, input: inputIndex)
    }
    applyRunning()
    output.postCommands()
  }
}
