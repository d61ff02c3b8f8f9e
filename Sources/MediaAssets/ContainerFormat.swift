/// What the reader must know about a container beyond what FFmpeg tells, and how far its seeks can be believed.
enum ContainerFormat: Sendable, Hashable {
  case wav, aiff, flac, movie, matroska, ogg, mp3
  /// WavPack, True Audio: frames that carry their sample number.
  case numberedFrames
  case other

  /// From FFmpeg's name of the format.
  init(_ formatName: String) {
    switch formatName {
    case "wav", "w64": self = .wav
    case "aiff", "au", "caf": self = .aiff
    case "flac": self = .flac
    case "mp3": self = .mp3
    case "ogg": self = .ogg
    case "wv", "tta": self = .numberedFrames
    case _ where formatName.split(separator: ",").contains("mp4"): self = .movie
    case _ where formatName.split(separator: ",").contains("matroska"): self = .matroska
    default: self = .other
    }
  }

  /// Time 0 is the container's own, not the first timestamp.
  var hasMovieTimeline: Bool { self == .movie }

  /// A stream's duration, where the container has one, is counted, not guessed.
  var hasExactDurations: Bool {
    switch self {
    case .wav, .aiff, .flac, .movie, .ogg, .numberedFrames: true
    case .matroska, .mp3, .other: false
    }
  }

  /// The padding that encoders add at the end is not cut off by FFmpeg, but the track's duration tells it.
  var endsAtTrackDuration: Bool { self == .movie }

  /// How the position after a seek is known.
  enum Positioning: Sendable, Hashable {
    /// Timestamps are true wherever one begins to read.
    case timestamps
    /// Timestamps are true only when everything from the file's start on was read.
    case countedFromStart
  }

  /// How the position after a seek is known. Matroska's timestamps are believed though they are rounded to a
  /// millisecond: counting them would not make them finer. Where there is video, the whole file would have to be read
  /// to count.
  func positioning(hasVideo: Bool) -> Positioning {
    switch self {
    case .wav, .aiff, .flac, .movie, .numberedFrames, .matroska: .timestamps
    case .other: hasVideo ? .timestamps : .countedFromStart
    case .mp3, .ogg: .countedFromStart
    }
  }
}

/// How many frames before a place a codec must have decoded for its output there to be right.
enum CodecPreroll {
  /// A generous count: bit reservoirs, overlapping windows and predictors.
  static func frameCount(codecName: String, sampleRateHz: Int, declared: Int64?) -> Int64 {
    switch codecName {
    case _ where codecName.hasPrefix("pcm_"): 0
    case "flac", "alac", "wavpack", "tta", "adpcm_ms", "adpcm_ima_wav": 0
    case "mp1", "mp2", "mp3", "mp3float": 24 * 1_152
    case "aac": 4 * 2_048
    case "vorbis": 2 * 8_192
    case "opus": max(48_000, declared ?? 0)
    case "ac3", "eac3": 6 * 1_536
    default: max(Int64(sampleRateHz / 2), declared ?? 0)
    }
  }
}
