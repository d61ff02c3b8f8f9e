import PlayheadMediaCore

/// The format in which a track's audio is read: PCM.
public struct AudioReadSettings: Sendable, Hashable {
  /// The encoding: 8 bits unsigned; 16, 24 or 32 bits signed; 32 or 64 bits floating point. Either byte order,
  /// interleaved or not.
  public var encoding: PCMEncoding
  /// Frames per second. Default: nil, the rate of the track.
  public var sampleRateHz: Int?
  /// The number of channels. Default: nil, that of the track. Audio with another number is mixed as for an output of
  /// the engine.
  public var channelCount: Int?

  /// Creates settings with an encoding, by default at the track's sample rate.
  public init(_ encoding: PCMEncoding = .float32, sampleRateHz: Int? = nil, channelCount: Int? = nil) {
    self.encoding = encoding
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
  }

  /// - Throws: `invalidArgument`.
  func check() throws(MediaError) {
    guard NativeSamples.format(of: encoding) != nil else {
      throw MediaError(.invalidArgument, "audio cannot be read as \(encoding.codecName)", operation: "read")
    }
    if let sampleRateHz, !AudioFormat.supportedSampleRatesHz.contains(sampleRateHz) {
      throw MediaError(.invalidArgument, "unsupported sample rate: \(sampleRateHz) Hz", operation: "read")
    }
    if let channelCount, !AudioFormat.supportedChannelCounts.contains(channelCount) {
      throw MediaError(.invalidArgument, "unsupported number of channels: \(channelCount)", operation: "read")
    }
  }
}
