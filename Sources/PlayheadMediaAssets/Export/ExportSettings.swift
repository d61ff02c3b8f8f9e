import PlayheadMediaCore

/// The settings of an export.
public struct ExportSettings: Sendable, Hashable, Codable {
  /// How audio is exported.
  public enum Audio: Sendable, Hashable, Codable {
    /// The file has no audio.
    case none
    /// Copied without decoding.
    case passthrough
    /// Encoded again. Nil: settings that suit the container and the source.
    case encode(AudioOutputSettings?)
  }

  /// How video is exported.
  public enum Video: Sendable, Hashable, Codable {
    /// The file has no video.
    case none
    /// Copied without decoding.
    case passthrough
    /// Encoded again. Nil: settings that suit the container.
    case encode(VideoOutputSettings?)
  }

  /// The tags that are written.
  public enum MetadataFilter: String, Sendable, Hashable, Codable, CaseIterable {
    /// All tags, chapters and artwork.
    case all
    /// Omits the location and the device of a recording. Writes only tags that mean the same in every format, and omits
    /// artwork that may contain such data. As `AVMetadataItemFilter.forSharing`.
    case sharing
    /// No tags, chapters and artwork.
    case none
  }

  /// The container of the file.
  public var container: WritableContainer
  /// How audio is exported.
  public var audio: Audio
  /// How video is exported; `.none` for containers without video.
  public var video: Video
  /// The exported range of the asset's timeline. The file begins at its start. Default: everything.
  public var timeRange = TimeRange(start: .zero, duration: .positiveInfinity)
  /// The exported audio track. Default: nil, the track that plays, or all tracks if audio is passed through and the
  /// container supports several.
  public var audioTrackID: AssetTrack.ID?
  /// The tags, chapters and artwork of the asset that are written. Default: `all`.
  public var metadataFilter = MetadataFilter.all
  /// Tags by FFmpeg's names that replace those of the asset. An empty value removes the tag.
  public var metadata: [String: String] = [:]
  /// Whether the index is written before the media (MP4, M4A and MOV). Default: false.
  public var shouldOptimizeForNetworkUse = false

  /// Creates settings that export the entire asset, by default encoded as suits the container. Video is included if the
  /// asset and the container have it.
  public init(_ container: WritableContainer, audio: Audio = .encode(nil), video: Video? = nil) {
    self.container = container
    self.audio = audio
    self.video = video ?? (container.defaultVideoCodec == nil ? .none : .encode(nil))
  }

  /// Returns settings that export the entire asset without decoding.
  public static func passthrough(_ container: WritableContainer) -> ExportSettings {
    ExportSettings(container, audio: .passthrough, video: container.supportsVideo ? .passthrough : Video.none)
  }
}

extension WritableContainer {
  /// The video codec that suits the container; nil if it has no video, or only video that cannot be encoded here.
  var defaultVideoCodec: VideoOutputSettings.Codec? {
    switch self {
    case .mp4, .mov, .matroska: .h264
    case .wav, .caf, .flac, .m4a, .webm, .ogg, .mp3: nil
    }
  }

  /// Whether the container supports video.
  var supportsVideo: Bool { defaultVideoCodec != nil || self == .webm }

  /// The audio codec that suits the container: lossless where that is common.
  public var defaultAudioCodec: AudioOutputSettings.Codec {
    switch self {
    case .wav, .caf: .pcm(.signed16)
    case .flac, .matroska: .flac
    case .m4a, .mp4, .mov: .aac
    case .webm, .ogg: .opus
    case .mp3: .mp3
    }
  }
}
