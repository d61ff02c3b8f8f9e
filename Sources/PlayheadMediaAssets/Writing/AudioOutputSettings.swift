import PlayheadLibAV
import PlayheadMediaCore

/// The format in which audio is written.
public struct AudioOutputSettings: Sendable, Hashable, Codable {
  /// An audio codec.
  public enum Codec: Sendable, Hashable, Codable {
    /// PCM. Written interleaved, even if the encoding is not.
    case pcm(PCMEncoding)
    /// The codec of this name. FLAC and ALAC are lossless.
    case flac, alac, aac, opus, mp3
    /// Apple's IMA 4:1.
    case ima4
    /// G.711: 8 bits with a logarithmic scale.
    case muLaw, aLaw

    /// FFmpeg's name of the encoder.
    var encoderName: String {
      switch self {
      case .pcm(let encoding): encoding.codecName
      case .flac: "flac"
      case .alac: "alac"
      case .aac: "aac"
      case .opus: "libopus"
      case .mp3: "libmp3lame"
      case .ima4: "adpcm_ima_qt"
      case .muLaw: "pcm_mulaw"
      case .aLaw: "pcm_alaw"
      }
    }

    /// Whether the number of bits per sample can be chosen.
    fileprivate var hasBitDepth: Bool { self == .flac || self == .alac }
  }

  /// The codec.
  public var codec: Codec
  /// Frames per second. Default: nil, the rate of the source, or the lowest higher rate that the codec supports.
  public var sampleRateHz: Int?
  /// The number of channels. Default: nil, as many as the source has.
  public var channelCount: Int?
  /// Bits per second, 1,000 to 2,000,000. Default: nil, the choice of the encoder. It has no effect on lossless codecs.
  public var bitRate: Int?
  /// Bits per sample for FLAC and ALAC: 16 or 24. Default: nil, 16 if the source has no more than 16 bits, otherwise
  /// 24.
  public var bitsPerSample: Int?

  /// Creates settings that keep the sample rate and channels of the source.
  public init(_ codec: Codec) { self.codec = codec }

  /// Returns the settings of the encoder.
  ///
  /// - Throws: `invalidArgument` for values that the codec does not support; `unsupportedAudioFormat` for a source that
  ///   cannot be encoded.
  func encoderSettings(for source: FormatDescription) throws(MediaError) -> Encoder.Settings {
    guard let audio = source.audio, let pcm = audio.pcm, pcm.isSupported,
      let format = NativeSamples.format(of: pcm)
    else {
      throw MediaError(.unsupportedAudioFormat, "only PCM can be encoded (got \(source.codecName))")
    }
    guard AudioFormat.supportedSampleRatesHz.contains(audio.sampleRateHz),
      AudioFormat.supportedChannelCounts.contains(audio.channelCount)
    else {
      throw MediaError(
        .unsupportedAudioFormat, "unsupported audio format: \(audio.channelCount) channels at \(audio.sampleRateHz) Hz")
    }
    let name = codec.encoderName
    guard let traits = Encoder.Traits(encoderName: name) else {
      throw MediaError(.unsupportedAudioFormat, "the encoder \(name) is not available")
    }
    var settings = Encoder.Settings(
      encoderName: name,
      input: SampleLayout(
        format: format, sampleRateHz: audio.sampleRateHz, channelCount: audio.channelCount,
        channelMask: audio.channelMask))
    settings.sampleRateHz = try rate(of: traits, for: audio.sampleRateHz)
    if let channelCount, channelCount != audio.channelCount {
      settings.channelCount = channelCount
      settings.channelMask = nil
    }
    if let maximumChannelCount = traits.maximumChannelCount, settings.channelCount > maximumChannelCount {
      throw MediaError(
        .invalidArgument,
        "\(traits.codecName) supports at most \(maximumChannelCount) channels (got \(settings.channelCount))")
    }
    guard AudioFormat.supportedChannelCounts.contains(settings.channelCount) else {
      throw MediaError(.invalidArgument, "unsupported number of channels: \(settings.channelCount)")
    }
    guard bitRate == nil || bitRate.map({ (1_000...2_000_000).contains($0) }) == true else {
      throw MediaError(.invalidArgument, "the bit rate must be between 1000 and 2000000")
    }
    settings.bitRate = bitRate
    if codec.hasBitDepth {
      settings.bitsPerSample = bitsPerSample ?? (pcm.bitsPerSample > 16 ? 24 : 16)
      guard [16, 24].contains(settings.bitsPerSample) else {
        throw MediaError(.invalidArgument, "bits per sample of \(traits.codecName) must be 16 or 24")
      }
    } else if bitsPerSample != nil {
      throw MediaError(.invalidArgument, "bits per sample can be set for FLAC and ALAC only")
    }
    return settings
  }

  private func rate(of traits: Encoder.Traits, for source: Int) throws(MediaError) -> Int {
    let supportedRates = traits.sampleRatesHz
    let requested = sampleRateHz ?? source
    guard AudioFormat.supportedSampleRatesHz.contains(requested) else {
      throw MediaError(.invalidArgument, "unsupported sample rate: \(requested) Hz")
    }
    if supportedRates.isEmpty || supportedRates.contains(requested) { return requested }
    guard sampleRateHz == nil,
      let nearest = supportedRates.filter({ $0 > requested }).min() ?? supportedRates.max()
    else {
      throw MediaError(.invalidArgument, "\(traits.codecName) does not support \(requested) Hz")
    }
    return nearest
  }
}
