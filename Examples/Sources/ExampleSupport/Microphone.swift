import Foundation
import Playhead

/// Returns the default input of the sound server. Without a server: a tone of 440 Hz, so that the examples run
/// anywhere.
public func microphoneOrTone() -> any AudioSource {
  let probe = PulseSource()
  defer { probe.close() }
  if (try? probe.open()) != nil { return PulseSource() }
  let source = ManualSource(format: AudioFormat(sampleRateHz: 48_000, channelCount: 1), label: "tone")
  Thread.detachNewThread {
    // Delivers 10 ms of audio every 10 ms, until the source is closed.
    var frame = 0
    var time = HostTime.now
    while !source.isClosed {
      source.deliver(
        (frame..<frame + 480).map { 0.25 * sin(2 * .pi * 440 * Float($0 % 4_800) / 48_000) }, hostTime: time)
      (frame, time) = (frame + 480, time.advanced(byNanoseconds: 10_000_000))
      Thread.sleep(forTimeInterval: max(0, Double(time.nanoseconds(since: .now)) / 1e9))
    }
  }
  return source
}
