/// The shape of sound at the real-time boundary: interleaved 32-bit float samples.
///
/// A *frame* is one sample per channel. Full scale is ±1.0.
public struct AudioFormat: Sendable, Hashable, Codable {
  /// Frames per second, in Hz; 1 to 768,000.
  public var sampleRateHz: Int
  /// Samples per frame; 1 to 64. Channels stand in FFmpeg's native order (front left, front right, ...).
  public var channelCount: Int

  /// Limits of what an output or an item may have; beyond them an input is an error, never a trap.
  public static let supportedSampleRatesHz = 1...768_000
  /// Channel counts that an output or an item may have.
  public static let supportedChannelCounts = 1...64

  public init(sampleRateHz: Int, channelCount: Int) {
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
  }

  /// Bytes of one interleaved float32 frame.
  public var bytesPerFrame: Int { channelCount * MemoryLayout<Float>.size }
}
