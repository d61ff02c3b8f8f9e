/// The format of the audio that the render thread processes: interleaved 32-bit float samples.
///
/// A *frame* is one sample per channel. Full scale is ±1.0.
public struct AudioFormat: Sendable, Hashable, Codable {
  /// The number of frames per second, in Hz; 1 to 768,000.
  public var sampleRateHz: Int
  /// The number of samples per frame; 1 to 64. Channels are in FFmpeg's native order (front left, front right, ...).
  public var channelCount: Int

  /// The sample rates that outputs and items may have.
  ///
  /// The initializer does not check the limits. Code that reads a format from a file, an option or the settings of a
  /// caller checks them, and throws an error. The mixer and the ring buffers require them (a precondition).
  public static let supportedSampleRatesHz = 1...768_000
  /// The channel counts that outputs and items may have. They are checked like ``supportedSampleRatesHz``.
  public static let supportedChannelCounts = 1...64

  /// Creates a format. The limits are not checked: see ``supportedSampleRatesHz``.
  public init(sampleRateHz: Int, channelCount: Int) {
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
  }

  /// The number of bytes of one interleaved float32 frame.
  public var bytesPerFrame: Int { channelCount * MemoryLayout<Float>.size }
}
