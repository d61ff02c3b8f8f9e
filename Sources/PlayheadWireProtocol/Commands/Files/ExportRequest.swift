import PlayheadMediaCore

/// The parameters of an export.
public struct ExportRequest: Sendable, Hashable {
  /// The container format of the file.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    case wav, caf, flac, m4a, mp4, mov, matroska, webm, ogg, mp3

    /// The format for a file name extension.
    init?(fileExtension: String) {
      switch fileExtension {
      case "mka", "mkv": self = .matroska
      case "oga", "opus": self = .ogg
      case "wave": self = .wav
      default: self.init(rawValue: fileExtension)
      }
    }
  }

  /// The audio codec of the exported file.
  public enum Codec: String, Sendable, Hashable, CaseIterable {
    /// The stored packets, without transcoding.
    case copy
    case omit = "none"
    case pcm, float, flac, alac, aac, opus, mp3, ima4
  }

  /// The video codec of the exported file.
  public enum VideoCodec: String, Sendable, Hashable, CaseIterable {
    /// The stored packets, without transcoding.
    case copy
    case omit = "none"
    case h264
  }

  /// The tags that the exported file contains.
  public enum Tags: String, Sendable, Hashable, CaseIterable {
    case all, sharing, none
  }

  /// The input files. At least one.
  public var paths: WireList<FilePath>
  /// Whether the inputs are mixed. Default: they are joined.
  public var mixes = false
  public var file: FilePath
  public var format: Format
  /// Whether an existing file is replaced.
  public var replaces = false
  public var start = MediaTime.zero
  /// The end of the exported range. Nil: the end of the input.
  public var end: MediaTime?
  /// The number of the audio track. Nil: the track that playback would choose.
  public var track: Int?
  /// Nil: the default of the format.
  public var codec: Codec?
  public var sampleRateHz: Int?
  public var channelCount: Int?
  public var bitsPerSample: Int?
  /// The audio bit rate, in bits per second.
  public var bitRate: Int?
  /// Nil: a default that depends on the format and the input.
  public var video: VideoCodec?
  /// The height of the video in pixels. Nil: the height of the input.
  public var height: Int?
  /// The constant rate factor (CRF). Nil: the encoder's default.
  public var quality: Int?
  public var tags = Tags.all
  public var network = NetworkOptions()

  public init(_ paths: WireList<FilePath>, file: FilePath, format: Format) {
    (self.paths, self.file, self.format) = (paths, file, format)
  }
}
