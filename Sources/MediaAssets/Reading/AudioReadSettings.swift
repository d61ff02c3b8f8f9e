import MediaCore

/// What the sound of a track is read as: plain numbers.
public struct AudioReadSettings: Sendable, Hashable {
  /// How the numbers are written. 8 bits unsigned; 16, 24 or 32 signed; 32 or 64 floating; in either order of bytes, interleaved or not.
  public var encoding: PCMEncoding
  /// Frames a second; nil: as the track has them.
  public var sampleRateHz: Int?
  /// Channels; nil: as the track has them. Others are mixed as the engine does for an output of so many.
  public var channelCount: Int?

  /// Numbers of an encoding, at the track's own rate unless said.
  public init(_ encoding: PCMEncoding = .float32, sampleRateHz: Int? = nil, channelCount: Int? = nil) {
    self.encoding = encoding
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
  }

  /// Errors: `invalidArgument`.
  func check() throws(MediaError) {
    guard NativeSamples.format(of: encoding) != nil else {
      throw MediaError(.invalidArgument, "sound is not read as \(encoding.codecName)", operation: "read")
    }
    if let sampleRateHz, !AudioFormat.supportedSampleRatesHz.contains(sampleRateHz) {
      throw MediaError(.invalidArgument, "there is no sound at \(sampleRateHz) Hz", operation: "read")
    }
    if let channelCount, !AudioFormat.supportedChannelCounts.contains(channelCount) {
      throw MediaError(.invalidArgument, "\(channelCount) channels are no sound", operation: "read")
    }
  }
}
