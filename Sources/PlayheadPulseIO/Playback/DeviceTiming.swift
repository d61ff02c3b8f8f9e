import PlayheadMediaCore

/// One timing reply of the server. Frames are output frames.
struct DeviceTiming: Hashable {
  /// The next frame that the device will read from the stream's buffer.
  var readFrame: Int64
  /// The device's latency, in µs: how long after `hostTime` the frame before `readFrame` is heard.
  var deviceLatencyMicroseconds: Int64
  /// The time of the timing.
  var hostTime: HostTime
  /// Whether the device reads the stream: it is not corked, underrun or suspended.
  var isPlaying: Bool

  /// Returns the output frame heard at `hostTime`. The frame may be before the frame at which the stream began or
  /// resumed: then the device still plays its earlier buffer.
  func heardFrame(sampleRateHz: Int) -> Double {
    Double(readFrame) - Double(deviceLatencyMicroseconds) * Double(sampleRateHz) / 1_000_000
  }
}
