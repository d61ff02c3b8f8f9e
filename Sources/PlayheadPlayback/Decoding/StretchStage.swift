import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadTimeStretch

/// Converts the audio of an item to the format of its stream. The number of output frames does not depend on the sizes
/// of the input chunks.
protocol SampleConverter: AnyObject {
  /// The input format.
  var input: AudioFormat { get }

  /// Converts `frameCount` frames and writes the output. The next call writes output that does not fit. Returns the
  /// number of frames written; less than `capacityFrames` means that no more output is available.
  func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int

  /// Ends the input and writes the remaining output. Call until it returns 0.
  func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int
}

extension AudioConverter: SampleConverter {}

/// Changes the rate and keeps the pitch: converts audio to the stream's format, then stretches it.
///
/// Output frame `n` has the item position of input frame `n * rate`, counted at the stream's sample rate from the first
/// frame heard. The audio at that frame deviates from this position by the stretcher's displacement, which is bounded.
/// Successive passes of any formats share one stage, so that transitions are inaudible. For a start in the middle of an
/// item the stretcher gets the preceding audio as history. The start is therefore heard like continuous playback.
///
/// Threading: the decode thread only.
final class StretchStage: SampleConverter {
  private(set) var input: AudioFormat
  let algorithm: TimeStretchAlgorithm
  private let output: AudioFormat
  private let stretcher: any TimeStretcher
  /// Nil if the item has the stream's format.
  private var converter: AudioConverter?
  /// The number of history frames, at the stream's rate, that are still missing before the first frame heard.
  private var historyFramesMissing = 0
  private var history: [Float] = []
  private var isFinished = false
  /// The end of the input so far, in frames of the stream's sample rate after the first frame heard.
  private var inputEnd = ExactPosition()
  /// The number of frames written to the stretcher, without the history.
  private var stretchedCount: Int64 = 0
  private var scratch: [Float] = []

  /// The number of frames converted at once.
  private static let chunkFrames = 4_096

  /// Creates a stage for a pass that is heard from its item's beginning, or that follows another pass.
  ///
  /// - Throws: `unsupportedRate` if the algorithm is missing in this build or does not support this rate;
  ///   `conversionFailed`.
  init(
    from input: AudioFormat, to output: AudioFormat, algorithm: TimeStretchAlgorithm, rate: StretchRate
  ) throws(MediaError) {
    self.input = input
    self.algorithm = algorithm
    self.output = output
    stretcher = try algorithm.makeStretcher(format: output, rate: rate)
    if input != output { converter = try AudioConverter(from: input, to: output) }
  }

  /// Starts a pass, which may have another format. First the resampler is drained, up to the exact end of the previous
  /// pass, which is computed without rounding. The stretcher is not reset.
  ///
  /// - Throws: `conversionFailed`; then the pass has not started.
  func startPass(with input: AudioFormat) throws(MediaError) {
    guard input != self.input else { return }
    let next = input == output ? nil : try AudioConverter(from: input, to: output)
    if historyFramesMissing > 0 { try endHistory() }
    if let converter {
      let drain = { (output: UnsafeMutablePointer<Float>, capacity: Int) throws(MediaError) -> Int in
        try converter.drain(into: output, capacityFrames: capacity)
      }
      try stretchOutput(of: converter, drain, andThen: drain)
    }
    try padToInputEnd()
    converter = next
    self.input = input
  }

  /// Fills missing output of the resampler at the end of a pass with silence.
  private func padToInputEnd() throws(MediaError) {
    let missing = Int(clamping: inputEnd.roundedUp - stretchedCount)
    guard missing > 0 else { return }
    let silence = [Float](repeating: 0, count: missing * output.channelCount)
    try silence.withUnsafeBufferPointer { silence throws(MediaError) in
      if let base = silence.baseAddress { try stretch(base, missing) }
    }
  }

  // MARK: - Starting in the middle

