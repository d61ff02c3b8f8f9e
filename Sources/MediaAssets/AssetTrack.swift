import LibAV
import MediaCore
import Playlists

/// One track of an asset, as its container describes it.
public struct AssetTrack: Sendable, Hashable, Codable, Identifiable {
  public enum MediaType: String, Sendable, Hashable, Codable {
    case audio, video, subtitle
    /// A picture that belongs to the file, such as a cover; it is no video.
    case attachedPicture
    case other
  }

  /// The track's number in the asset, from 0.
  public private(set) var id: Int
  public let mediaType: MediaType
  /// FFmpeg's name of the codec, such as `flac`; `none` for an unknown one.
  public let codecName: String
  /// The container's four characters for the codec, such as `mp4a`; nil when it has none.
  public let codecTag: String?
  /// FFmpeg's name of what samples decode to, such as `s16` or `fltp`; nil for what is not sound, or not known.
  public let sampleFormatName: String?
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
  /// FFmpeg's name of the channels' places, such as `stereo`, `5.1(side)` or `6 channels`; nil for what is not sound.
  public let channelLayoutName: String?
  /// Bits of a sample before coding, for lossless codecs; nil otherwise.
  public let bitsPerSample: Int?
  /// Bits a second.
  public let bitRate: Int64?
  /// As the file has it, mostly ISO 639-2.
  public let languageCode: String?
  /// Marked by the file as the one of its type to choose.
  public let isDefault: Bool
  /// Whether the file wants it to be presented unless something else is asked for. Of containers that do not say: always.
  public let isEnabled: Bool
  /// Nothing decodes it without a key.
  public let isProtected: Bool
  /// A name for people.
  public let title: String?
  /// What it is for, as far as the file says.
  public let characteristics: Set<MediaCharacteristic>
  /// The captions within the video frames of a video track, by `ClosedCaptionFormat.allCases`. Empty if there are none in
  /// the first frames.
  public package(set) var closedCaptions: [ClosedCaptionFormat] = []
  /// The coded size in pixels; nil for tracks that are neither video nor artwork.
  public let codedWidth: Int?
  public let codedHeight: Int?
  /// The size in square pixels: after the pixel aspect ratio is applied, and before `rotationDegrees` is. Nil for tracks that
  /// are neither video nor artwork.
  public let naturalSize: NaturalSize?
  /// The clockwise rotation that makes video frames upright: 0, 90, 180 or 270. Nil for tracks without video.
  public private(set) var rotationDegrees: Int?
  /// Video frames a second, on average; nil for what is no video, or not known.
  public let frameRate: FrameRate?

  /// Width and height, in square pixels.
  public struct NaturalSize: Sendable, Hashable, Codable {
    public let width: Int
    public let height: Int

    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// A rate as the fraction that it is: 30000/1001.
  public struct FrameRate: Sendable, Hashable, Codable, CustomStringConvertible {
    public let numerator: Int32
    public let denominator: Int32

    public init(numerator: Int32, denominator: Int32) {
      self.numerator = numerator
      self.denominator = denominator
    }

    public var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
  }

  /// Whether the numbers are such as a file has.
  var isPlausible: Bool {
    let numbers = [codedWidth ?? 0, codedHeight ?? 0, naturalSize?.width ?? 0, naturalSize?.height ?? 0]
    return numbers.allSatisfy { (0...1 << 31).contains($0) } && frameRate.map { $0.denominator > 0 } ?? true
  }

  /// Whether it is sound that can be chosen to be heard.
  public var isAudible: Bool {
    guard mediaType == .audio, isDecodable, !isProtected, let audioFormat else { return false }
    return audioFormat.isSupported
  }

  /// - Parameter codecName: the name of a codec that FFmpeg does not know; nil: the name that FFmpeg gives.
  init(
    _ stream: StreamInfo, codecName: String? = nil, mediaType: MediaType, format: ContainerFormat, timeRange: TimeRange,
    providesPreciseDuration: Bool, isProtected: Bool
  ) {
    id = stream.index
    self.mediaType = mediaType
    self.codecName = codecName ?? stream.codecName
    codecTag = stream.codecTag
    sampleFormatName = stream.sampleFormatName
    isDecodable = stream.hasDecoder || codecName != nil
    self.timeRange = timeRange
    self.providesPreciseDuration = providesPreciseDuration
    audioFormat = stream.audioFormat
    channelMask = stream.channelMask
    channelLayoutName = stream.channelLayoutName
    bitsPerSample = stream.bitsPerSample
    bitRate = stream.bitRate
    languageCode = stream.languageCode
    isDefault = stream.isDefault
    // FFmpeg makes the flag of MP4's track headers the one of the default.
    isEnabled = format == .movie ? stream.isDefault || mediaType == .attachedPicture : true
    self.isProtected = isProtected
    title = stream.title
    characteristics = Set(stream.roles.map(MediaCharacteristic.init))
    codedWidth = stream.width
    codedHeight = stream.height
    naturalSize = stream.naturalWidth.flatMap { width in stream.height.map { NaturalSize(width: width, height: $0) } }
    rotationDegrees = mediaType == .video ? stream.video?.rotationDegrees : nil
    frameRate =
      mediaType == .video
      ? stream.videoFrameDuration.map { FrameRate(numerator: $0.denominator, denominator: $0.numerator) } : nil
  }

