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
  private let processors: [(processor: any AudioProcessor, delay: Int)]
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
  /// Whether the next input is continuous with the last.
  private(set) var continuesAudio = true
  /// The time of a sample that was not finite, until `popNonFiniteTime`.
  private var nonFiniteTime: MediaTime?

  /// Makes and prepares the processors.
  ///
  /// - Throws: The errors of `prepare`; `invalidArgument` for a latency or history that is negative or too long.
  init(
    _ factories: [AudioProcessorFactory], format: AudioFormat, playbackRate: PlaybackRate, maximumFrameCount: Int
  ) throws(MediaError) {
    self.factories = factories
    self.format = format
    self.playbackRate = playbackRate
    let made = factories.map { $0.makeProcessor() }
    var processors: [(any AudioProcessor, delay: Int)] = []
    let limit = Self.maximumSeconds * format.sampleRateHz
    var (latency, history) = (0, 0)
    for processor in made {
      try processor.prepare(format: format, maximumFrameCount: maximumFrameCount)
      for (name, count) in [("latency", processor.latencyFrameCount), ("history", processor.historyFrameCount)] {
        guard 0...limit ~= count else {
          throw MediaError(
            .invalidArgument, "\(name) of an audio processor must be 0 to \(limit) frames (got \(count))",
            operation: "prepare")
        }
      }
      processors.append((processor, latency))
      latency += processor.latencyFrameCount
      history += processor.historyFrameCount
    }
    guard latency <= limit else {
      throw MediaError(
        .invalidArgument,
        "latency of all audio processors together must be at most \(limit) frames (got \(latency))",
        operation: "prepare")
    }
    self.processors = processors
    latencyFrameCount = latency
    // Less history changes the audio after a seek slightly. An error would make the item fail.
    historyFrameCount = min(history, limit)
    omittedFrameCount = latency
  }

  /// Whether the chain has these processors and this input.
  func matches(_ factories: [AudioProcessorFactory], format: AudioFormat) -> Bool {
    self.factories == factories && self.format == format
  }

  /// Prepares for input that is not continuous with the last.
  func restart(playbackRate: PlaybackRate) {
    for (processor, _) in processors { processor.reset() }
    self.playbackRate = playbackRate
    (omittedFrameCount, framesInside, continuesAudio) = (latencyFrameCount, 0, true)
  }

  /// Whether `flush` has frames to write.
  var hasFramesInside: Bool { framesInside > 0 }

  /// Whether the chain has frames of this format inside, which the next input must push out.
  func holdsFrames(of format: AudioFormat) -> Bool { framesInside > 0 && self.format == format }

  /// Records that the next input is not continuous with the last, and discards the frames inside.
  func endAudio() { (framesInside, continuesAudio) = (0, false) }

  /// Processes frames in place. Returns the number of output frames, which are moved to the beginning.
  ///
  /// - Parameters:
  ///   - position: The decoder's frame at the beginning.
  ///   - isHistory: Whether the output of these frames is discarded.
  func process(
    _ samples: UnsafeMutablePointer<Float>, frameCount: Int, position: Int64, isHistory: Bool = false
  ) -> Int {
    let count = frameCount * format.channelCount
    let buffer = UnsafeMutableBufferPointer(start: samples, count: count)
    for (processor, delay) in processors {
      let time = time(ofFrame: position - Int64(delay))
      var span = buffer.mutableSpan
      processor.process(&span, at: time)
      // Before the next processor, whose later output might depend on such a sample.
      if Self.replaceNonFinite(samples, count: count), nonFiniteTime == nil { nonFiniteTime = time }
    }
    nextFrame = position + Int64(frameCount)
    if isHistory { omittedFrameCount += frameCount }
    let omitted = min(omittedFrameCount, frameCount)
    let outputCount = frameCount - omitted
    omittedFrameCount -= omitted
    framesInside += (isHistory ? 0 : frameCount) - outputCount
    if omitted > 0, outputCount > 0 {
      samples.update(from: samples + omitted * format.channelCount, count: outputCount * format.channelCount)
    }
    return outputCount
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

  /// Removes and returns the time of a sample that was not finite; nil without one.
  func popNonFiniteTime() -> MediaTime? {
    defer { nonFiniteTime = nil }
    return nonFiniteTime
  }

  private func time(ofFrame frame: Int64) -> MediaTime {
    playbackRate.mirroredInReverse(MediaTime(frame: frame, rate: format.sampleRateHz))
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
