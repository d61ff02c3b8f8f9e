import PlayheadMediaAssets
import PlayheadMediaCore

/// Measures the waveform of a range. If the declared length of the file is wrong, the range is read a second time.
///
/// Threading: one thread at a time, which may block.
struct WaveformMeasurement {
  /// The number of frames per read.
  private static let stepFrameCount = 4_096

  private let reader: AudioTrackReader
  private let request: WaveformRequest
  private let channelCount: Int
  private let start: Int64
  /// The end of the range; nil if the request has none.
  private let end: Int64?
  /// The expected number of frames, from the declared duration.
  private let expectedFrameCount: Int64?
  private let maximumUnknownSeconds: Int

  /// - Parameter maximumUnknownSeconds: The maximum range that is read if `duration` is not numeric.
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
      throw MediaError(.invalidTime, "the start of the range is too large", operation: "waveform")
    }
    self.start = start
    let end = request.end?.frameIndex(rate: rate, rounding: .towardPositiveInfinity)
    self.end = end
    let declared = duration.frameIndex(rate: rate, rounding: .halfAwayFromZero)
    expectedFrameCount = declared.map { max(0, min($0, end ?? .max) - start) }
  }

  /// Reads the range. `checkCancellation` is called before each read; an error that it throws ends the measurement.
  mutating func run(
    _ progress: (Double?) -> Void, checkCancellation: () throws(MediaError) -> Void
  ) throws(MediaError) -> Waveform {
    progress(expectedFrameCount == nil ? nil : 0)
    let scale = scale
    var announcedFrameCount: Int64?
    if case .bins(let count) = scale {
      guard count <= Waveform.maximumPointCount / channelCount else { throw WaveformReducer.tooManyBins }
      announcedFrameCount = expectedFrameCount ?? 1
    }
    for pass in 0..<2 {
      // If the announced length is wrong, the first pass only counts the frames.
      let limited = Self.limited(scale, announcedFrameCount)
      var reducer = WaveformReducer(channelCount: channelCount, scale: limited, frameCount: announcedFrameCount)
      let count = try read(into: &reducer, progress: pass == 0 ? progress : { _ in }, checkCancellation)
      guard count > 0 else {
        throw MediaError(.invalidTime, "the range contains no audio", operation: "waveform")
      }
      if announcedFrameCount == nil || announcedFrameCount == count,
        let waveform = try reducer.finish(sampleRateHz: reader.format.sampleRateHz, firstFrame: start)
      {
        return waveform
      }
      announcedFrameCount = count
    }
    throw MediaError(.readFailed, "the file changed while it was read", operation: "waveform")
  }

  /// Limits the number of bins to the number of frames.
  private static func limited(_ scale: WaveformScale, _ frameCount: Int64?) -> WaveformScale {
    if case .bins(let count) = scale, let frameCount { return .bins(Int(max(1, min(Int64(count), frameCount)))) }
    return scale
  }

  /// The requested scale, or a default that fits.
  private var scale: WaveformScale {
    if let scale = request.scale { return scale }
    var length = 256
    while let expectedFrameCount, length < Waveform.maximumFramesPerBin / 2,
      // The limit is half of the maximum, because a file may be longer than declared.
      WaveformScale.framesPerBin(length).binCount(frameCount: expectedFrameCount)
        > Waveform.maximumPointCount / channelCount / 2
    { length *= 2 }
    return .framesPerBin(length)
  }

  /// Reads the range and returns the number of frames.
  private func read(
    into reducer: inout WaveformReducer, progress: (Double?) -> Void, _ checkCancellation: () throws(MediaError) -> Void
  ) throws(MediaError) -> Int64 {
    let rate = reader.format.sampleRateHz
    if reader.position != start {
      _ = try reader.seek(to: MediaTime(frame: start, rate: rate), toleranceBefore: .zero, toleranceAfter: .zero)
      // If the seek does not reach the start, the range begins after the end of the file.
      guard reader.position == start else { return 0 }
    }
    let inputChannels = reader.format.channelCount
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: Self.stepFrameCount * inputChannels)
    defer { buffer.deallocate() }
    var (count, reportedTwentieths) = (Int64(0), Int64(0))
    let limit = expectedFrameCount == nil ? Int64(maximumUnknownSeconds) * Int64(rate) : .max
    while end.map({ start + count < $0 }) ?? true {
      try checkCancellation()
      let requestedCount = min(Self.stepFrameCount, Int(clamping: (end ?? .max) - (start + count)))
      switch try reader.read(into: buffer, capacityFrames: requestedCount) {
      case .endOfTrack: return count
      case .cancelled: throw MediaError(.cancelled, "the waveform was cancelled", operation: "waveform")
      case .frames(let readCount, _):
        if request.mixesChannels { Self.mix(buffer, frameCount: readCount, channelCount: inputChannels) }
        try reducer.add(buffer, frameCount: readCount)
        count += Int64(readCount)
      }
      guard count <= limit else {
        throw MediaError(
          .mediaLimitExceeded, "the duration is unknown, and there are more than \(maximumUnknownSeconds) s of audio",
          operation: "waveform")
      }
      if let expectedFrameCount, count < expectedFrameCount,
        count / (expectedFrameCount / 20 + 1) > reportedTwentieths
      {
        reportedTwentieths = count / (expectedFrameCount / 20 + 1)
        progress(Double(reportedTwentieths) / 20)
      }
    }
    return count
  }

  /// Replaces the channels of each frame with their mean.
  private static func mix(_ samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int) {
    guard channelCount > 1 else { return }
    for frame in 0..<frameCount {
      var sum: Float = 0
      for channel in 0..<channelCount { sum += samples[frame * channelCount + channel] }
      samples[frame] = sum / Float(channelCount)
    }
  }
}
