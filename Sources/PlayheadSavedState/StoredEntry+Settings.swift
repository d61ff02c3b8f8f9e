import PlayheadMediaCore

extension StoredEntry {
  /// The saved properties of an entry, other than its location: a JSON object in the database. Values that the object
  /// lacks are nil, and then the property has its default.
  public struct Settings: Codable, Sendable, Hashable {
    public var prefersPreciseDuration: Bool?
    /// The part of the media that the entry plays.
    public var timeRange: TimeRange?
    /// The title that a client gave.
    public var title: String?
    public var titles: Titles?
    public var playlistEntry: PlaylistEntry?
    public var httpOptions: HTTPOptions?
    /// Whether a daemon crashed while opening the entry.
    public var hasCrashedDaemon: Bool?
    public var resumeTime: MediaTime?
    public var forwardPlaybackEndTime: MediaTime?
    public var reversePlaybackEndTime: MediaTime?
    public var preferredForwardBufferDuration: MediaTime?
    public var audioTimePitchAlgorithm: String?
    /// The chosen track, or nil for none, by the characteristic of its group.
    public var trackChoices: [String: Int?]?
    public var volumeRamps: [VolumeRamp]?
    public var measuredReplayGain: ReplayGain?

    public init() {}
  }

  /// The titles in the tags of a local file, and the version of that file.
  public struct Titles: Codable, Sendable, Hashable {
    public var byteCount: Int64
    public var modificationNanoseconds: Int64
    public var title: String?
    public var artist: String?
    public var album: String?

    public init(byteCount: Int64, modificationNanoseconds: Int64, title: String?, artist: String?, album: String?) {
      self.byteCount = byteCount
      self.modificationNanoseconds = modificationNanoseconds
      self.title = title
      self.artist = artist
      self.album = album
    }
  }

  /// The data of the entry in the playlist that it is from.
  public struct PlaylistEntry: Codable, Sendable, Hashable {
    public var title: String?
    public var duration: MediaTime?
    /// By the key in the playlist.
    public var metadata: [String: String]?

    public init() {}
  }

  /// The options of HTTP requests. They can contain secrets.
  public struct HTTPOptions: Codable, Sendable, Hashable {
    public struct Header: Codable, Sendable, Hashable {
      public var name: String
      public var value: String

      public init(name: String, value: String) {
        self.name = name
        self.value = value
      }
    }

    public var headers: [Header]?
    public var headerScope: String?
    public var userAgent: String?
    public var isNetworkAllowed: Bool?
    public var interfaces: [String]?
    public var timeoutNanoseconds: Int64?
    public var preferredPeakBitRate: Int64?

    public init() {}
  }

  /// A change of the volume during a part of the entry.
  public struct VolumeRamp: Codable, Sendable, Hashable {
    public var timeRange: TimeRange
    public var startVolume: Float
    public var endVolume: Float

    public init(timeRange: TimeRange, startVolume: Float, endVolume: Float) {
      self.timeRange = timeRange
      self.startVolume = startVolume
      self.endVolume = endVolume
    }
  }

  /// The measured loudness of the media.
  public struct ReplayGain: Codable, Sendable, Hashable {
    public var trackGainDecibels: Double?
    public var trackPeak: Double?
    public var albumGainDecibels: Double?
    public var albumPeak: Double?

    public init() {}
  }
}
