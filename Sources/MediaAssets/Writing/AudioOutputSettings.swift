import LibAV
import MediaCore

/// What sound is written as.
public struct AudioOutputSettings: Sendable, Hashable, Codable {
  /// How sound is coded.
  public enum Codec: Sendable, Hashable, Codable {
    /// Plain numbers; interleaved, whatever the encoding says of that.
    case pcm(PCMEncoding)
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

    /// Bits of a sample can be chosen.
    fileprivate var hasBitDepth: Bool { self == .flac || self == .alac }
  }

  /// How it is coded.
  public var codec: Codec
  /// Frames a second; nil: as it comes, or the least above that which the codec has.
  public var sampleRateHz: Int?
  /// Channels; nil: as many as come.
  public var channelCount: Int?
  /// Bits a second; nil: the encoder's own choice. Lossless codecs have none.
  public var bitRate: Int?
  /// Bits of a sample, for FLAC and ALAC: 16 or 24; nil: 16 of what has no more, else 24.
  public var bitsPerSample: Int?

  /// A codec with what comes.
  public init(_ codec: Codec) { self.codec = codec }

  /// What the encoder is told.
  ///
  /// Errors: `invalidArgument` for what the codec does not have.
  func encoderSettings(for source: FormatDescription) throws(MediaError) -> Encoder.Settings {
    guard let audio = source.audio, let pcm = audio.pcm, pcm.isSupported,
      let format = NativeSamples.format(of: pcm)
    else {
      throw MediaError(.unsupportedAudioFormat, "only plain numbers can be coded, not \(source.codecName)")
    }
    guard AudioFormat.supportedSampleRatesHz.contains(audio.sampleRateHz),
      AudioFormat.supportedChannelCounts.contains(audio.channelCount)
    else {
      throw MediaError(
        .unsupportedAudioFormat, "\(audio.channelCount) channels at \(audio.sampleRateHz) Hz are no sound")
    }
    let name = codec.encoderName
    guard let traits = Encoder.Traits(encoderName: name) else {
      throw MediaError(.unsupportedAudioFormat, "there is no encoder \(name) here")
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
    if let most = traits.largestChannelCount, settings.channelCount > most {
      throw MediaError(
        .invalidArgument, "\(traits.codecName) has \(most) channels at most, not \(settings.channelCount)")
    }
    guard AudioFormat.supportedChannelCounts.contains(settings.channelCount) else {
      throw MediaError(.invalidArgument, "\(settings.channelCount) channels are no sound")
    }
    guard bitRate == nil || bitRate.map({ (1_000...2_000_000).contains($0) }) == true else {
      throw MediaError(.invalidArgument, "a bit rate is from 1000 to 2000000")
    }
    settings.bitRate = bitRate
    if codec.hasBitDepth {
      settings.bitsPerSample = bitsPerSample ?? (pcm.bitsPerSample > 16 ? 24 : 16)
      guard [16, 24].contains(settings.bitsPerSample) else {
        throw MediaError(.invalidArgument, "\(traits.codecName) is written with 16 or 24 bits")
      }
    } else if bitsPerSample != nil {
      throw MediaError(.invalidArgument, "bits of a sample are chosen for FLAC and ALAC only")
    }
    return settings
  }

  private func rate(of traits: Encoder.Traits, for source: Int) throws(MediaError) -> Int {
    let offered = traits.sampleRatesHz
    let wanted = sampleRateHz ?? source
    guard AudioFormat.supportedSampleRatesHz.contains(wanted) else {
      throw MediaError(.invalidArgument, "there is no sound at \(wanted) Hz")
    }
    if offered.isEmpty || offered.contains(wanted) { return wanted }
    guard sampleRateHz == nil, let nearest = offered.filter({ $0 > wanted }).min() ?? offered.max() else {
      throw MediaError(.invalidArgument, "\(traits.codecName) has no \(wanted) Hz")
    }
    return nearest
  }
}