  /// Returns the item frame at which reading must begin so that `frame` is the first in the output.
  func historyStart(before frame: Int64) -> Int64 {
    let scaled = Int128(stretcher.historyFrameCount) * Int128(input.sampleRateHz)
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int128(output.sampleRateHz))
    let first = max(0, frame - Int64(clamping: whole) - (rest > 0 ? 1 : 0))
    return converter == nil ? first : AudioConverter.historyStart(before: first, from: input, to: output)
  }

  /// Sets the first input frame and the first output frame. Called once, before any input.
  ///
  /// - Parameters:
  ///   - start: The first input frame of the item.
  ///   - firstItemFrame: The item's frame at `firstOutputFrame`, or the frame before.
  ///   - firstOutputFrame: The first frame of the output, counted from the item's beginning at the stream's sample
  ///     rate. Not before `start`.
  func start(readingFrom start: Int64, firstItemFrame: Int64, firstOutputFrame: Int64) throws(MediaError) {
    inputEnd = ExactPosition(frame: -firstOutputFrame)
    inputEnd.advance(by: start, ofRate: input.sampleRateHz, inRate: output.sampleRateHz)
    guard converter != nil else {
      historyFramesMissing = Int(clamping: firstOutputFrame - start)
      return
    }
    // The history begins where the resampler has its full filter length.
    let firstInput = max(start, firstHistoryFrame(before: firstItemFrame))
    let resampler = try AudioConverter(from: input, to: output, historyStart: start, firstInputFrame: firstInput)
    historyFramesMissing = Int(clamping: max(0, firstOutputFrame - resampler.firstOutputFrame))
    converter = resampler
  }

  /// Returns the first frame that the stretcher can use as history.
  private func firstHistoryFrame(before frame: Int64) -> Int64 {
    let scaled = Int128(stretcher.historyFrameCount) * Int128(input.sampleRateHz) / Int128(output.sampleRateHz)
    return max(0, frame - Int64(clamping: scaled))
  }

  /// Returns the first frame at or after the item's frame, counted at the output's sample rate.
  static func outputFrame(at frame: Int64, from input: AudioFormat, to output: AudioFormat) -> Int64 {
    var position = ExactPosition()
    position.advance(by: frame, ofRate: input.sampleRateHz, inRate: output.sampleRateHz)
    return position.roundedUp
  }

  // MARK: - Audio

  func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int {
    if frameCount > 0 {
      inputEnd.advance(by: Int64(frameCount), ofRate: input.sampleRateHz, inRate: self.output.sampleRateHz)
      if let converter {
        try stretchOutput(of: converter) { output, capacity throws(MediaError) in
          try converter.convert(samples, frameCount: frameCount, into: output, capacityFrames: capacity)
        } andThen: { output, capacity throws(MediaError) in
          try converter.convert(samples, frameCount: 0, into: output, capacityFrames: capacity)
        }
      } else {
        try stretch(samples, frameCount)
      }
    }
    return stretcher.read(into: output, capacityFrames: capacityFrames)
  }

  func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    if !isFinished {
      isFinished = true
      if let converter {
        let drain = { (output: UnsafeMutablePointer<Float>, capacity: Int) throws(MediaError) -> Int in
          try converter.drain(into: output, capacityFrames: capacity)
        }
        try stretchOutput(of: converter, drain, andThen: drain)
      }
      if historyFramesMissing > 0 { try endHistory() }
      try stretcher.finish()
    }
    return stretcher.read(into: output, capacityFrames: capacityFrames)
  }

  /// Stretches the output of `first`, then the output of `next` until it returns 0.
  private func stretchOutput(
    of converter: AudioConverter,
    _ first: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> Int,
    andThen next: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> Int
  ) throws(MediaError) {
    if scratch.isEmpty { scratch = [Float](repeating: 0, count: Self.chunkFrames * output.channelCount) }
    try scratch.withUnsafeMutableBufferPointer { buffer throws(MediaError) in
      guard let base = buffer.baseAddress else { return }
      var count = try first(base, Self.chunkFrames)
      while count > 0 {
        try stretch(base, count)
        count = try next(base, Self.chunkFrames)
      }
    }
  }

  /// Writes frames of the stream's format to the stretcher. The first frames are the history. Output of the resampler
  /// after the exact end of the input is omitted.
  private func stretch(_ samples: UnsafePointer<Float>, _ frameCount: Int) throws(MediaError) {
    let historyCount = min(historyFramesMissing, frameCount)
    if historyCount > 0 {
      history.append(contentsOf: UnsafeBufferPointer(start: samples, count: historyCount * output.channelCount))
      historyFramesMissing -= historyCount
      if historyFramesMissing == 0 { try endHistory() }
    }
    let count = min(frameCount - historyCount, Int(clamping: inputEnd.roundedUp - stretchedCount))
    guard count > 0 else { return }
    stretchedCount += Int64(count)
    try stretcher.write(samples + historyCount * output.channelCount, frameCount: count)
  }

  private func endHistory() throws(MediaError) {
    historyFramesMissing = 0
    let channelCount = output.channelCount
    try history.withUnsafeBufferPointer { buffer throws(MediaError) in
      if let base = buffer.baseAddress { try stretcher.writeHistory(base, frameCount: buffer.count / channelCount) }
    }
    history = []
  }
}
