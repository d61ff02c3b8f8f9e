import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization

/// A stereo writer that stores its samples twice: in 16 bits, and unchanged.
///
/// Threading: any thread.
package final class HeardSamples: SampleWriter, Sendable {
  private let frames = Mutex<[StereoFrame]>([])
  private let lefts = Mutex<[Float]>([])
  private let rights = Mutex<[Float]>([])

  package init() {}

  package func begin(format: AudioFormat) throws(MediaError) {}

  package func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    lefts.withLock { lefts in
      for frame in 0..<frameCount { lefts.append(samples[frame * 2]) }
    }
    rights.withLock { rights in
      for frame in 0..<frameCount { rights.append(samples[frame * 2 + 1]) }
    }
    frames.withLock { frames in
      for frame in 0..<frameCount {
        frames.append(
          StereoFrame(
            left: Self.sample(samples[frame * 2]), right: Self.sample(samples[frame * 2 + 1])))
      }
    }
  }

  package func finish() {}

  /// Removes all frames except the newest `count`.
  package func removeAll(butLast count: Int) {
    frames.withLock { $0 = Array($0.suffix(count)) }
    lefts.withLock { $0 = Array($0.suffix(count)) }
    rights.withLock { $0 = Array($0.suffix(count)) }
  }

  package static func sample(_ value: Float) -> Int16 { Int16(clamping: Int((value * 32_768).rounded())) }

  package func removeAll() {
    frames.withLock { $0 = [] }
    lefts.withLock { $0 = [] }
    rights.withLock { $0 = [] }
  }

  /// The unchanged samples of a channel.
  package var left: [Float] { lefts.withLock { $0 } }
  package var right: [Float] { rights.withLock { $0 } }
  package var all: [StereoFrame] { frames.withLock { $0 } }
  package var runs: [TimeCode.Run] { TimeCode.runs(in: all) }
}
