import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Cross-fades between the passes of a stream, and at its beginning.
extension DecodeWorker {
  /// Reserves the end of the current pass for a cross-fade with the next one, if one is planned.
  ///
  /// At most half of a pass is reserved. If its length is only estimated, or unknown, its end may be reserved later
  /// than expected, and the cross-fade may be shorter. The end of an item that cannot seek is not reserved, because it
  /// could not be decoded again after a change of the queue.
  func updateReserve() {
    guard let job, let writer else { return }
    guard let crossfade = plan.crossfade, let (pass, startFrame) = current, !pass.isSilence, let currentDecoder,
      currentDecoder.properties.isSeekable
    else {
      // The end of a complete pass stays reserved until the next one begins, or the stream ends.
      if plan.crossfade == nil || current != nil { writer.output.reserve(.none) }
      return
    }
    let frameCount = crossfade.frameCount(rate: job.format.sampleRateHz)
    let ahead = currentDecoder.properties.providesPreciseDuration ? nil : wakeupLimit(job)
    guard let length = expectedFrameCount(of: pass, currentDecoder, job) else {
      return writer.output.reserve(StreamOutput.Reserve(frameCount: Int(frameCount), aheadCount: ahead))
    }
    // An estimate may be too long or too short.
    let margin = ahead == nil ? 0 : max(length / 8, Int64(job.format.sampleRateHz / 4))
    let count = min(frameCount + margin, length / 2)
    let end = startFrame + length
    writer.output.reserve(
      StreamOutput.Reserve(
        frameCount: Int(ahead == nil ? count : frameCount), firstFrame: end - count, aheadCount: ahead,
        latestEnd: ahead == nil ? .max : end + margin))
  }

  /// The duration of longer items counts as unknown: 89 years at 192 kHz.
  private static let longestPass: Int64 = 1 << 49

  /// The number of output frames of a pass, as far as the duration of its item is known.
  private func expectedFrameCount(of pass: Pass, _ decoder: ItemDecoder, _ job: DecodePipeline.Job) -> Int64? {
    let rate = job.request.rate
    let duration = decoder.itemDuration
    let end = pass.end ?? (rate.isReverse ? .zero : duration)
    let start = pass.start.isPositiveInfinity ? duration : pass.start
    guard start.isNumeric, end.isNumeric else { return nil }
    let length = rate.isReverse ? start - end : end - start
    return length.frameCount(
      rate: job.format.sampleRateHz, playbackRate: rate.magnitude, rounding: .towardNegativeInfinity
    ).flatMap { $0 < Self.longestPass ? max(0, $0) : nil }
  }

  /// Begins the cross-fade of the pass that ended last, whose end is reserved, with the next one. Returns nil without
  /// one.
  func beginOverlap(
    with pass: Pass, _ decoder: ItemDecoder, _ job: DecodePipeline.Job, _ writer: StreamWriter
  ) -> DecodePipeline.OverlapStart? {
    guard let crossfade = pass.crossfade, let endedPass, decoder.properties.isSeekable else { return nil }
    self.endedPass = nil
    let output = writer.output
    var frameCount = min(
      crossfade.frameCount(rate: job.format.sampleRateHz), Int64(output.reservedCount), endedPass.frameCount / 2)
    if let length = expectedFrameCount(of: pass, decoder, job) { frameCount = min(frameCount, length / 2) }
    // Three items are never heard at once.
    frameCount = min(frameCount, output.writtenFrame - output.overlapEndFrame)
    guard frameCount > 0 else { return nil }
    writer.beginOverlap(of: frameCount, crossfade, gain: relativeGain(endedPass.gain, to: decoder.gain))
    return DecodePipeline.OverlapStart(streamFrame: writer.endFrame, frameCount: frameCount)
  }

  /// The gain of an item relative to that of another one, with which the mixer multiplies both.
  private func relativeGain(_ gain: Float, to other: Float) -> Float { other > 0 ? gain / other : gain }

  /// Decodes the end of the previous item for a job that begins in a cross-fade. Returns nil without one, or if that
  /// item can no longer be decoded.
  func readOutgoing(_ job: DecodePipeline.Job) -> (samples: [Float], gain: Float)? {
    guard let outgoing = job.outgoing else { return nil }
    let frameCount = Int(outgoing.frameCount - outgoing.elapsedFrameCount)
    let stream = RenderStream(capacityFrames: 1, channelCount: job.format.channelCount)
    let writer = StreamWriter(stream: stream, format: job.format, playbackRate: job.request.rate)
    writer.output.reserve(StreamOutput.Reserve(frameCount: frameCount, firstFrame: 0))
    do throws(MediaError) {
      let decoder = try open(outgoing.source, isPlanned: false)
      let request = PlayerStateMachine.DecodeRequest(
        itemID: decoder.itemID, time: outgoing.time, rate: job.request.rate)
      _ = try outgoing.source.openingRecorder.whileOpening(decoder.itemID) { () throws(MediaError) in
        try writer.start(with: decoder, at: request)
      }
      if !setEnd(outgoing.end, of: decoder) { decoder.endAtCurrentPosition() }
      while writer.output.reservedCount < frameCount, case .written = try writer.write(from: decoder) {}
      _ = writer.finish()
      let samples = writer.output.takeReserved(writer.output.reservedCount)
      return (Array(samples.prefix(frameCount * job.format.channelCount)), decoder.gain)
    } catch {
      // The following item begins without it.
      currentDecoder = nil
      if error.code != .cancelled {
        report(.warning(itemID: outgoing.source.itemID, time: outgoing.time, error))
      }
      return nil
    }
  }

  /// Begins the first pass of a job with the end of the previous item.
  func beginOverlap(
    with audio: (samples: [Float], gain: Float), _ decoder: ItemDecoder, _ job: DecodePipeline.Job,
    _ writer: StreamWriter
  ) {
    guard let outgoing = job.outgoing else { return }
    overlapFrameCount = Int64(audio.samples.count / job.format.channelCount)
    writer.beginOverlap(
      with: audio.samples, outgoing.crossfade, gain: relativeGain(audio.gain, to: decoder.gain),
      elapsed: outgoing.elapsedFrameCount)
  }
}
