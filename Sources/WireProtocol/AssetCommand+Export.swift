import MediaCore

extension AssetCommand {
  /// What a file is made of, and how.
  public struct Export: Sendable, Hashable {
    /// What kind of file it is.
    public enum Form: String, Sendable, Hashable, CaseIterable {
      case wav, caf, flac, m4a, mp4, mov, matroska, webm, ogg, mp3

      /// The one that a file's ending speaks of.
      init?(ending: String) {
        switch ending {
        case "mka", "mkv": self = .matroska
        case "oga", "opus": self = .ogg
        case "wave": self = .wav
        default: self.init(rawValue: ending)
        }
      }
    }

    /// What becomes of the sound.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
      /// As it is stored.
      case copy
      case omit = "none"
      case pcm, float, flac, alac, aac, opus, mp3, ima4
    }

    /// What becomes of the pictures.
    public enum VideoCodec: String, Sendable, Hashable, CaseIterable {
      /// As they are stored.
      case copy
      case omit = "none"
      case h264
    }

    /// Which tags it has.
    public enum Tags: String, Sendable, Hashable, CaseIterable {
      case all, sharing, none
    }

    /// At least one.
    public var paths: WireList<FilePath>
    /// All of them at once, not one behind the other.
    public var mixes = false
    public var file: FilePath
    public var form: Form
    /// Even if there is a file.
    public var replaces = false
    public var start = MediaTime.zero
    /// Nil: the end.
    public var end: MediaTime?
    /// Of sound; nil: the one that plays.
    public var track: Int?
    /// Nil: as suits the form.
    public var codec: Codec?
    public var sampleRateHz: Int?
    public var channelCount: Int?
    public var bitsPerSample: Int?
    /// Of sound, bits a second.
    public var bitRate: Int?
    /// Nil: as suits the form, and what there is.
    public var video: VideoCodec?
    /// Pixels; nil: as it is.
    public var height: Int?
    /// Constant rate factor; nil: the encoder's own.
    public var quality: Int?
    public var tags = Tags.all
    public var network = NetworkOptions()

    public init(_ paths: WireList<FilePath>, file: FilePath, form: Form) {
      (self.paths, self.file, self.form) = (paths, file, form)
    }
  }
}
