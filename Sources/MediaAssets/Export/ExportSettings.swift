import MediaCore

/// What an export makes of an asset.
public struct ExportSettings: Sendable, Hashable {
  /// What becomes of sound.
  public enum Sound: Sendable, Hashable {
    case none
    /// As it is stored.
    case passthrough
    /// Encoded anew. Nil: as suits the container, from what there is.
    case encode(AudioOutputSettings?)
  }

  /// Which tags are written.
  public enum MetadataFilter: String, Sendable, Hashable, CaseIterable {
    case all
    /// Without what tells where and with what something was recorded. As `AVMetadataItemFilter.forSharing`.
    case sharing
    case none
  }

  /// What the file is.
  public var container: WritableContainer
  /// What becomes of sound.
  public var sound: Sound
  /// What of the asset's timeline is exported; the file begins with its start.
  public var timeRange = TimeRange(start: .zero, duration: .positiveInfinity)
  /// The track of sound; nil: the one that plays.
  public var audioTrackID: AssetTrack.ID?
  /// Which of the asset's tags, chapters and pictures are written.
  public var metadataFilter = MetadataFilter.all
  /// Tags by FFmpeg's names, in place of the asset's of the same; an empty one leaves that out.
  public var metadata: [String: String] = [:]
  /// MP4 and its kin: the index lies before the media.
  public var shouldOptimizeForNetworkUse = false

  /// Sound as suits the container, all of it.
  public init(_ container: WritableContainer, sound: Sound = .encode(nil)) {
    self.container = container
    self.sound = sound
  }
}

extension WritableContainer {
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
