import Synchronization

/// The counters of a sink. Written by the loop's thread, read by any thread.
final class PulseCounters: Sendable {
  let writeCount = Atomic<Int>(0)
  let timingCount = Atomic<Int>(0)
  let spliceCount = Atomic<Int>(0)
  let lateSpliceCount = Atomic<Int>(0)
  let underrunCount = Atomic<Int>(0)
  let bufferFrames = Atomic<Int>(0)
  let deviceLatencyMicroseconds = Atomic<Int>(0)
  /// How much consumed audio the server drops when the stream ends.
  let possibleLossNanoseconds = Atomic<Int64>(0)
}
