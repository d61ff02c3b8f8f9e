import PlayheadMediaCore

/// The parameters of a recording (`record.prepare`).
public struct RecordingRequest: Sendable, Hashable {
  /// The audio codec.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    case pcm, flac, alac, aac, opus, ima4, ulaw, alaw, ilbc, amr
  }

  /// The quality of a lossy codec.
  public enum Quality: String, Sendable, Hashable, CaseIterable {
    case min, low, medium, high, max
  }

  /// The container.
  public enum Container: String, Sendable, Hashable, CaseIterable {
    case wav, caf, flac, m4a, ogg

    /// The container of a file name extension; nil for other extensions.
    public init?(fileExtension: String) {
      switch fileExtension.lowercased() {
      case "wave": self = .wav
      case "oga", "opus": self = .ogg
      case let name: self.init(rawValue: name)
      }
    }
  }

  public var file: FilePath
  /// Whether an existing file is replaced.
  public var replaces = false
  /// The name of the source. Nil: the default source of the sound server.
  public var source: String?
  /// The container. Nil: derived from the file name extension.
  public var container: Container?
  /// The codec. Nil: derived from the container or the file name extension.
  public var format: Format?
  public var sampleRateHz: Int?
  public var channelCount: Int?
  public var bitsPerSample: Int?
  public var isFloat = false
  public var isBigEndian = false
  public var quality: Quality?
  /// In bits per second.
  public var bitRate: Int?
  /// In dBFS.
  public var startLevel: Double?
  /// In dBFS.
  public var silenceLevel: Double?
  /// The maximum duration of a silence that is recorded.
  public var longestSilence: MediaTime?

  public init(_ file: FilePath) { self.file = file }
}
