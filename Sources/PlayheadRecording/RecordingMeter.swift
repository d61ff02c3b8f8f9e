import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Measures captured audio in windows of 10 ms, whose sums can be added. A pure value.
struct RecordingMeter {
  /// The measurement of a range of audio.
  struct Sum: Sendable, Hashable {
    var frameCount = 0
    var peaks: [Float]
    var squares: [Double]

    init(channelCount: Int) {
      peaks = [Float](repeating: 0, count: channelCount)
      squares = [Double](repeating: 0, count: channelCount)
    }

    mutating func add(_ other: Sum) {
      frameCount += other.frameCount
      for channel in peaks.indices {
        peaks[channel] = max(peaks[channel], other.peaks[channel])
        squares[channel] += other.squares[channel]
      }
    }

    mutating func removeAll() { self = Sum(channelCount: peaks.count) }

    /// The levels in dBFS; silence if there are no frames.
    var levels: MeterLevels {
      MeterLevels(
        averagePower: squares.map { MeterLevels.decibels(($0 / Double(max(1, frameCount))).squareRoot()) },
        peakPower: peaks.map { MeterLevels.decibels(Double($0)) })
    }
  }

  let channelCount: Int
  let windowFrames: Int
  private var window: Sum

  init(format: AudioFormat) {
    channelCount = format.channelCount
    windowFrames = max(1, format.sampleRateHz / 100)
    window = Sum(channelCount: channelCount)
  }

  /// Adds frames and calls `body` for each window that they complete. Ignores samples that are not finite.
  mutating func add(_ samples: UnsafeBufferPointer<Float>, _ body: (Sum) -> Void) {
    var frame = 0
    let frameCount = samples.count / channelCount
    while frame < frameCount {
      let count = min(frameCount - frame, windowFrames - window.frameCount)
      for channel in 0..<channelCount {
        var peak: Float = 0
        var sum = 0.0
        for index in frame..<frame + count {
          let magnitude = samples[index * channelCount + channel].magnitude
          guard magnitude <= .greatestFiniteMagnitude else { continue }
          if magnitude > peak { peak = magnitude }
          sum += Double(magnitude) * Double(magnitude)
        }
        window.peaks[channel] = max(window.peaks[channel], peak)
        window.squares[channel] += sum
      }
      window.frameCount += count
      frame += count
      if window.frameCount == windowFrames {
        body(window)
        window.removeAll()
      }
    }
  }
}
