import MediaCore

/// One answer of the server to the question where the stream stands. Frames are output frames.
struct DeviceTiming: Hashable {
  /// The next frame that the device will take from the stream's buffer.
  var readFrame: Int64
  /// How long ago the frame before it was, or how long until it is, heard: what the device itself holds, in µs.
  var deviceMicroseconds: Int64
  /// When that was so.
  var hostTime: HostTime
  /// Whether the device takes from the stream: not corked, not starved, not suspended.
  var isPlaying: Bool

  /// The output frame heard at `hostTime`. It may lie before the frame at which the stream began or resumed: then the
  /// device still plays what it held before.
  func heardFrame(sampleRateHz: Int) -> Double {
    Double(readFrame) - Double(deviceMicroseconds) * Double(sampleRateHz) / 1_000_000
  }
}
