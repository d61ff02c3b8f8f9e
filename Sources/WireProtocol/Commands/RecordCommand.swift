import MediaCore

/// Commands about recordings. The daemon assigns the recorder ids and never reuses them. A nil id selects the newest
/// recorder.
public enum RecordCommand: Sendable, Hashable {
  /// Opens the source and creates the file.
  case prepare(Recording)
  /// Starts or resumes recording.
  case start(Int?, StartMoment, duration: MediaTime?)
  case pause(Int?)
  case stop(Int?)
  /// Deletes the file of a stopped recorder.
  case delete(Int?)
  case status(Int?)
  case list
  /// Subscribes the connection to the events of a recorder. `rate` is the number of meter events per second. Nil: no
  /// meter events.
  case watch(Int?, rate: Double?)
  /// Ends a subscription.
  case unwatch(Int)

  /// The moment at which a recording begins.
  public enum StartMoment: Sendable, Hashable {
    case now
    /// After this duration, which is greater than 0.
    case after(MediaTime)
    /// At this time of the daemon's clock, in seconds.
    case instant(MediaTime)
  }

  /// The parameters of a recording.
  public struct Recording: Sendable, Hashable {
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
}
