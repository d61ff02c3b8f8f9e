import MediaCore
import PlayerModel
import RealtimeAudio

/// Continuations: audio that replaces that of the same pass, for example at another rate, from the position that is
/// heard.
extension PlayerCore {
  /// Continues the audible pass with the stream, from the position that is heard, with a cross-fade of 5 ms.
  func continueAudio(with next: Generation, _ core: RenderCore, input: Int) {
    let isShared = next.sharedFrame != nil
    core.setStream(
      next.stream, fromFrame: isShared ? 0 : playedFrameCount(of: next), anchorFrame: next.sharedFrame ?? .min,
      fadeFrameCount: Self.fadeFrameCount(core), input: input)
  }

  /// The length of a cross-fade: 5 ms.
  static func fadeFrameCount(_ core: RenderCore) -> Int64 { Int64(core.format.sampleRateHz / 200) }

  /// The number of frames that playback advanced while its continuation was decoded. For a shared change it is counted
  /// from the shared frame, as if the stream had been ready in time.
  private func playedFrameCount(of prepared: Generation) -> Int64 {
    max(0, min(elapsedFrameCount(of: prepared), prepared.stream.writtenFrame))
  }

  /// Like `playedFrameCount`, but not limited to the frames of the stream: the number may be negative, or larger than
  /// the decoded part.
  func elapsedFrameCount(of prepared: Generation) -> Int64 {
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
  /// - If playback has passed all audio of a continuation, it is decoded again from the position that is heard.
  /// - If only a short part remains, the previous audio is heard until more is decoded.
  func startPrepared(_ generation: UInt64) {
    if let prepared = preparing, prepared.number == generation {
      if elapsedFrameCount(of: prepared) > prepared.stream.writtenFrame {
        run(machine.restartContinuation(from: currentTime()), cause: .buffered)
      } else if isTooShort(prepared) {
        let frame = requiredFrame(of: prepared)
        preparing?.awaitedFrame = frame
        return pipeline.requestReport(reaching: frame)
      }
    }
    finishPreparation(of: generation)
  }

  /// Handles more decoded audio of a prepared generation, or the suspension of its decoding: then no more follows.
  func decodedMore(of generation: UInt64) {
    guard let prepared = preparing, prepared.number == generation, let frame = prepared.awaitedFrame else { return }
    preparing?.awaitedFrame = nil
    if prepared.stream.writtenFrame >= frame { startPrepared(generation) } else { finishPreparation(of: generation) }
  }

  private func finishPreparation(of generation: UInt64) {
    run(machine.prepared(generation: generation), cause: .buffered)
    // The plan is sent even if no pass follows, because the decode thread waits for it.
    if generation == machine.generation { send(machine.plan) }
  }

  /// Whether a prepared continuation of the playing audio would stall soon after its start.
  private func isTooShort(_ prepared: Generation) -> Bool {
    prepared.isContinuation && prepared.sharedFrame == nil && prepared.stream.endFrame == nil && audible != nil
      && machine.requestInPreparation?.spliceAfter == nil && machine.rate != 0 && !machine.isRebuffering
      && prepared.stream.writtenFrame < requiredFrame(of: prepared)
  }

  // MARK: - Late streams

  /// Handles a stream that was scheduled too late: the mixer still reads `outgoing`.
  func spliceMissed() {
    guard let audible else { return }
    guard audible.isContinuation else {
      guard let core = output.core, let inputIndex else { return }
      core.setStream(audible.stream, fromFrame: 0, input: inputIndex)
      applyRunning()
      return output.postCommands()
    }
    let frame = requiredFrame(of: audible)
    guard outgoing != nil, audible.stream.endFrame == nil, audible.stream.writtenFrame < frame else {
      return startLateAudio()
    }
    // The previous audio is heard until then.
    lateContinuation = (audible.number, frame)
    pipeline.requestReport(reaching: frame)
  }

  /// The number of frames that a late continuation needs when it is rendered: those that are replaced by the previous
  /// audio, and 100 ms, about as much as a device reads at once.
  private func requiredFrame(of continuation: Generation) -> Int64 {
    elapsedFrameCount(of: continuation) + Int64(timeline.sampleRateHz / 10)
  }

  /// Starts a late continuation whose frames are written now, or whose decoding has been suspended.
  func continueLateAudio(_ generation: UInt64) {
    guard let late = lateContinuation, late.generation == generation else { return }
    guard let audible, outgoing != nil, audible.number == late.generation else {
      lateContinuation = nil
      return
    }
    // Without the required frame, the decode thread sleeps: no further frames follow.
    guard audible.stream.writtenFrame >= late.frame else { return startLateAudio() }
    spliceMissed()
  }

  /// Renders the late continuation as soon as possible.
  func startLateAudio() {
    lateContinuation = nil
    guard let audible, let core = output.core, let inputIndex else { return }
    continueAudio(with: audible, core, input: inputIndex)
    applyRunning()
    output.postCommands()
  }
}
