import PlayheadLibAV
import PlayheadMediaCore

/// Converts decoded frames of any sample format and channel count to interleaved samples of one fixed format.
///
/// Threading: one thread at a time.
struct FrameConverter {
  private let format: AudioFormat
  private let sampleFormat: SampleFormat
  private var resampler: Resampler?

  init(format: AudioFormat, sampleFormat: SampleFormat) {
    self.format = format
    self.sampleFormat = sampleFormat
  }

  /// Converts `range` of a frame. `ChannelMatrix` mixes a frame with another channel count.
  ///
  /// - Parameters:
  ///   - output: a buffer for the frames in `range`.
  ///   - name: the name of the file in error messages.
  /// - Throws: `unsupportedAudioFormat` for another sample rate; `conversionFailed`.
  mutating func convert(
    _ frame: Frame, range: Range<Int>, into output: UnsafeMutableRawPointer, of name: String
  ) throws(MediaError) {
    guard let layout = frame.layout else { return }
    guard layout.sampleRateHz == format.sampleRateHz else {
      throw MediaError(.unsupportedAudioFormat, "the sample rate changes in the middle of \(name)")
    }
    do throws(AVFailure) { try convertChecked(frame, layout, range, output) } catch {
      throw MediaError(error, path: name)
    }
  }

  private mutating func convertChecked(
    _ frame: Frame, _ layout: SampleLayout, _ range: Range<Int>, _ output: UnsafeMutableRawPointer
  ) throws(AVFailure) {
    if layout.format == sampleFormat, !sampleFormat.isPlanar, layout.channelCount == format.channelCount {
      return frame.copySamples(range, into: output)
    }
    let current: Resampler
    if let resampler, resampler.input == layout {
      current = resampler
    } else {
      current = try Resampler(
        input: layout, outputSampleRateHz: format.sampleRateHz, outputChannelCount: format.channelCount,
        matrix: ChannelMatrix.gains(from: layout.channelCount, to: format.channelCount), outputFormat: sampleFormat)
      resampler = current
    }
    let written = try current.convert(frame, range: range, into: output, capacityFrames: range.count)
    guard written == range.count else { throw AVFailure(invalidDataIn: "swr_convert") }
  }
}
