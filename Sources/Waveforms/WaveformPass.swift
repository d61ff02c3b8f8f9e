import MediaAssets
import MediaCore

/// One reading of a range for its waveform; a second one where the file was said to be of another length than it is.
///
/// Threading: one thread at a time, which may block.
struct WaveformPass {
  /// How much is read at once.
  private static let stepFrameCount = 4_096

  private let reader: AudioTrackReader
  private let request: WaveformRequest
  private let channelCount: Int
  private let start: Int64
  /// Where the range ends, if that is said.
  private let end: Int64?
  /// How many frames there will be, by what the file says of itself.
  private let expected: Int64?
  private let maximumUnknownSeconds: Int

  /// - Parameter maximumUnknownSeconds: The longest range that is read when `duration` is not numeric.
  init(
    _ reader: AudioTrackReader, _ request: WaveformRequest, duration: MediaTime,
    maximumUnknownSeconds: Int = AudioTrackReader.maximumUnknownDurationSeconds
  ) throws(MediaError) {
    self.reader = reader
    self.maximumUnknownSeconds = maximumUnknownSeconds
    self.request = request
    let rate = reader.format.sampleRateHz
    channelCount = request.mixesChannels ? 1 : reader.format.channelCount
    guard let start = request.start.frameIndex(rate: rate, rounding: .towardPositiveInfinity) else {
      throw MediaError(.invalidTime, "the range begins too late", operation: "waveform")
    }
    self.start = start
    let end = request.end?.frameIndex(rate: rate, rounding: .towardPositiveInfinity)
    self.end = end
    let told = duration.frameIndex(rate: rate, rounding: .halfAwayFromZero)
    expected = told.map { max(0, min($0, end ?? .max) - start) }
  }

  /// Reads it. `goesOn` is called every now and then, and ends this by throwing.
  mutating func run(
    _ progress: (Double?) -> Void, goesOn: () throws(MediaError) -> Void
  ) throws(MediaError) -> Waveform {
    progress(expected == nil ? nil : 0)
    let scale = scale
    var promised: Int64?
    if case .bins(let count) = scale {
      guard count <= Waveform.maximumPointCount / channelCount else { throw WaveformReducer.tooMany }
      promised = expected ?? 1
    }
    for pass in 0..<2 {
      // The first pass of a wrong length only counts.
      let fitting = Self.fitting(scale, promised)
      var reducer = WaveformReducer(channelCount: channelCount, scale: fitting, frameCount: promised)
      let count = try read(into: &reducer, tellsProgress: pass == 0 ? progress : { _ in }, goesOn)
      guard count > 0 else {
        throw MediaError(.invalidTime, "there is no sound in the range", operation: "waveform")
      }
      if promised == nil || promised == count,
        let waveform = try reducer.finish(sampleRateHz: reader.format.sampleRateHz, firstFrame: start)
      {
        return waveform
      }
      promised = count
    }
    throw MediaError(.readFailed, "the file changed while it was read", operation: "waveform")
  }

  /// No more bins than frames.
  private static func fitting(_ scale: WaveformScale, _ frameCount: Int64?) -> WaveformScale {
    if case .bins(let count) = scale, let frameCount { return .bins(Int(max(1, min(Int64(count), frameCount)))) }
    return scale
  }

  /// What was asked for, or what fits.
  private var scale: WaveformScale {
    if let scale = request.scale { return scale }
    var length = 256
    while let expected, length < Waveform.maximumFramesPerBin / 2,
      // Half of the most: files are longer than they say, too.
      WaveformScale.framesPerBin(length).binCount(frameCount: expected) > Waveform.maximumPointCount / channelCount / 2
    { length *= 2 }
    return .framesPerBin(length)
  }

  /// Reads the range from its start to its end; answers how many frames there are.
  private func read(
    into reducer: inout WaveformReducer, tellsProgress: (Double?) -> Void, _ goesOn: () throws(MediaError) -> Void
  ) throws(MediaError) -> Int64 {
    let rate = reader.format.sampleRateHz
    if reader.position != start {
      _ = try reader.seek(to: MediaTime(frame: start, rate: rate), toleranceBefore: .zero, toleranceAfter: .zero)
      // Behind the end: there is nothing.
      guard reader.position == start else { return 0 }
    }
    let inputChannels = reader.format.channelCount
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: Self.stepFrameCount * inputChannels)
    defer { buffer.deallocate() }
    var (count, toldPart) = (Int64(0), Int64(0))
    let limit = expected == nil ? Int64(maximumUnknownSeconds) * Int64(rate) : .max
    while end.map({ start + count < $0 }) ?? true {
      try goesOn()
      let wanted = min(Self.stepFrameCount, Int(clamping: (end ?? .max) - (start + count)))
      switch try reader.read(into: buffer, capacityFrames: wanted) {
      case .endOfTrack: return count
      case .cancelled: throw MediaError(.cancelled, "the waveform was cancelled", operation: "waveform")
      case .frames(let got, _):
        if request.mixesChannels { Self.mix(buffer, frameCount: got, channelCount: inputChannels) }
        try reducer.add(buffer, frameCount: got)
        count += Int64(got)
      }
      guard count <= limit else {
        throw MediaError(
          .mediaLimitExceeded, "the duration is unknown, and there are more than \(maximumUnknownSeconds) s of audio",
          operation: "waveform")
      }
      if let expected, count < expected, count / (expected / 20 + 1) > toldPart {
        toldPart = count / (expected / 20 + 1)
        tellsProgress(Double(toldPart) / 20)
      }
    }
    return count
  }

  /// Puts the mean of each frame's channels in place of them.
  private static func mix(_ samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int) {
    guard channelCount > 1 else { return }
    for frame in 0..<frameCount {
      var sum: Float = 0
      for channel in 0..<channelCount { sum += samples[frame * channelCount + channel] }
      samples[frame] = sum / Float(channelCount)
    }
  }
}
