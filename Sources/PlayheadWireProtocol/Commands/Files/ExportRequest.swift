import PlayheadMediaCore

/// The parameters of an export.
package struct ExportRequest: Sendable, Hashable {
  /// The container format of the file.
  package enum Format: String, Sendable, Hashable, CaseIterable {
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
  package enum Codec: String, Sendable, Hashable, CaseIterable {
    /// The stored packets, without transcoding.
    case copy
    case omit = "none"
    case pcm, float, flac, alac, aac, opus, mp3, ima4
  }

  /// The video codec of the exported file.
  package enum VideoCodec: String, Sendable, Hashable, CaseIterable {
    /// The stored packets, without transcoding.
    case copy
    case omit = "none"
    case h264
  }

  /// The tags that the exported file contains.
  package enum Tags: String, Sendable, Hashable, CaseIterable {
    case all, sharing, none
  }

  /// The input files. At least one.
  package var paths: WireList<FilePath>
  /// Whether the inputs are mixed. Default: they are joined.
  package var mixes = false
  package var file: FilePath
  package var format: Format
  /// Whether an existing file is replaced.
  package var replaces = false
  package var start = MediaTime.zero
  /// The end of the exported range. Nil: the end of the input.
  package var end: MediaTime?
  /// The number of the audio track. Nil: the track that playback would choose.
  package var track: Int?
  /// Nil: the default of the format.
  package var codec: Codec?
  package var sampleRateHz: Int?
  package var channelCount: Int?
  package var bitsPerSample: Int?
  /// The audio bit rate, in bits per second.
  package var bitRate: Int?
  /// Nil: a default that depends on the format and the input.
  package var video: VideoCodec?
  /// The height of the video in pixels. Nil: the height of the input.
  package var height: Int?
  /// The constant rate factor (CRF). Nil: the encoder's default.
  package var quality: Int?
  package var tags = Tags.all
  package var network = NetworkOptions()

  package init(_ paths: WireList<FilePath>, file: FilePath, format: Format) {
    (self.paths, self.file, self.format) = (paths, file, format)
  }
}
