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
  /// The maximum duration of consumed audio that the server may drop when the stream ends.
  let possibleLossNanoseconds = Atomic<Int64>(0)
}
