import MediaCore

/// What an export makes of an asset.
public struct ExportSettings: Sendable, Hashable, Codable {
  /// What becomes of sound.
  public enum Sound: Sendable, Hashable, Codable {
    case none
    /// As it is stored.
    case passthrough
    /// Encoded anew. Nil: as suits the container, from what there is.
    case encode(AudioOutputSettings?)
  }

  /// What becomes of pictures that move.
  public enum Video: Sendable, Hashable, Codable {
    case none
    /// As they are stored.
    case passthrough
    /// Encoded anew. Nil: as suits the container.
    case encode(VideoOutputSettings?)
  }

  /// Which tags are written.
  public enum MetadataFilter: String, Sendable, Hashable, Codable, CaseIterable {
    case all
    /// Without what tells where and with what something was recorded: only what means the same in every format, and no pictures that say
    /// such a thing themselves. As `AVMetadataItemFilter.forSharing`.
    case sharing
    case none
  }

  /// What the file is.
  public var container: WritableContainer
  /// What becomes of sound.
  public var sound: Sound
  /// What becomes of pictures that move; `.none` of containers that have none.
  public var video: Video
  /// What of the asset's timeline is exported; the file begins with its start.
  public var timeRange = TimeRange(start: .zero, duration: .positiveInfinity)
  /// The track of sound; nil: the one that plays; all of them where they are passed through and the container holds several.
  public var audioTrackID: AssetTrack.ID?
  /// Which of the asset's tags, chapters and pictures are written.
  public var metadataFilter = MetadataFilter.all
  /// Tags by FFmpeg's names, in place of the asset's of the same; an empty one leaves that out.
  public var metadata: [String: String] = [:]
  /// MP4 and its kin: the index lies before the media.
  public var shouldOptimizeForNetworkUse = false

  /// All of it, encoded as suits the container unless something else is said. Pictures where there are some, and the container has them.
  public init(_ container: WritableContainer, sound: Sound = .encode(nil), video: Video? = nil) {
    self.container = container
    self.sound = sound
    self.video = video ?? (container.usualVideo == nil ? .none : .encode(nil))
  }

  /// All of it as it is stored: nothing is decoded.
  public static func passthrough(_ container: WritableContainer) -> ExportSettings {
    ExportSettings(container, sound: .passthrough, video: container.holdsVideo ? .passthrough : Video.none)
  }
}

extension WritableContainer {
  /// How pictures that move are coded in it; nil where nothing here codes what it has, or it has none.
  var usualVideo: VideoOutputSettings.Codec? {
    switch self {
    case .mp4, .mov, .matroska: .h264
    case .wav, .caf, .flac, .m4a, .webm, .ogg, .mp3: nil
    }
  }

  /// Whether it has pictures that move.
  var holdsVideo: Bool { usualVideo != nil || self == .webm }

  /// How sound is coded in it unless something is asked for: without loss where that is usual.
  public var usualCodec: AudioOutputSettings.Codec {
    switch self {
    case .wav, .caf: .pcm(.signed16)
    case .flac, .matroska: .flac
    case .m4a, .mp4, .mov: .aac
    case .webm, .ogg: .opus
    case .mp3: .mp3
    }
  }
}
