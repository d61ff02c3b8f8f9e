import LibAV
import MediaCore

/// One track of an asset, as its container describes it.
public struct AssetTrack: Sendable, Hashable, Identifiable {
  public enum MediaType: String, Sendable, Hashable {
    case audio, video, subtitle
    /// A picture that belongs to the file, such as a cover; it is no video.
    case attachedPicture
    case other
  }

  /// The track's number in the asset, from 0.
  public let id: Int
  public let mediaType: MediaType
  /// FFmpeg's name of the codec, such as `flac`; `none` for an unknown one.
  public let codecName: String
  /// Whether there is a decoder for it.
  public let isDecodable: Bool
  /// Where it lies on the asset's timeline; the duration is indefinite when not known.
  public private(set) var timeRange: TimeRange
  /// Whether `timeRange` is what the track really lasts, not an estimate.
  public private(set) var providesPreciseDuration: Bool
  /// Rate and channels; nil for what is not sound.
  public let audioFormat: AudioFormat?
  /// Speakers in native order, as FFmpeg's `AV_CH_*` bits; nil when the file does not say.
  public let channelMask: UInt64?
  /// Bits of a sample before coding, for lossless codecs; nil otherwise.
  public let bitsPerSample: Int?
  /// Bits a second.
  public let bitRate: Int64?
  /// As the file has it, mostly ISO 639-2.
  public let languageCode: String?
  /// Marked by the file as the one of its type to choose.
  public let isDefault: Bool
  /// In pixels; nil for what has no picture.
  public let pictureWidth: Int?
  public let pictureHeight: Int?

  init(_ stream: StreamInfo, mediaType: MediaType, timeRange: TimeRange, providesPreciseDuration: Bool) {
    id = stream.index
    self.mediaType = mediaType
    codecName = stream.codecName
    isDecodable = stream.hasDecoder
    self.timeRange = timeRange
    self.providesPreciseDuration = providesPreciseDuration
    audioFormat = stream.audioFormat
    channelMask = stream.channelMask
    bitsPerSample = stream.bitsPerSample
    bitRate = stream.bitRate
    languageCode = stream.languageCode
    isDefault = stream.isDefault
    pictureWidth = stream.width
    pictureHeight = stream.height
  }

  /// Says where the track really ends.
  mutating func setEnd(_ end: MediaTime) {
    timeRange = TimeRange(start: timeRange.start, duration: max(.zero, end - timeRange.start))
    providesPreciseDuration = true
  }
}

extension StreamInfo {
  /// Rate and channels, when both are known.
  var audioFormat: AudioFormat? {
    guard let sampleRateHz, let channelCount else { return nil }
    return AudioFormat(sampleRateHz: sampleRateHz, channelCount: channelCount)
  }
}

extension AudioFormat {
  /// Throws `unsupportedAudioFormat` for what no output can have.
  func checkSupported() throws(MediaError) {
    guard Self.supportedSampleRatesHz.contains(sampleRateHz), Self.supportedChannelCounts.contains(channelCount) else {
      throw MediaError(
        .unsupportedAudioFormat, "\(sampleRateHz) Hz with \(channelCount) channels is not supported")
    }
  }
}
