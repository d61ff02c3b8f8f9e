import MediaCore

/// Commands about recordings; numbers of recorders are the daemon's, and never used again. Nil: the newest.
public enum RecordCommand: Sendable, Hashable {
  /// Opens the source and begins the file.
  case prepare(Recording)
  /// Records, or goes on.
  case start(Int?, StartMoment, duration: MediaTime?)
  case pause(Int?)
  case stop(Int?)
  /// Removes the file of one that is stopped.
  case delete(Int?)
  case status(Int?)
  case list
  /// Has the connection told what happens, and levels so often a second; nil: none.
  case watch(Int?, rate: Double?)
  /// Ends that, by its id.
  case unwatch(Int)

  /// When a recording begins.
  public enum StartMoment: Sendable, Hashable {
    case now
    /// So long from now; above 0.
    case after(MediaTime)
    /// At an instant of the daemon's clock, in seconds.
    case instant(MediaTime)
  }

  /// What is recorded, and how.
  public struct Recording: Sendable, Hashable {
    /// How sound is coded.
    public enum Form: String, Sendable, Hashable, CaseIterable {
      case pcm, flac, alac, aac, opus, ima4, ulaw, alaw, ilbc, amr
    }

    /// How good what is coded with loss is to be.
    public enum Quality: String, Sendable, Hashable, CaseIterable {
      case min, low, medium, high, max
    }

    public var file: FilePath
    /// Even if there is a file.
    public var replaces = false
    /// Nil: the sound server's default.
    public var source: String?
    /// Nil: as the file's name ends.
    public var form: Form?
    public var sampleRateHz: Int?
    public var channelCount: Int?
    public var bitsPerSample: Int?
    public var isFloat = false
    public var isBigEndian = false
    public var quality: Quality?
    /// Bits a second.
    public var bitRate: Int?
    /// dBFS.
    public var startLevel: Double?
    /// dBFS.
    public var silenceLevel: Double?
    /// How much of a silence is kept.
    public var longestSilence: MediaTime?

    public init(_ file: FilePath) { self.file = file }
  }
}
