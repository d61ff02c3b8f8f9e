import Playhead
import Synchronization

/// A sample writer that keeps the audio in memory, for outputs in tests. An hour of stereo at 48 kHz takes 1.4 GB.
///
/// <!-- listing: verify-output -->
/// ```swift
/// let peak = test.output.samples.map(abs).max() ?? 0
/// print(peak, test.output.timeCodeRuns)
/// ```
///
/// Threading: any thread.
public final class CapturedAudio: SampleWriter, Sendable {
  private struct State {
    var format: AudioFormat?
    var samples: [Float] = []
  }

  private let state = Mutex(State())

  /// Makes a writer without audio.
  public init() {}

  public func begin(format: AudioFormat) { state.withLock { $0.format = format } }

  public func write(_ samples: UnsafePointer<Float>, frameCount: Int) {
    state.withLock { state in
      let count = frameCount * (state.format?.channelCount ?? 0)
      state.samples.append(contentsOf: UnsafeBufferPointer(start: samples, count: count))
    }
  }

  public func finish() {}

  /// The format of the output; nil until it is open.
  public var format: AudioFormat? { state.withLock { $0.format } }

  /// All samples, interleaved. Full scale is 1.
  public var samples: [Float] { state.withLock { $0.samples } }

  /// The number of frames heard.
  public var frameCount: Int { state.withLock { $0.samples.count / ($0.format?.channelCount ?? 1) } }

  /// The samples of one channel.
  ///
  /// - Parameter channel: Counted from 0. Empty for a channel that the output does not have.
  public func channel(_ channel: Int) -> [Float] {
    let (samples, channelCount) = state.withLock { ($0.samples, $0.format?.channelCount ?? 0) }
    guard (0..<channelCount).contains(channel) else { return [] }
    return stride(from: channel, to: samples.count, by: channelCount).map { samples[$0] }
  }

  /// The continuous ranges of time-coded files in the audio, in order. Empty unless the output is stereo.
  public var timeCodeRuns: [TimeCode.Run] {
    let (samples, channelCount) = state.withLock { ($0.samples, $0.format?.channelCount ?? 0) }
    guard channelCount == 2 else { return [] }
    return TimeCode.runs(
      in: (0..<samples.count / 2).map { frame in
        StereoFrame(rounding: samples[2 * frame], samples[2 * frame + 1])
      })
  }

  /// Removes all samples.
  public func removeAll() { state.withLock { $0.samples = [] } }
}
