import PlayheadLibAV
import PlayheadMediaCore

/// Converts audio whose sample rate differs from that of the track's first frame.
///
/// The rate may change within a file, for example in recordings of stations and in chains of streams.
///
/// Frames of the track's rate are not changed. Each contiguous part with another rate, and with one channel count, is
/// converted as one stream. So a read from the file's start always has the same result.
///
/// Threading: one thread at a time.
final class SampleRateAdapter {
  /// Whether audio of another rate was found since the file was opened.
  private(set) var hasOtherRates = false
  private var sampleRateHz: Int?
  private var resampler: Resampler?
  private var channelMask: UInt64?
  private var isEnding = false
  /// A decoded frame, and the number of its samples that have been converted.
  private let input: Frame
  private var convertedCount: Int?
  /// Memory for converted audio, reused for each chunk. It grows to the largest chunk: `largestRatio` times
  /// `chunkFrames`, and the resampler's delay.
  private var outputBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  /// The number of input samples that are converted together.
  private static let chunkFrames = 1_024
  /// The largest ratio of sample rates. Damaged headers can state any rate.
  private static let largestRatio = 64

  init() throws(AVFailure) { input = try Frame() }

  deinit { outputBuffer.deallocate() }

  /// Discards the audio that has not been returned, because reading continues at another position.
  func restart() {
    resampler = nil
    isEnding = false
    discardInput()
  }

  private func discardInput() {
    convertedCount = nil
    input.clear()
  }

  /// Accepts a decoded frame if the frame must be converted, or if converted audio precedes it. Otherwise returns
  /// false.
  func accept(_ frame: Frame, _ layout: SampleLayout) -> Bool {
    guard let sampleRateHz else {
      sampleRateHz = layout.sampleRateHz
      return false
    }
    let isOther = layout.sampleRateHz != sampleRateHz
    hasOtherRates = hasOtherRates || isOther
    guard isOther || resampler != nil else { return false }
    input.move(from: frame)
    convertedCount = 0
    return true
  }

  /// Ends the audio. Returns whether converted audio remains.
  func finish() -> Bool {
    isEnding = resampler != nil
    return isEnding
  }

  /// Moves the next audio into `frame`. Returns false if more input is needed.
  ///
  /// - Throws: `invalidData` for a rate that cannot be converted.
  func next(into frame: Frame) throws(AVFailure) -> Bool {
    while true {
      if isEnding {
        if try drain(into: frame) { return true }
        (resampler, isEnding) = (nil, false)
      }
      guard let start = convertedCount, let layout = input.layout, let sampleRateHz else { return false }
      if let resampler, resampler.input != layout {
        isEnding = true
        continue
      }
      if resampler == nil, layout.sampleRateHz == sampleRateHz {
        frame.move(from: input)
        convertedCount = nil
        return true
      }
      let count = min(Self.chunkFrames, input.frameCount - start)
      convertedCount = start + count < input.frameCount ? start + count : nil
      let resampler = try resampler(for: layout, to: sampleRateHz)
      if try fill(
        frame, capacity: resampler.outputFrameBound(inputFrameCount: count),
        { buffer, capacity throws(AVFailure) in
          try resampler.convert(input, range: start..<(start + count), into: buffer, capacityFrames: capacity)
        })
      {
        return true
      }
    }
  }

  private func resampler(for layout: SampleLayout, to sampleRateHz: Int) throws(AVFailure) -> Resampler {
    if let resampler { return resampler }
    guard layout.sampleRateHz > 0, sampleRateHz / layout.sampleRateHz < Self.largestRatio,
      layout.sampleRateHz / sampleRateHz < Self.largestRatio
    else {
      discardInput()
      throw AVFailure(invalidDataIn: "swr_init")
    }
    let made = try Resampler(
      input: layout, outputSampleRateHz: sampleRateHz, outputChannelCount: layout.channelCount)
    (resampler, channelMask) = (made, layout.channelMask)
    return made
  }

  private func drain(into frame: Frame) throws(AVFailure) -> Bool {
    guard let resampler else { return false }
    return try fill(frame, capacity: Self.chunkFrames) { buffer, capacity throws(AVFailure) in
      try resampler.drain(into: buffer, capacityFrames: capacity)
    }
  }

  /// Fills `frame` with converted audio, which has no timestamp. Returns false if there is none.
  private func fill(
    _ frame: Frame, capacity: Int, _ produce: (UnsafeMutableRawPointer, Int) throws(AVFailure) -> Int
  ) throws(AVFailure) -> Bool {
    guard let resampler, let sampleRateHz, capacity > 0 else { return false }
    let layout = SampleLayout(
      format: .float32, sampleRateHz: sampleRateHz, channelCount: resampler.outputChannelCount,
      channelMask: channelMask)
    let byteCount = capacity * layout.channelCount * layout.format.byteCount
    guard let buffer = reserveOutput(byteCount: byteCount) else { return false }
    let count = try produce(buffer, capacity)
    guard count > 0 else { return false }
    try frame.fill(layout, frameCount: count, pts: nil, from: buffer)
    return true
  }

  /// Returns the output buffer with at least `byteCount` bytes. Its content is lost if it grows.
  private func reserveOutput(byteCount: Int) -> UnsafeMutableRawPointer? {
    if outputBuffer.count < byteCount {
      outputBuffer.deallocate()
      outputBuffer = .allocate(byteCount: byteCount, alignment: 16)
    }
    return outputBuffer.baseAddress
  }
}
