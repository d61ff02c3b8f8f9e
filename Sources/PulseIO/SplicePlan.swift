import MediaCore

/// Decides from which output frame on queued sound is overwritten. A pure value.
///
/// The device takes sound from the stream in blocks. What it has taken cannot be replaced, so the new sound must reach
/// the server before the device's read position passes the first new frame. The plan looks at when the device will
/// read next and how much it takes at once, and stays clear of every read that may happen before the sound arrives.
struct SplicePlan: Hashable {
  /// How long sound may take on its way to the server, rendering included, without coming late. In truth it takes less
  /// than one millisecond; a machine whose cores are all busy may hold up the server or us for several. Every 10 ms
  /// here cost a seek 5 ms on average.
  static let shortestArrivalNanoseconds: Int64 = 20_000_000
  /// More than this would leave hardly anything of the queue to overwrite.
  static let longestArrivalNanoseconds: Int64 = 60_000_000
  /// The distance to the read position that is kept in any case.
  static let marginNanoseconds: Int64 = 10_000_000

  var sampleRateHz: Int
  /// The fresh answer of the server.
  var timing: DeviceTiming
  /// How many frames the device takes at once; 0 when not known.
  var blockFrames: Int64
  /// When the device was last seen to read.
  var lastRead: HostTime
  /// How long the server took to answer at worst, lately: what a busy machine shows of itself.
  var slowestAnswerNanoseconds: Int64
  var now: HostTime

  /// The first output frame to overwrite.
  var targetFrame: Int64 {
    let margin = frames(inNanoseconds: Self.marginNanoseconds)
    guard blockFrames > 0 else { return timing.readFrame + 4 * margin }
    let block = nanoseconds(ofFrames: blockFrames)
    let arrival = max(
      Self.shortestArrivalNanoseconds,
      min(3 &* slowestAnswerNanoseconds, Self.longestArrivalNanoseconds))
    let deadline = now.advanced(byNanoseconds: arrival)
    // The next read comes a block after the last one, and at the latest when the device runs dry.
    let dry = timing.hostTime.advanced(byNanoseconds: timing.deviceMicroseconds &* 1_000)
    let next = max(timing.hostTime, min(lastRead.advanced(byNanoseconds: block), dry))
    let readCount = next > deadline ? 0 : 1 + deadline.nanoseconds(since: next) / max(1, block)
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
