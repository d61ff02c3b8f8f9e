import MediaCore

/// What sound looks like: of each stretch (bin) and channel the least sample, the greatest and the root of the mean square.
///
/// Samples are from -1 to 1 where nothing clips.
public struct Waveform: Sendable, Hashable {
  /// Frames per second of what was read.
  public let sampleRateHz: Int
  /// Channels that there are values of: 1 where they were mixed.
  public let channelCount: Int
  /// The place of its first frame on the asset's timeline.
  public let firstFrame: Int64
  /// How many frames it is of.
  public let frameCount: Int64
  /// How these are cut.
  public let scale: WaveformScale
  /// `bin * channelCount + channel`.
  public let minima: [Float]
  public let maxima: [Float]
  public let rms: [Float]

  /// Values of bins times channels at most: 24 MiB of memory.
  public static let maximumPointCount = 2 << 20
  /// Frames in a bin at most: what the `.dat` form can say.
  public static let maximumFramesPerBin = Int(Int32.max)

  /// Puts one together. The arrays have a value for each bin and channel.
  public init(
    sampleRateHz: Int, channelCount: Int, firstFrame: Int64, frameCount: Int64, scale: WaveformScale, minima: [Float],
    maxima: [Float], rms: [Float]
  ) {
    let pointCount = scale.binCount(frameCount: frameCount) * channelCount
    precondition(
      [minima, maxima, rms].allSatisfy { $0.count == pointCount }, "a waveform has values of each bin and channel")
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.firstFrame = firstFrame
    self.frameCount = frameCount
    self.scale = scale
    self.minima = minima
    self.maxima = maxima
    self.rms = rms
  }

  public var binCount: Int { scale.binCount(frameCount: frameCount) }

  /// How long it is.
  public var duration: MediaTime { MediaTime(frame: frameCount, rate: sampleRateHz) }

  /// The frame at which a bin begins, counted from `firstFrame`.
  public func edge(_ bin: Int) -> Int64 { scale.edge(bin, frameCount: frameCount) }

  /// The greatest distance from 0 in a bin, of all channels.
  public func peak(_ bin: Int) -> Float {
    (bin * channelCount..<(bin + 1) * channelCount).reduce(0) { max($0, -minima[$1], maxima[$1]) }
  }

  /// The next zoom level: `factor` bins become one, without reading anything again. Nil where these do not lie as bins of the whole
  /// would: `factor` must divide the number of `bins`; and where there would be more than `maximumFramesPerBin` frames in one.
  ///
  /// Least and greatest are those that reading would find; of RMS the last digit may differ.
  public func reduced(by factor: Int) -> Waveform? {
    precondition(factor > 0, "bins are put together, at least one")
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
    for values in 0..<count {
      let (bin, channel) = values.quotientAndRemainder(dividingBy: channelCount)
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
