import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// A device that fails after a number of frames, with `outputLost`.
final class BreakingWriter: SampleWriter, Sendable {
  private let remainingFrameCount: Mutex<Int>

  init(afterFrames frameCount: Int) { remainingFrameCount = Mutex(frameCount) }

  func begin(format: AudioFormat) throws(MediaError) {}

  func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
    let isBroken = remainingFrameCount.withLock { remaining in
      remaining -= frameCount
      return remaining < 0
    }
    if isBroken { throw MediaError(.outputLost, "the device broke") }
  }

  func finish() {}
}
