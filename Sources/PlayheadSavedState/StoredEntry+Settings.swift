import PlayheadMediaCore

extension StoredEntry {
  /// The saved properties of an entry, other than its location: a JSON object in the database. Values that the object
  /// lacks are nil, and then the property has its default.
  package struct Settings: Codable, Sendable, Hashable {
    package var prefersPreciseDuration: Bool?
    /// The part of the media that the entry plays.
    package var timeRange: TimeRange?
    /// The title that a client gave.
    package var title: String?
    package var titles: Titles?
    package var playlistEntry: PlaylistEntry?
    package var httpOptions: HTTPOptions?
    /// Whether a daemon crashed while opening the entry.
    package var hasCrashedDaemon: Bool?
    package var resumeTime: MediaTime?
    package var forwardPlaybackEndTime: MediaTime?
    package var reversePlaybackEndTime: MediaTime?
    package var preferredForwardBufferDuration: MediaTime?
    package var audioTimePitchAlgorithm: String?
    /// The chosen track, or nil for none, by the characteristic of its group.
    package var trackChoices: [String: Int?]?
    package var volumeRamps: [VolumeRamp]?
    package var measuredReplayGain: ReplayGain?

    package init() {}
  }

  /// The titles in the tags of a local file, and the version of that file.
  package struct Titles: Codable, Sendable, Hashable {
    package var byteCount: Int64
    package var modificationNanoseconds: Int64
    package var title: String?
    package var artist: String?
    package var album: String?

    package init(byteCount: Int64, modificationNanoseconds: Int64, title: String?, artist: String?, album: String?) {
      self.byteCount = byteCount
      self.modificationNanoseconds = modificationNanoseconds
      self.title = title
      self.artist = artist
      self.album = album
    }
  }

  /// The data of the entry in the playlist that it is from.
  package struct PlaylistEntry: Codable, Sendable, Hashable {
    package var title: String?
    package var duration: MediaTime?
    /// By the key in the playlist.
    package var metadata: [String: String]?

    package init() {}
  }

  /// The options of HTTP requests. They can contain secrets.
  package struct HTTPOptions: Codable, Sendable, Hashable {
    package struct Header: Codable, Sendable, Hashable {
      package var name: String
      package var value: String

      package init(name: String, value: String) {
        self.name = name
        self.value = value
      }
    }

    package var headers: [Header]?
    package var headerScope: String?
    package var userAgent: String?
    package var isNetworkAllowed: Bool?
    package var interfaces: [String]?
    package var timeoutNanoseconds: Int64?
    package var preferredPeakBitRate: Int64?

    package init() {}
  }

  /// A change of the volume during a part of the entry.
  package struct VolumeRamp: Codable, Sendable, Hashable {
    package var timeRange: TimeRange
    package var startVolume: Float
    package var endVolume: Float

    package init(timeRange: TimeRange, startVolume: Float, endVolume: Float) {
      self.timeRange = timeRange
      self.startVolume = startVolume
      self.endVolume = endVolume
    }
  }

  /// The measured loudness of the media.
  package struct ReplayGain: Codable, Sendable, Hashable {
    package var trackGainDecibels: Double?
    package var trackPeak: Double?
    package var albumGainDecibels: Double?
    package var albumPeak: Double?

    package init() {}
  }
}
