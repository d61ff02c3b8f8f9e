import PlayheadLibAV
import PlayheadMediaCore

/// Converts interleaved float32 audio between sample rates and channel counts, as one continuous stream.
///
/// The output does not depend on how the input is divided into chunks.
///
/// A conversion may begin within the audio, after a seek. The output for the frames between `historyStart`
/// and the first audible frame is then discarded. The rest equals a conversion from frame 0, bit for bit.
/// This has two conditions:
///
/// - The position of `historyStart` coincides with an output frame, so that the resampler's phase is 0.
/// - The history before the first audible frame is at least as long as the reach of the filter. At frame 0 there is no
///   history, and libswresample mirrors the first frames.
///
/// A playback rate other than 1 changes tempo and pitch together, like a tape: as if the input had a proportionally
/// higher sample rate. The conversion can then begin at any frame, because the rates rarely coincide. Output frames are
/// counted from that frame.
///
/// Threading: one thread at a time.
package final class AudioConverter {
  package let input: AudioFormat
  /// The format after the conversion.
  package let output: AudioFormat
  /// The rate by which tempo and pitch change.
  package let playbackRate: PlaybackRate
  /// The index of the first output frame, counted from the output position of input frame 0. At a playback rate other
  /// than 1, counted from the output position of the first input frame.
  package let firstOutputFrame: Int64
  private let resampler: Resampler
  /// The number of output frames to discard before the first audible one.
  private var droppedFrameCount: Int

  /// Creates a converter whose input begins at `historyStart` and whose output begins at `firstInputFrame`.
  ///
  /// - Parameters:
  ///   - input: The format of the input.
  ///   - output: The format of the output.
  ///   - playbackRate: The rate by which tempo and pitch change.
  ///   - historyStart: the index of the first input frame, from `historyStart(before:from:to:)`.
  ///   - firstInputFrame: the input frame at or after whose position the output begins. Must not be before
  ///     `historyStart`.
  ///   - firstOutputFrame: the first output frame, if it differs from the one for `firstInputFrame`. Must not be before
  ///     the output position of `historyStart`.
  ///   - droppedFrameCount: the number of output frames to discard; replaces the two parameters above if `playbackRate`
  ///     is not 1.
  /// - Throws: `conversionFailed`.
  package init(
    from input: AudioFormat, to output: AudioFormat, playbackRate: PlaybackRate = .normal, historyStart: Int64 = 0,
    firstInputFrame: Int64 = 0, firstOutputFrame: Int64? = nil, droppedFrameCount: Int64 = 0
  ) throws(MediaError) {
    precondition(
      historyStart >= 0 && firstInputFrame >= historyStart, "the history must begin before the first input frame")
    self.input = input
    self.output = output
    self.playbackRate = playbackRate
    let ratio = FrameRatio(from: input.sampleRateHz, to: output.sampleRateHz, playbackRate: playbackRate)
    if playbackRate == .normal {
      let first = firstOutputFrame ?? ratio.outputFrame(ofInputFrame: firstInputFrame)
      let dropped = first - ratio.outputFrame(ofInputFrame: historyStart)
      precondition(dropped >= 0, "the history must begin before the first input frame")
      self.firstOutputFrame = first
      self.droppedFrameCount = Int(dropped)
    } else {
      self.firstOutputFrame = droppedFrameCount
      self.droppedFrameCount = Int(droppedFrameCount)
    }
    do {
      // At rate 1 libswresample gets the original sample rates, because its output may depend on the form of the ratio.
      let rates =
        playbackRate == .normal
        ? (input: input.sampleRateHz, output: output.sampleRateHz) : ratio.nearest(upTo: Resampler.largestRates)
      resampler = try Resampler(
        input: SampleLayout(format: .float32, sampleRateHz: rates.input, channelCount: input.channelCount),
        outputSampleRateHz: rates.output, outputChannelCount: output.channelCount,
        matrix: ChannelMatrix.gains(from: input.channelCount, to: output.channelCount),
        interpolates: playbackRate != .normal)
    } catch {
      throw MediaError(
        .conversionFailed,
        "cannot convert \(input.sampleRateHz) Hz, \(input.channelCount) channels to \(output.sampleRateHz) Hz, \(output.channelCount) channels at rate \(playbackRate.value)",
        operation: error.call, underlying: error.reason)
    }
  }

  /// Converts `frameCount` frames. Output that does not fit is delivered by the next call.
  ///
  /// - Returns: the number of frames written. Fewer than `capacityFrames` means that no more output is available now.
  package func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int {
    var inputCount = frameCount
    return try discardingHistory(into: output, capacityFrames: capacityFrames) { output, capacity throws(AVFailure) in
      defer { inputCount = 0 }
      return try resampler.convert(samples, frameCount: inputCount, into: output, capacityFrames: capacity)
    }
  }

  /// Ends the stream and writes the remaining output. Call it until it returns 0.
  package func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    try discardingHistory(into: output, capacityFrames: capacityFrames) { output, capacity throws(AVFailure) in
      try resampler.drain(into: output, capacityFrames: capacity)
    }
  }

  /// Fills `output` with the frames of `produce`, without those before the first audible frame.
  private func discardingHistory(
    into output: UnsafeMutablePointer<Float>, capacityFrames: Int,
    _ produce: (UnsafeMutablePointer<Float>, Int) throws(AVFailure) -> Int
  ) throws(MediaError) -> Int {
    do throws(AVFailure) {
      var count = try produce(output, capacityFrames)
      while droppedFrameCount > 0, count > 0 {
        let dropped = min(droppedFrameCount, count)
        droppedFrameCount -= dropped
        let channelCount = self.output.channelCount
        let audibleSampleCount = (count - dropped) * channelCount
        output.update(from: output + dropped * channelCount, count: audibleSampleCount)
        guard count == capacityFrames else { return count - dropped }
        count = count - dropped + (try produce(output + audibleSampleCount, dropped))
      }
      return count
    } catch { throw Self.conversionError(error) }
  }

  // MARK: - Positions

  /// Returns the input frame at which a conversion must begin, so that its output from `frame` on equals a conversion
  /// from frame 0. At equal rates this is `frame`.
  ///
  /// At a playback rate other than 1 the history is only as long as the filter needs.
  package static func historyStart(
    before frame: Int64, from input: AudioFormat, to output: AudioFormat, playbackRate: PlaybackRate = .normal
  ) -> Int64 {
    if playbackRate != .normal {
      let ratio = FrameRatio(from: input.sampleRateHz, to: output.sampleRateHz, playbackRate: playbackRate)
      let rates = ratio.nearest(upTo: Resampler.largestRates)
      return max(0, frame - Int64(Resampler.filterFrames(from: rates.input, to: rates.output)))
    }
    guard input.sampleRateHz != output.sampleRateHz else { return frame }
    let period = Int64(Resampler.phasePeriodFrames(from: input.sampleRateHz, to: output.sampleRateHz))
    let history = Int64(Resampler.filterFrames(from: input.sampleRateHz, to: output.sampleRateHz))
    return max(0, frame - history) / period * period
  }

  /// Returns the number of frames at the end of the input whose output depends on later input. 0 at equal rates.
  package static func filterReach(from inputRateHz: Int, to outputRateHz: Int) -> Int {
    inputRateHz == outputRateHz ? 0 : Resampler.filterFrames(from: inputRateHz, to: outputRateHz) / 2
  }

  private static func conversionError(_ failure: AVFailure) -> MediaError {
    MediaError(
      .conversionFailed, "the audio cannot be converted", operation: failure.call, underlying: failure.reason)
  }
}

