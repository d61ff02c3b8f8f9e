import PlayheadMediaCore

/// Reduces audio that arrives in chunks to a waveform. Pure.
///
/// Minima and maxima do not depend on the chunks; RMS may differ in the last digits. Memory: 12 bytes for each bin and
/// channel.
package struct WaveformReducer {
  /// The state of the bin that is being filled.
  private struct Bin {
    var low = SIMD8<Float>(repeating: .infinity)
    var high = SIMD8<Float>(repeating: -.infinity)
    /// The sum of the squares of each channel.
    var squares: [Double]
  }

  private let channelCount: Int
  private let scale: WaveformScale
  /// The announced number of frames; nil if the scale does not need it.
  private let announcedFrameCount: Int64?
  private var bin: Bin
  /// The minima and maxima of each channel, for channel counts that do not divide the length of a SIMD vector.
  private var wideLow: [Float]
  private var wideHigh: [Float]
  private var binStart: Int64 = 0
  private var binEnd: Int64 = 0
  private var binIndex = 0
  /// The number of frames that were added.
  package private(set) var frameCount: Int64 = 0
  private var minima: [Float] = []
  private var maxima: [Float] = []
  private var rms: [Float] = []

  /// Creates a reducer for `channelCount` interleaved channels.
  ///
  /// - Parameters:
  ///   - channelCount: The number of samples per frame.
  ///   - scale: The number of bins, or of frames per bin.
  ///   - frameCount: the number of frames that will be added. Required for a scale of `bins`.
  package init(channelCount: Int, scale: WaveformScale, frameCount: Int64?) {
    if case .bins = scale { precondition(frameCount != nil, "a number of bins needs a number of frames") }
    self.channelCount = channelCount
    self.scale = scale
    announcedFrameCount = frameCount
    bin = Bin(squares: Array(repeating: 0, count: channelCount))
    let isWide = 8 % channelCount != 0
    wideLow = isWide ? Array(repeating: .infinity, count: channelCount) : []
    wideHigh = isWide ? Array(repeating: -.infinity, count: channelCount) : []
    binEnd = edge(1)
  }

  private func edge(_ index: Int) -> Int64 { scale.edge(index, frameCount: announcedFrameCount ?? .max) }

  /// Adds frames. NaN samples are ignored, and frames beyond the announced count are dropped.
  ///
  /// - Throws: `mediaLimitExceeded` when there are more bins than a waveform may have.
  package mutating func add(_ samples: UnsafePointer<Float>, frameCount added: Int) throws(MediaError) {
    var done = 0
    let count = min(added, Int(clamping: (announcedFrameCount ?? .max) - frameCount))
    while done < count {
      let length = min(count - done, Int(clamping: binEnd - frameCount))
      fold(samples + done * channelCount, frameCount: length)
      done += length
      frameCount += Int64(length)
      if frameCount == binEnd { try endBin() }
    }
  }

  /// Returns the waveform of the added frames. `firstFrame` is the position of the first one. Returns nil for a scale
  /// of `bins` if fewer frames than announced were added.
  package mutating func finish(sampleRateHz: Int, firstFrame: Int64) throws(MediaError) -> Waveform? {
    if frameCount > binStart { try endBin() }
    if case .bins = scale, frameCount != announcedFrameCount { return nil }
    return Waveform(
      sampleRateHz: sampleRateHz, channelCount: channelCount, firstFrame: firstFrame, frameCount: frameCount,
      scale: scale, minima: minima, maxima: maxima, rms: rms)
  }

  // MARK: - Bins

  private mutating func endBin() throws(MediaError) {
    guard minima.count + channelCount <= Waveform.maximumPointCount else { throw Self.tooManyBins }
    let length = Double(frameCount - binStart)
    for channel in 0..<channelCount {
      var (low, high) = (Float.infinity, -Float.infinity)
      if wideLow.isEmpty {
        for lane in stride(from: channel, to: 8, by: channelCount) {
          low = min(low, bin.low[lane])
          high = max(high, bin.high[lane])
        }
      } else {
        (low, high) = (wideLow[channel], wideHigh[channel])
        (wideLow[channel], wideHigh[channel]) = (.infinity, -.infinity)
      }
      // All samples of the bin are NaN.
      if low > high { (low, high) = (0, 0) }
      minima.append(low)
      maxima.append(high)
      let mean = (bin.squares[channel] / length).squareRoot()
      rms.append(mean.isFinite ? Float(mean) : 0)
      bin.squares[channel] = 0
    }
    bin.low = SIMD8(repeating: .infinity)
    bin.high = SIMD8(repeating: -.infinity)
    binStart = frameCount
    binIndex += 1
    binEnd = edge(binIndex + 1)
  }

  static var tooManyBins: MediaError {
    MediaError(
      .mediaLimitExceeded,
      "a waveform has at most \(Waveform.maximumPointCount) bins times channels: use fewer or longer bins",
      operation: "waveform")
  }

  // MARK: - Samples

  /// Adds frames to the current bin.
  private mutating func fold(_ samples: UnsafePointer<Float>, frameCount: Int) {
    guard wideLow.isEmpty else { return foldWide(samples, frameCount: frameCount) }
    let count = frameCount * channelCount
    var (low, high) = (bin.low, bin.high)
    let raw = UnsafeRawPointer(samples)
    var index = 0
    while index + 8 <= count {
      // For accuracy, a float32 sum has at most 256 terms.
      let end = min(count - count % 8, index + 2_048)
      var squares = SIMD8<Float>.zero
      while index < end {
        var values = raw.loadUnaligned(fromByteOffset: index * 4, as: SIMD8<Float>.self)
        let isNumber = values .== values
        low.replace(with: values, where: values .< low)
        high.replace(with: values, where: values .> high)
        values.replace(with: 0, where: .!isNumber)
        squares += values * values
        index += 8
      }
      for lane in 0..<8 { bin.squares[lane % channelCount] += Double(squares[lane]) }
    }
    while index < count {
      let value = samples[index]
      let lane = index % 8
      if value < low[lane] { low[lane] = value }
      if value > high[lane] { high[lane] = value }
      if value == value { bin.squares[lane % channelCount] += Double(value) * Double(value) }
      index += 1
    }
    (bin.low, bin.high) = (low, high)
  }

  /// Adds frames to the current bin, for channel counts that do not divide the length of a vector.
  private mutating func foldWide(_ samples: UnsafePointer<Float>, frameCount: Int) {
    var frame = samples
    for _ in 0..<frameCount {
      for channel in 0..<channelCount {
        let value = frame[channel]
        if value < wideLow[channel] { wideLow[channel] = value }
        if value > wideHigh[channel] { wideHigh[channel] = value }
        if value == value { bin.squares[channel] += Double(value) * Double(value) }
      }
      frame += channelCount
    }
  }
}
