import PlayheadLibAV
import PlayheadMediaCore

/// Converts interleaved float32 samples to another encoding with libswresample: integers are rounded
/// to nearest and clipped.
///
/// Threading: one thread at a time.
final class SampleWriter {
  private let format: AudioFormat
  private let sampleFormat: SampleFormat
  private let resampler: Resampler?

  /// Returns the sample format of an encoding. Throws `invalidArgument` for an encoding that is not
  /// native to this machine.
  static func format(of encoding: PCMEncoding) throws(MediaError) -> SampleFormat {
    guard NativeSamples.areNative(encoding), let format = NativeSamples.format(of: encoding) else {
      throw MediaError(
        .invalidArgument, "samples must be whole words in native byte order (got \(encoding.codecName))")
    }
    return format
  }

  /// - Throws: `conversionFailed`.
  init(_ format: AudioFormat, _ sampleFormat: SampleFormat) throws(MediaError) {
    self.format = format
    self.sampleFormat = sampleFormat
    guard sampleFormat != .float32 else {
      resampler = nil
      return
    }
    do throws(AVFailure) {
      resampler = try Resampler(
        input: SampleLayout(format: .float32, sampleRateHz: format.sampleRateHz, channelCount: format.channelCount),
        outputSampleRateHz: format.sampleRateHz, outputChannelCount: format.channelCount, outputFormat: sampleFormat)
    } catch { throw Self.conversionError(error) }
  }

  /// Converts `frameCount` frames into a buffer. Throws `conversionFailed`.
  func write(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutableRawPointer
  ) throws(MediaError) {
    guard let resampler else {
      output.copyMemory(from: samples, byteCount: frameCount * format.channelCount * sampleFormat.byteCount)
      return
    }
    do throws(AVFailure) {
      let written = try resampler.convert(samples, frameCount: frameCount, into: output, capacityFrames: frameCount)
      guard written == frameCount else { throw AVFailure(invalidDataIn: "swr_convert") }
    } catch { throw Self.conversionError(error) }
  }

  /// Returns `frameCount` converted frames as bytes. Throws `conversionFailed`.
  func bytes(
    _ samples: UnsafePointer<Float>, frameCount: Int, frameByteCount: Int
  ) throws(MediaError) -> [UInt8] {
    var failure: MediaError?
    let bytes = [UInt8](unsafeUninitializedCapacity: frameCount * frameByteCount) { buffer, initializedCount in
      guard let target = buffer.baseAddress, frameCount > 0 else { return }
      do throws(MediaError) {
        try write(samples, frameCount: frameCount, into: target)
        initializedCount = frameCount * frameByteCount
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  private static func conversionError(_ failure: AVFailure) -> MediaError {
    MediaError(
      .conversionFailed, "the audio cannot be converted", operation: failure.call, underlying: failure.reason)
  }
}
