import LibAV
import MediaCore

/// Converts interleaved float32 sound from one rate and channel count to another, as one unbroken stream: what comes
/// out of it equals the conversion of everything that went in, wherever the pieces were cut.
///
/// Threading: one thread at a time.
public final class AudioConverter {
  public let input: AudioFormat
  public let output: AudioFormat
  /// Frames that went in since the start.
  public private(set) var inputFrameCount: Int64 = 0
  private let resampler: Resampler

  /// Sets up a conversion. Errors: `conversionFailed`.
  public init(from input: AudioFormat, to output: AudioFormat) throws(MediaError) {
    self.input = input
    self.output = output
    do {
      resampler = try Resampler(
        input: SampleLayout(format: .float32, sampleRateHz: input.sampleRateHz, channelCount: input.channelCount),
        outputSampleRateHz: output.sampleRateHz, outputChannelCount: output.channelCount,
        matrix: ChannelMatrix.gains(from: input.channelCount, to: output.channelCount))
    } catch {
      throw MediaError(
        .conversionFailed,
        "cannot convert \(input.sampleRateHz) Hz, \(input.channelCount) channels to \(output.sampleRateHz) Hz, \(output.channelCount) channels",
        operation: error.call, underlying: error.reason)
    }
  }

  /// Puts `frameCount` frames in and writes what comes out; what does not fit comes out of the next call.
  public func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int {
    inputFrameCount += Int64(frameCount)
    do {
      return try resampler.convert(samples, frameCount: frameCount, into: output, capacityFrames: capacityFrames)
    } catch { throw Self.mapped(error) }
  }

  /// Ends the stream: writes what is still inside; call until it answers 0.
  public func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    do { return try resampler.drain(into: output, capacityFrames: capacityFrames) } catch { throw Self.mapped(error) }
  }

  /// The output frame at or after input frame `frame`: where something that begins there begins in the output.
  public func outputFrame(ofInputFrame frame: Int64) -> Int64 {
    let scaled = Int128(frame) * Int128(output.sampleRateHz)
    let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: Int128(input.sampleRateHz))
    return Int64(clamping: remainder > 0 ? quotient + 1 : quotient)
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
