import LibAV
import MediaCore

/// Converts decoded frames to interleaved float32 of one fixed shape, whatever shape they come in.
///
/// Threading: one thread at a time.
struct FrameConverter {
  /// The `call` of the failure that says that a frame has another sample rate.
  static let rateChanged = "rate change"

  private let format: AudioFormat
  private var resampler: Resampler?

  init(format: AudioFormat) { self.format = format }

  /// Converts part of a frame into room for as many frames.
  ///
  /// A frame with another channel count is mixed as `ChannelMatrix` says; another rate is a failure.
  mutating func convert(
    _ frame: Frame, range: Range<Int>, into output: UnsafeMutablePointer<Float>
  ) throws(AVFailure) {
    guard let layout = frame.layout else { return }
    guard layout.sampleRateHz == format.sampleRateHz else { throw AVFailure(invalidDataIn: Self.rateChanged) }
    let current: Resampler
    if let resampler, resampler.input == layout {
      current = resampler
    } else {
      current = try Resampler(
        input: layout, outputSampleRateHz: format.sampleRateHz, outputChannelCount: format.channelCount,
        matrix: ChannelMatrix.gains(from: layout.channelCount, to: format.channelCount))
      resampler = current
    }
    let written = try current.convert(frame, range: range, into: output, capacityFrames: range.count)
    guard written == range.count else { throw AVFailure(invalidDataIn: "swr_convert") }
  }
}
