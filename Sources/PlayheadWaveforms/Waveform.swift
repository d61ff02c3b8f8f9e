import PlayheadMediaCore

/// The shape of audio: the minimum, maximum and RMS of the samples of each bin and channel. A bin is a range of frames.
///
/// Samples are from -1 to 1 unless the audio clips.
public struct Waveform: Sendable, Hashable {
  /// The sample rate of the audio in Hz.
  public let sampleRateHz: Int
  /// The number of channels with values; 1 if the channels were mixed.
  public let channelCount: Int
  /// The position of the first frame on the asset's timeline.
  public let firstFrame: Int64
  /// The number of frames.
  public let frameCount: Int64
  /// The division of the frames into bins.
  public let scale: WaveformScale
  /// The minimum of each bin and channel, at index `bin * channelCount + channel`.
  public let minima: [Float]
  /// The maximum of each bin and channel, in the order of ``minima``.
  public let maxima: [Float]
  /// The RMS of each bin and channel, in the order of ``minima``.
  public let rms: [Float]

  /// Maximum number of bins times channels: 24 MiB of memory.
  public static let maximumPointCount = 2 << 20
  /// Maximum number of frames per bin: the limit of the `.dat` format.
  public static let maximumFramesPerBin = Int(Int32.max)

  /// Creates a waveform. Each array has one value for each bin and channel.
  public init(
    sampleRateHz: Int, channelCount: Int, firstFrame: Int64, frameCount: Int64, scale: WaveformScale, minima: [Float],
    maxima: [Float], rms: [Float]
  ) {
    let pointCount = scale.binCount(frameCount: frameCount) * channelCount
    precondition(
      [minima, maxima, rms].allSatisfy { $0.count == pointCount }, "a waveform needs a value for each bin and channel")
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.firstFrame = firstFrame
    self.frameCount = frameCount
    self.scale = scale
    self.minima = minima
    self.maxima = maxima
    self.rms = rms
  }

  /// The number of bins.
  public var binCount: Int { scale.binCount(frameCount: frameCount) }

  /// The duration of the frames.
  public var duration: MediaTime { MediaTime(frame: frameCount, rate: sampleRateHz) }

  /// The first frame of a bin, relative to ``firstFrame``.
  public func edge(_ bin: Int) -> Int64 { scale.edge(bin, frameCount: frameCount) }

  /// The largest magnitude in a bin, over all channels.
  public func peak(_ bin: Int) -> Float {
    (bin * channelCount..<(bin + 1) * channelCount).reduce(0) { max($0, -minima[$1], maxima[$1]) }
  }

  /// Combines each `factor` bins into one, for the next zoom level, without reading the file.
  ///
  /// Minima and maxima equal those of a new scan; RMS may differ in the last digit.
  ///
  /// - Returns: nil if the bins would differ from those of a new scan (for `bins`, `factor` must divide the count), or
  ///   if a bin would have more than ``maximumFramesPerBin`` frames.
  public func reduced(by factor: Int) -> Waveform? {
    precondition(factor > 0, "factor must be at least 1")
    let coarser: WaveformScale
    switch scale {
    case .bins(let count):
      guard count % factor == 0 else { return nil }
      coarser = .bins(count / factor)
    case .framesPerBin(let length):
      let (product, overflow) = length.multipliedReportingOverflow(by: factor)
      guard !overflow, product <= Self.maximumFramesPerBin else { return nil }
      coarser = .framesPerBin(product)
    }
    let count = coarser.binCount(frameCount: frameCount) * channelCount
    var (lows, highs, means) = ([Float](), [Float](), [Float]())
    for coarsePoint in 0..<count {
      let (bin, channel) = coarsePoint.quotientAndRemainder(dividingBy: channelCount)
      let bins = bin * factor..<min((bin + 1) * factor, binCount)
      let points = bins.map { $0 * channelCount + channel }
      var (squares, frames) = (0.0, Int64(0))
      for (bin, point) in zip(bins, points) {
        let length = edge(bin + 1) - edge(bin)
        squares += Double(rms[point]) * Double(rms[point]) * Double(length)
        frames += length
      }
      lows.append(points.map { minima[$0] }.min() ?? 0)
      highs.append(points.map { maxima[$0] }.max() ?? 0)
      means.append(frames > 0 ? Float((squares / Double(frames)).squareRoot()) : 0)
    }
    return Waveform(
      sampleRateHz: sampleRateHz, channelCount: channelCount, firstFrame: firstFrame, frameCount: frameCount,
      scale: coarser, minima: lows, maxima: highs, rms: means)
  }
}