/// The gains that map input channels to output channels, at index `output * inputCount + input`.
enum ChannelMatrix {
  /// Returns the gains; nil if the channel counts are equal.
  ///
  /// - Mono feeds the first two channels with gain 1.
  /// - Surplus input channels are mixed down by ITU-R BS.775 (centre and surrounds at -3 dB, no LFE),
  ///   scaled to prevent clipping.
  /// - Surplus output channels are silent.
  static func gains(from inputCount: Int, to outputCount: Int) -> [Double]? {
    if inputCount == outputCount { return nil }
    var gains = [Double](repeating: 0, count: inputCount * outputCount)
    func set(_ output: Int, _ input: Int, _ gain: Double) { gains[output * inputCount + input] = gain }
    if inputCount == 1 {
      for output in 0..<min(2, outputCount) { set(output, 0, 1) }
    } else if outputCount > inputCount {
      for channel in 0..<inputCount { set(channel, channel, 1) }
    } else if outputCount == 1 {
      for input in 0..<inputCount where input != 3 || inputCount < 6 { set(0, input, 1 / Double(inputCount)) }
    } else {
      for channel in 0..<outputCount { set(channel, channel, 1) }
      let minus3dB = 0.5.squareRoot()
      for input in outputCount..<inputCount {
        // FFmpeg's order: FL FR FC LFE BL BR SL SR. With three channels index 2 is the centre; with four and five the
        // back channels follow.
        switch (input, outputCount) {
        case (2, 2) where inputCount != 4: (set(0, input, minus3dB), set(1, input, minus3dB)).0
        case (3, _) where inputCount >= 6: break
        default: set(input % 2, input, minus3dB)
        }
      }
      let largestSum =
        (0..<outputCount).map { row in
          (0..<inputCount).reduce(0) { $0 + gains[row * inputCount + $1] }
        }.max() ?? 1
      if largestSum > 1 { gains = gains.map { $0 / largestSum } }
    }
    return gains
  }
}
