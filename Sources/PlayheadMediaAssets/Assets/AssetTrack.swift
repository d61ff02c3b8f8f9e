import PlayheadLibAV
import PlayheadMediaCore
import PlayheadPlaylists

/// One track of an asset, as its container describes it.
public struct AssetTrack: Sendable, Hashable, Codable, Identifiable {
  /// The kind of a track's media.
  public enum MediaType: String, Sendable, Hashable, Codable {
    /// Audio, moving video, or subtitles.
    case audio, video, subtitle
    /// A still image that belongs to the file, such as a cover. It is not video.
    case attachedPicture
    /// Other data, such as timed metadata.
    case other
  }

  /// The track's number in the asset, from 0.
  public private(set) var id: Int
  /// The kind of the track's media.
  public let mediaType: MediaType
  /// FFmpeg's name of the codec, such as `flac`; `none` for an unknown codec.
  public let codecName: String
  /// The container's four-character code of the codec, such as `mp4a`; nil if it has none.
  public let codecTag: String?
  /// FFmpeg's name of the decoded sample format, such as `s16` or `fltp`; nil for tracks without audio or when unknown.
  public let sampleFormatName: String?
  /// Whether a decoder is available.
  public let isDecodable: Bool
  /// The range of the track on the asset's timeline; the duration is indefinite when unknown.
  public private(set) var timeRange: TimeRange
  /// Whether ``timeRange`` is exact and not an estimate.
  public private(set) var providesPreciseDuration: Bool
  /// The sample rate and channel count; nil for tracks without audio.
  public let audioFormat: AudioFormat?
  /// The speakers in native order, as FFmpeg's `AV_CH_*` bits; nil if the file does not state them.
  public let channelMask: UInt64?
  /// FFmpeg's name of the channel layout, such as `stereo`, `5.1(side)` or `6 channels`; nil for tracks without audio.
  public let channelLayoutName: String?
  /// The number of bits of a sample before coding, for lossless codecs; nil otherwise.
  public let bitsPerSample: Int?
  /// The bit rate in bit/s; nil when unknown.
  public let bitRate: Int64?
  /// The language as in the file, usually an ISO 639-2 code.
  public let languageCode: String?
  /// Whether the file marks the track as the default of its type.
  public let isDefault: Bool
  /// Whether the file enables the track by default. Always true for containers without this flag.
  public let isEnabled: Bool
  /// Whether decoding requires a key.
  public let isProtected: Bool
  /// The title for display.
  public let title: String?
  /// The purpose of the track, as far as the file states it.
  public let characteristics: Set<MediaCharacteristic>
  /// The formats of captions within the frames of a video track, in the order of `ClosedCaptionFormat.allCases`.
  ///
  /// Empty if the first frames contain none.
  public package(set) var closedCaptions: [ClosedCaptionFormat] = []
  /// The coded size in pixels; nil for tracks that are neither video nor artwork.
  public let codedWidth: Int?
  /// The coded height in pixels; nil for tracks that are neither video nor artwork.
  public let codedHeight: Int?
  /// The size in square pixels: after the pixel aspect ratio is applied, and before ``rotationDegrees`` is applied.
  ///
  /// Nil for tracks that are neither video nor artwork.
  public let naturalSize: PixelSize?
  /// The clockwise rotation that makes video frames upright: 0, 90, 180 or 270. Nil for tracks without video.
  public private(set) var rotationDegrees: Int?
  /// The average number of video frames per second; nil for tracks without video or when unknown.
  public let frameRate: FrameRate?

  /// A frame rate as an exact fraction, such as 30000/1001.
  public struct FrameRate: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The number of frames in ``denominator`` seconds.
    public let numerator: Int32
    /// The number of seconds.
    public let denominator: Int32

    /// Creates a rate from a fraction, which is not reduced.
    public init(numerator: Int32, denominator: Int32) {
      self.numerator = numerator
      self.denominator = denominator
    }

