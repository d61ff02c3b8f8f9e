import LibAV
import MediaCore

/// Converts interleaved float32 sound from one rate and channel count to another, as one unbroken stream: what comes
/// out of it equals the conversion of everything that went in, wherever the pieces were cut.
///
/// It may begin in the middle of what it converts (after a seek): with `historyStart` frames go in that are not heard,
/// and what comes out equals a conversion from frame 0 on, bit for bit. That needs a beginning at a frame with which an
/// output frame coincides (the resampler's phase is 0 there), and as much before the first frame heard as the filter
/// reaches back. At frame 0 there is nothing before, and libswresample mirrors the first frames, as it always does.
///
/// At another playback rate than 1 it makes the sound faster or slower, and with that higher or lower, as a tape does: as
/// if the input's rate were so much higher. Then any frame is as good as another to begin at (rates rarely coincide), and
/// output frames are counted from there.
///
/// Threading: one thread at a time.
public final class AudioConverter {
  public let input: AudioFormat
  public let output: AudioFormat
  public let playbackRate: PlaybackRate
  /// The output frame, counted from what input frame 0 becomes, that comes out first; at another playback rate than 1
  /// counted from what the first input frame that goes in becomes.
  public let firstOutputFrame: Int64
  private let resampler: Resampler
  /// Frames that come out before the first one that is heard.
  private var droppedFrameCount: Int

  /// Sets up a conversion of what goes in from `historyStart` on and is heard from `firstInputFrame` on.
  ///
  /// - Parameters:
  ///   - historyStart: the number of the first frame that will go in, from `historyStart(before:from:to:)`.
  ///   - firstInputFrame: the first frame that comes out is the one at or behind it; not before `historyStart`.
  ///   - firstOutputFrame: the first frame that comes out, where that is another one than `firstInputFrame` says; not before what
  ///     `historyStart` becomes.
  ///   - droppedFrameCount: at another `playbackRate` than 1, instead of the two: how many frames would come out first.
  /// Errors: `conversionFailed`.
  public init(
    from input: AudioFormat, to output: AudioFormat, playbackRate: PlaybackRate = .normal, historyStart: Int64 = 0,
    firstInputFrame: Int64 = 0, firstOutputFrame: Int64? = nil, droppedFrameCount: Int64 = 0
  ) throws(MediaError) {
    precondition(historyStart >= 0 && firstInputFrame >= historyStart, "history begins before what is heard")
    self.input = input
    self.output = output
    self.playbackRate = playbackRate
    let ratio = FrameRatio(from: input.sampleRateHz, to: output.sampleRateHz, playbackRate: playbackRate)
    if playbackRate == .normal {
      let first = firstOutputFrame ?? ratio.outputFrame(ofInputFrame: firstInputFrame)
      let dropped = first - ratio.outputFrame(ofInputFrame: historyStart)
      precondition(dropped >= 0, "history begins before what is heard")
      self.firstOutputFrame = first
      self.droppedFrameCount = Int(dropped)
    } else {
      self.firstOutputFrame = droppedFrameCount
      self.droppedFrameCount = Int(droppedFrameCount)
    }
    do {
      // At the rate 1 libswresample gets the rates as they are: what it brings may hang on how they are said.
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

  /// Puts `frameCount` frames in and writes what comes out; what does not fit comes out of the next call. Fewer frames
  /// than `capacityFrames` say that nothing more is inside that could come out.
  public func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int {
    var inputCount = frameCount
    return try heard(into: output, capacityFrames: capacityFrames) { output, capacity throws(AVFailure) in
      defer { inputCount = 0 }
      return try resampler.convert(samples, frameCount: inputCount, into: output, capacityFrames: capacity)
    }
  }

  /// Ends the stream: writes what is still inside; call until it answers 0.
  public func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    try heard(into: output, capacityFrames: capacityFrames) { output, capacity throws(AVFailure) in
      try resampler.drain(into: output, capacityFrames: capacity)
    }
  }

  /// Fills `output` with what `produce` gives, but for what comes before the first frame that is heard.
  private func heard(
    into output: UnsafeMutablePointer<Float>, capacityFrames: Int,
    _ produce: (UnsafeMutablePointer<Float>, Int) throws(AVFailure) -> Int
  ) throws(MediaError) -> Int {
    do throws(AVFailure) {
      var count = try produce(output, capacityFrames)
      while droppedFrameCount > 0, count > 0 {
        let dropped = min(droppedFrameCount, count)
        droppedFrameCount -= dropped
        let channelCount = self.output.channelCount
        let kept = (count - dropped) * channelCount
        output.update(from: output + dropped * channelCount, count: kept)
        guard count == capacityFrames else { return count - dropped }
        count = count - dropped + (try produce(output + kept, dropped))
      }
      return count
    } catch { throw Self.mapped(error) }
  }

  // MARK: - Places

  /// Where input has to begin for what is heard from `frame` on to equal a conversion from frame 0 on; `frame` itself
  /// at equal rates. At another playback rate than 1: far enough before `frame` for the filter.
  public static func historyStart(
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

  /// How far before its end what has been converted is not final, in input frames: what follows there has a part in it.
  /// 0 at equal rates.
  public static func filterReach(from inputRateHz: Int, to outputRateHz: Int) -> Int {
    inputRateHz == outputRateHz ? 0 : Resampler.filterFrames(from: inputRateHz, to: outputRateHz) / 2
  }

  private static func mapped(_ failure: AVFailure) -> MediaError {
    MediaError(
      .conversionFailed, "the sound could not be converted", operation: failure.call, underlying: failure.reason)
  }
}

/// How channels become others: gains, `output * inputCount + input`.
enum ChannelMatrix {
  /// nil: every channel as it is. Mono feeds the first two channels at gain 1; more channels than the output has are
  /// mixed down as ITU-R BS.775 does (centre and surrounds at -3 dB, no LFE), scaled so that nothing clips; fewer leave
  /// the rest silent.
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
        // FFmpeg's order: FL FR FC LFE BL BR SL SR; three channels have their centre at 2, four and five their backs.
        switch (input, outputCount) {
        case (2, 2) where inputCount != 4: (set(0, input, minus3dB), set(1, input, minus3dB)).0
        case (3, _) where inputCount >= 6: break
        default: set(input % 2, input, minus3dB)
        }
      }
      let loudest =
        (0..<outputCount).map { row in
          (0..<inputCount).reduce(0) { $0 + gains[row * inputCount + $1] }
        }.max() ?? 1
      if loudest > 1 { gains = gains.map { $0 / loudest } }
    }
    return gains
  }
}