  /// A rendition of a stream's sound.
  ///
  /// - Parameters:
  ///   - heard: the track that is heard unless something else is wanted. What others are like is known once they are read: until then
  ///     they are taken to be like this one.
  ///   - isHeard: it is that one.
  init(_ rendition: HLSRendition, id: Int, like heard: AssetTrack?, isHeard: Bool) {
    self.id = id
    mediaType = .audio
    codecName = heard?.codecName ?? "none"
    codecTag = heard?.codecTag
    sampleFormatName = heard?.sampleFormatName
    isDecodable = heard?.isDecodable ?? false
    timeRange = heard?.timeRange ?? TimeRange(start: .zero, duration: .indefinite)
    providesPreciseDuration = false
    let isLike = isHeard || rendition.channelCount == nil || rendition.channelCount == heard?.audioFormat?.channelCount
    audioFormat =
      isLike
      ? heard?.audioFormat
      : heard?.audioFormat.map {
        AudioFormat(sampleRateHz: $0.sampleRateHz, channelCount: rendition.channelCount ?? $0.channelCount)
      }
    channelMask = isLike ? heard?.channelMask : nil
    channelLayoutName = isLike ? heard?.channelLayoutName : nil
    bitsPerSample = isHeard ? heard?.bitsPerSample : nil
    bitRate = isHeard ? heard?.bitRate : nil
    languageCode = rendition.language ?? (isHeard ? heard?.languageCode : nil)
    isDefault = rendition.isDefault
    isEnabled = rendition.isAutoselect
    isProtected = heard?.isProtected ?? false
    title = rendition.name
    characteristics = rendition.mediaCharacteristics
    codedWidth = nil
    codedHeight = nil
    naturalSize = nil
    frameRate = nil
  }

  /// A rendition of a stream's subtitles, which are WebVTT and listed only.
  init(_ rendition: HLSRendition, id: Int, lasting timeRange: TimeRange?) {
    self.id = id
    mediaType = .subtitle
    codecName = "webvtt"
    codecTag = nil
    sampleFormatName = nil
    isDecodable = true
    self.timeRange = timeRange ?? TimeRange(start: .zero, duration: .indefinite)
    providesPreciseDuration = false
    audioFormat = nil
    channelMask = nil
    channelLayoutName = nil
    bitsPerSample = nil
    bitRate = nil
    languageCode = rendition.language
    isDefault = rendition.isDefault
    isEnabled = rendition.isAutoselect
    isProtected = false
    title = rendition.name
    characteristics = rendition.mediaCharacteristics
    codedWidth = nil
    codedHeight = nil
    naturalSize = nil
    frameRate = nil
  }

  /// A track of a composition: sound as plain numbers, or video as its first source has it.
  ///
  /// - Parameters:
  ///   - audioFormat: that of all sound of the composition.
  ///   - channelMask: the same.
  init(_ track: CompositionTrack, audioFormat: AudioFormat?, channelMask: UInt64?) {
    let isAudio = track.mediaType == .audio
    let first = track.segments.lazy.compactMap { $0.source?.track }.first
    id = track.id
    mediaType = track.mediaType
    codecName = isAudio ? PCMEncoding.float32.codecName : first?.codecName ?? "none"
    codecTag = nil
    sampleFormatName = isAudio ? "flt" : nil
    isDecodable = true
    timeRange = TimeRange(start: .zero, duration: track.duration)
    providesPreciseDuration = true
    self.audioFormat = isAudio ? audioFormat : nil
    self.channelMask = isAudio ? channelMask : nil
    channelLayoutName = nil
    bitsPerSample = nil
    bitRate = nil
    languageCode = nil
    isDefault = false
    isEnabled = true
    isProtected = false
    title = nil
    characteristics = []
    codedWidth = isAudio ? nil : first?.codedWidth
    codedHeight = isAudio ? nil : first?.codedHeight
    naturalSize = isAudio ? nil : first?.naturalSize
    rotationDegrees = isAudio ? nil : first?.rotationDegrees
    frameRate = isAudio ? nil : first?.frameRate
  }

  /// The same with another number.
  func numbered(_ id: Int) -> AssetTrack {
    var track = self
    track.id = id
    return track
  }

  /// Says where the track really ends.
  mutating func setEnd(_ end: MediaTime, isPrecise: Bool = true) {
    timeRange = TimeRange(start: timeRange.start, duration: max(.zero, end - timeRange.start))
    providesPreciseDuration = isPrecise
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
  /// Whether an output can have it.
  var isSupported: Bool {
    Self.supportedSampleRatesHz.contains(sampleRateHz) && Self.supportedChannelCounts.contains(channelCount)
  }

  /// Throws `unsupportedAudioFormat` for what no output can have.
  func checkSupported() throws(MediaError) {
    guard isSupported else {
      throw MediaError(
        .unsupportedAudioFormat, "\(sampleRateHz) Hz with \(channelCount) channels is not supported")
    }
  }
}
