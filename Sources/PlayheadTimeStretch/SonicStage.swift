import CPlayheadSonic
import PlayheadMediaCore

/// A Sonic stream whose output position is corrected continuously.
///
/// Sonic counts pitch periods in whole samples, and its rounding errors accumulate: to seconds per hour above rate 2,
/// and to a tenth of the duration at rate 16. Therefore the input is split into small chunks, and before each chunk the
/// rate is set to correct the output position.
///
/// Sonic does not report the number of frames that it buffers. Measured: 1.6 to 1.8 of its longest periods on average.
/// The factors in `correctedRate` are measured, too.
///
/// Sonic works with 16 bits: samples beyond ±1 are clipped, and the resolution is 1/32767.
final class SonicStage {
  private let stream: sonicStream
  private let channelCount: Int
  private let sampleRateHz: Double
  private let rate: Double
  /// The number of frames that are written at once.
  private let chunkFrames: Int
  /// The number of frames that Sonic buffers on average.
  private let bufferedFrames: Double
  private var inputCount: Int64 = 0
  private var outputCount: Int64 = 0
  private var clipped: [Float] = []

  /// Sonic's longest period is the sample rate divided by this.
  private static let lowestPitchHz = Int(SONIC_MIN_PITCH)

  /// Creates a Sonic stream.
  ///
  /// - Throws: `conversionFailed` when no memory is available.
  init(format: AudioFormat, rate: Double) throws(MediaError) {
    guard let stream = sonicCreateStream(Int32(format.sampleRateHz), Int32(format.channelCount)) else {
      throw MediaError(.conversionFailed, "not enough memory for a time stretcher", operation: "sonicCreateStream")
    }
    self.stream = stream
    channelCount = format.channelCount
    sampleRateHz = Double(format.sampleRateHz)
    self.rate = rate
    chunkFrames = min(512, max(64, Int(512 * rate)))
    let bufferedPeriods = rate <= 0.5 ? 1.8 : rate < 2 ? 1.7 : 1.6
    bufferedFrames = bufferedPeriods * Double(format.sampleRateHz / Self.lowestPitchHz)
  }

  deinit { sonicDestroyStream(stream) }

  /// Writes frames, and passes the result to `output`, interleaved. The samples are valid until `output` returns.
  func write(
    _ samples: UnsafePointer<Float>, frameCount: Int, output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void
  ) throws(MediaError) {
    var done = 0
    while done < frameCount {
      let count = min(chunkFrames, frameCount - done)
      sonicSetSpeed(stream, Float(correctedRate))
      clipped.removeAll(keepingCapacity: true)
      let chunk = UnsafeBufferPointer(start: samples + done * channelCount, count: count * channelCount)
      // NaN becomes silence.
      clipped.append(contentsOf: chunk.lazy.map { $0.isNaN ? 0 : max(-1, min(1, $0)) })
      let isWritten = clipped.withUnsafeMutableBufferPointer {
        sonicWriteFloatToStream(stream, $0.baseAddress, Int32(count))
      }
      guard isWritten != 0 else { throw Self.failure("sonicWriteFloatToStream") }
      inputCount += Int64(count)
      done += count
      try read(output)
    }
  }

  /// Passes the remaining frames to `output`.
  func finish(output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void) throws(MediaError) {
    guard sonicFlushStream(stream) != 0 else { throw Self.failure("sonicFlushStream") }
    try read(output)
  }

  private func read(_ output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void) throws(MediaError) {
    let available = Int(sonicSamplesAvailable(stream))
    guard available > 0 else { return }
    var samples = [Float](repeating: 0, count: available * channelCount)
    let count = Int(
      samples.withUnsafeMutableBufferPointer { sonicReadFloatFromStream(stream, $0.baseAddress, Int32(available)) })
    outputCount += Int64(count)
    samples.removeLast((available - count) * channelCount)
    try Self.deliver(samples, count, to: output)
  }

  private static func deliver(
    _ samples: [Float], _ frameCount: Int, to output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void
  ) throws(MediaError) {
    try samples.withUnsafeBufferPointer { buffer throws(MediaError) in
      if let base = buffer.baseAddress { try output(base, frameCount) }
    }
  }

  /// The rate for the next chunk, which corrects the output position.
  private var correctedRate: Double {
    // The excess of the output so far, in seconds.
    let surplus = (Double(outputCount) - (Double(inputCount) - bufferedFrames) / rate) / sampleRateHz
    switch rate {
    case ...0.5: return rate * min(4, max(0.5, 1 + 15 * surplus))
    case 2...: return rate * min(4, max(0.5, 1 + 30 * surplus))
    default:
      // Between two omitted or repeated periods Sonic copies the audio: a hundred periods at rate 1.01. The correction
      // can therefore change how often a period is omitted or repeated, but not which of the two happens.
      let correction = rate < 1 ? -surplus : surplus
      return 1 + (rate - 1) * min(1.5, max(0.5, 1 + correction / 0.1))
    }
  }

  private static func failure(_ call: String) -> MediaError {
    MediaError(.conversionFailed, "the audio could not be stretched", operation: call)
  }
}
