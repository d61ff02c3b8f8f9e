import PlayheadMediaCore

/// Decides at which output frame the overwriting of buffered audio begins. A value type without side effects.
///
/// The device reads the stream in blocks. Audio that it has read cannot be replaced, so the new audio must reach the
/// server before the device reads the first new frame. The plan estimates the time and size of the device's next reads.
/// The new audio begins after every read that may happen before the audio arrives.
struct SplicePlan: Hashable {
  /// The time that audio may need to reach the server, rendering included, without being late. Usually it needs less
  /// than one millisecond; on a machine whose cores are all busy, the server or this process may be delayed by several.
  /// Measured: each additional 10 ms delays a seek by 5 ms on average.
  static let shortestArrivalNanoseconds: Int64 = 20_000_000
  /// The upper bound: a longer time would leave almost no buffered audio to overwrite.
  static let longestArrivalNanoseconds: Int64 = 60_000_000
  /// The minimum distance from the read position.
  static let marginNanoseconds: Int64 = 10_000_000

  var sampleRateHz: Int
  /// The server's fresh timing reply.
  var timing: DeviceTiming
  /// The device's block size, in frames; 0 when unknown.
  var blockFrames: Int64
  /// The time of the device's last known read.
  var lastRead: HostTime
  /// The longest recent reply time of the server, a measure of the machine's load.
  var slowestReplyNanoseconds: Int64
  var now: HostTime

  /// The first output frame to overwrite.
  var targetFrame: Int64 {
    let margin = frames(inNanoseconds: Self.marginNanoseconds)
    guard blockFrames > 0 else { return timing.readFrame + 4 * margin }
    let block = nanoseconds(ofFrames: blockFrames)
    let arrival = max(
      Self.shortestArrivalNanoseconds,
      min(3 &* slowestReplyNanoseconds, Self.longestArrivalNanoseconds))
    let deadline = now.advanced(byNanoseconds: arrival)
    // The next read comes one block after the last one, at the latest when the device's buffer is empty.
    let bufferEmptyTime = timing.hostTime.advanced(byNanoseconds: timing.deviceLatencyMicroseconds &* 1_000)
    let nextRead = max(timing.hostTime, min(lastRead.advanced(byNanoseconds: block), bufferEmptyTime))
    let readCount = nextRead > deadline ? 0 : 1 + deadline.nanoseconds(since: nextRead) / max(1, block)
    // Two frames for the rounding of times.
    return timing.readFrame + max(margin, readCount * blockFrames + 2)
  }

  private func frames(inNanoseconds nanoseconds: Int64) -> Int64 {
    nanoseconds * Int64(sampleRateHz) / 1_000_000_000
  }

  private func nanoseconds(ofFrames frames: Int64) -> Int64 {
    frames * 1_000_000_000 / Int64(sampleRateHz)
  }
}
