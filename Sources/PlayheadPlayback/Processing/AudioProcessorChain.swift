import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The processors of an item and its player, in order, for audio of one format.
///
/// The chain removes the latency of its processors: it omits their first frames, and `flush` returns the last.
///
/// Threading: the decode thread only.
final class AudioProcessorChain {
  /// The maximum latency and history of a chain, in seconds.
  static let maximumSeconds = 10

  private let factories: [AudioProcessorFactory]
  private let format: AudioFormat
  private let processors: [any AudioProcessor]
  private let latencyFrameCount: Int
  /// The number of frames that the processors need before the first frame that is heard.
  let historyFrameCount: Int
  /// The rate of the stream, which determines whether decoder time is mirrored.
  private var playbackRate: PlaybackRate
  /// The number of output frames to omit.
  private var omittedFrameCount: Int
  /// The number of input frames whose output has not been returned.
  private var framesInside = 0
  /// The item frame after the last input.
  private var nextFrame: Int64 = 0
  /// Whether the next input follows what was processed.
  private(set) var continuesAudio = true
  /// The time of a sample that was not finite, until `popNonFiniteTime`.
  private var nonFiniteTime: MediaTime?
  private var hasReportedNonFinite = false

  /// Makes and prepares the processors.
  ///
  /// - Throws: The errors of `prepare`; `invalidArgument` for a latency or history that is negative or too long.
  init(
    _ factories: [AudioProcessorFactory], format: AudioFormat, playbackRate: PlaybackRate, maximumFrameCount: Int
  ) throws(MediaError) {
    self.factories = factories
    self.format = format
    self.playbackRate = playbackRate
    let processors = factories.map { $0.makeProcessor() }
    let limit = Self.maximumSeconds * format.sampleRateHz
    var (latency, history) = (0, 0)
    for processor in processors {
      try processor.prepare(format: format, maximumFrameCount: maximumFrameCount)
      for (name, count) in [("latency", processor.latencyFrameCount), ("history", processor.historyFrameCount)] {
        guard 0...limit ~= count else {
          throw MediaError(
            .invalidArgument, "\(name) of an audio processor must be 0 to \(limit) frames (got \(count))",
            operation: "prepare")
        }
      }
      latency += processor.latencyFrameCount
      history += processor.historyFrameCount
    }
    guard latency <= limit, history <= limit else {
      throw MediaError(
        .invalidArgument,
        "latency and history of all audio processors together must be at most \(limit) frames"
          + " (got \(latency) and \(history))", operation: "prepare")
    }
    self.processors = processors
    latencyFrameCount = latency
    historyFrameCount = history
    omittedFrameCount = latency
  }

  /// Whether the chain has these processors and this input.
  func matches(_ factories: [AudioProcessorFactory], format: AudioFormat) -> Bool {
    self.factories == factories && self.format == format
  }

  /// Prepares for audio that does not follow what was processed.
  func restart(playbackRate: PlaybackRate) {
    for processor in processors { processor.reset() }
    self.playbackRate = playbackRate
    (omittedFrameCount, framesInside, continuesAudio) = (latencyFrameCount, 0, true)
  }

  /// Whether `flush` has frames to write.
  var hasFramesInside: Bool { framesInside > 0 }

  /// Records that the next audio does not follow what was processed.
  func endAudio() { continuesAudio = false }

  /// Processes frames in place. Returns the number of output frames, which are moved to the beginning.
  ///
  /// - Parameters:
  ///   - position: The decoder's frame at the beginning.
  ///   - isHistory: Whether the output of these frames is discarded.
  func process(
    _ samples: UnsafeMutablePointer<Float>, frameCount: Int, position: Int64, isHistory: Bool = false
  ) -> Int {
    let start = playbackRate.mirroredInReverse(MediaTime(frame: position, rate: format.sampleRateHz))
    let buffer = UnsafeMutableBufferPointer(start: samples, count: frameCount * format.channelCount)
    for processor in processors {
      var span = buffer.mutableSpan
      processor.process(&span, at: start)
    }
    if Self.replaceNonFinite(samples, count: frameCount * format.channelCount), nonFiniteTime == nil {
      nonFiniteTime = start
    }
    nextFrame = position + Int64(frameCount)
    if isHistory { omittedFrameCount += frameCount }
    let omitted = min(omittedFrameCount, frameCount)
    let count = frameCount - omitted
    omittedFrameCount -= omitted
    framesInside += (isHistory ? 0 : frameCount) - count
    if omitted > 0, count > 0 {
      samples.update(from: samples + omitted * format.channelCount, count: count * format.channelCount)
    }
    return count
  }

  /// Passes silence and writes the remaining frames. Returns their number; 0 if none remain.
  func flush(into samples: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int {
    while framesInside > 0 {
      let frameCount = min(capacityFrames, framesInside)
      samples.update(repeating: 0, count: frameCount * format.channelCount)
      let before = framesInside
      let count = process(samples, frameCount: frameCount, position: nextFrame)
      framesInside = before - count
      if count > 0 { return count }
    }
    return 0
  }

  /// Returns the time of a sample that was not finite, once for each chain; nil without one.
  func popNonFiniteTime() -> MediaTime? {
    guard let time = nonFiniteTime, !hasReportedNonFinite else { return nil }
    hasReportedNonFinite = true
    return time
  }

  /// Replaces infinite samples and NaN with 0. Returns whether there were any.
  private static func replaceNonFinite(_ samples: UnsafeMutablePointer<Float>, count: Int) -> Bool {
    // All exponent bits are set only in values that are not finite. Without a branch, so that the loop is vectorized.
    let exponentMask: UInt32 = 0x7F80_0000
    var greatest: UInt32 = 0
    for index in 0..<count { greatest = max(greatest, samples[index].bitPattern & exponentMask) }
    guard greatest == exponentMask else { return false }
    for index in 0..<count where !samples[index].isFinite { samples[index] = 0 }
    return true
  }
}