    public var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
  }

  /// Whether the numbers are possible for a file.
  var isPlausible: Bool {
    let numbers = [codedWidth ?? 0, codedHeight ?? 0, naturalSize?.width ?? 0, naturalSize?.height ?? 0]
    return numbers.allSatisfy { (0...1 << 31).contains($0) } && frameRate.map { $0.denominator > 0 } ?? true
  }

  /// Whether the track is audio that can be selected and played.
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
    // FFmpeg maps the enabled flag of MP4 track headers to its default flag.
    isEnabled = format == .movie ? stream.isDefault || mediaType == .attachedPicture : true
    self.isProtected = isProtected
    title = stream.title
    characteristics = Set(stream.roles.map(MediaCharacteristic.init))
    codedWidth = stream.width
    codedHeight = stream.height
    naturalSize = stream.naturalWidth.flatMap { width in stream.height.map { PixelSize(width: width, height: $0) } }
    rotationDegrees = mediaType == .video ? stream.video?.rotationDegrees : nil
    frameRate =
      mediaType == .video
      ? stream.videoFrameDuration.map { FrameRate(numerator: $0.denominator, denominator: $0.numerator) } : nil
  }

  /// Creates a track for an audio rendition of a stream.
  ///
  /// - Parameters:
  ///   - defaultTrack: the track that plays by default. The format of another rendition is unknown until it is read;
  ///     until then this track's format is assumed.
  ///   - isDefaultTrack: whether the rendition is that track.
  init(_ rendition: HLSRendition, id: Int, like defaultTrack: AssetTrack?, isDefaultTrack: Bool) {
    self.id = id
    mediaType = .audio
    codecName = defaultTrack?.codecName ?? "none"
    codecTag = defaultTrack?.codecTag
    sampleFormatName = defaultTrack?.sampleFormatName
    isDecodable = defaultTrack?.isDecodable ?? false
    timeRange = defaultTrack?.timeRange ?? TimeRange(start: .zero, duration: .indefinite)
    providesPreciseDuration = false
    let hasSameFormat =
      isDefaultTrack || rendition.channelCount == nil
      || rendition.channelCount == defaultTrack?.audioFormat?.channelCount
    audioFormat =
      hasSameFormat
      ? defaultTrack?.audioFormat
      : defaultTrack?.audioFormat.map {
        AudioFormat(sampleRateHz: $0.sampleRateHz, channelCount: rendition.channelCount ?? $0.channelCount)
      }
    channelMask = hasSameFormat ? defaultTrack?.channelMask : nil
    channelLayoutName = hasSameFormat ? defaultTrack?.channelLayoutName : nil
    bitsPerSample = isDefaultTrack ? defaultTrack?.bitsPerSample : nil
    bitRate = isDefaultTrack ? defaultTrack?.bitRate : nil
    languageCode = rendition.language ?? (isDefaultTrack ? defaultTrack?.languageCode : nil)
    isDefault = rendition.isDefault
    isEnabled = rendition.isAutoselect
    isProtected = defaultTrack?.isProtected ?? false
    title = rendition.name
    characteristics = rendition.mediaCharacteristics
    codedWidth = nil
    codedHeight = nil
    naturalSize = nil
    frameRate = nil
  }

  /// Creates a track for a subtitle rendition of a stream. The renditions are WebVTT and are only listed.
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

  /// Creates a track of a composition: PCM audio, or video in the format of its first source.
  ///
  /// - Parameters:
  ///   - audioFormat: the audio format of the composition.
  ///   - channelMask: the channel mask of the composition.
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

  /// Returns a copy with another number.
  func numbered(_ id: Int) -> AssetTrack {
    var track = self
    track.id = id
    return track
  }

  /// Sets the end of the track.
  mutating func setEnd(_ end: MediaTime, isPrecise: Bool = true) {
    timeRange = TimeRange(start: timeRange.start, duration: max(.zero, end - timeRange.start))
    providesPreciseDuration = isPrecise
  }
}

extension StreamInfo {
  /// The sample rate and channel count, if both are known.
  var audioFormat: AudioFormat? {
    guard let sampleRateHz, let channelCount else { return nil }
    return AudioFormat(sampleRateHz: sampleRateHz, channelCount: channelCount)
  }
}

extension AudioFormat {
  /// Whether an output supports the format.
  var isSupported: Bool {
    Self.supportedSampleRatesHz.contains(sampleRateHz) && Self.supportedChannelCounts.contains(channelCount)
  }

  /// Throws `unsupportedAudioFormat` for a format that no output supports.
  func checkSupported() throws(MediaError) {
    guard isSupported else {
      throw MediaError(
        .unsupportedAudioFormat, "unsupported audio format: \(sampleRateHz) Hz with \(channelCount) channels")
    }
  }
}
