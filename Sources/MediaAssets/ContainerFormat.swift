import LibAV

/// What the reader must know about a container beyond what FFmpeg tells, and how far its seeks can be believed.
enum ContainerFormat: Sendable, Hashable {
  case wav, aiff, flac, movie, matroska, ogg, mp3, adts
  /// WavPack, True Audio: frames that carry their sample number.
  case numberedFrames
  /// Core Audio Format: packets in a table.
  case caf
  /// Flash video and Windows Media have timestamps in milliseconds. In NUT and Windows recorded TV FFmpeg finds packets only by
  /// timestamps.
  case coarse
  /// Streams without a container, and containers without timestamps: FFmpeg calculates them from byte positions, from the lengths
  /// of packets or from average bit rates.
  case untimed
  /// AVI, Monkey's Audio, Musepack: no timestamps either, and the demuxer finds packets by a table or a state of its own.
  case frameTable
  /// MPEG program streams: FFmpeg cuts them into frames, and after a seek gives the first one the timestamp of another.
  case programStream
  case other

  /// From FFmpeg's name of the format.
  init(_ formatName: String) {
    switch formatName {
    case "wav", "w64": self = .wav
    case "aiff", "au": self = .aiff
    case "flac": self = .flac
    case "mp3": self = .mp3
    case "ogg": self = .ogg
    case "aac": self = .adts
    case "caf": self = .caf
    case "flv", "asf", "nut", "wtv": self = .coarse
    case "wv", "tta": self = .numberedFrames
    case "avi", "ape", "mpc", "mpc8": self = .frameTable
    case "mpeg": self = .programStream
    case "ac3", "eac3", "dts", "dtshd", "mlp", "truehd", "amr", "amrnb", "amrwb", "gsm", "voc", "dsf", "iff", "tak",
      "adx",
      "aptx", "aptx_hd", "sbc", "g722", "g726", "g729", "shn", "ircam", "sox":
      self = .untimed
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
    case .wav, .aiff, .flac, .movie, .ogg, .numberedFrames, .caf: true
    case .matroska, .mp3, .adts, .coarse, .untimed, .frameTable, .programStream, .other: false
    }
  }

  /// The padding that encoders add at the end is not cut off by FFmpeg, but the track's duration tells it.
  var endsAtTrackDuration: Bool { self == .movie }

  /// What is cut off the ends of packets is not in their durations: FFmpeg's Ogg demuxer goes by granule positions.
  var hasTrimmedDurations: Bool { self == .ogg }

  /// Every packet begins with eleven set bits, or twelve.
  var hasSyncWords: Bool { self == .adts || self == .mp3 }

  /// FFmpeg's timestamps are never better than the count of packets.
  var countsPackets: Bool { self == .untimed || self == .frameTable }

  /// Where timestamps of audio come from.
  var timestampSource: AudioTimeline.TimestampSource {
    switch self {
    case .wav, .aiff, .mp3, .adts, .untimed, .frameTable: .none
    case .flac: .frameNumbers
    case .movie, .matroska, .ogg, .numberedFrames, .caf, .coarse, .programStream, .other: .container
    }
  }

  /// How the position after a seek is known.
  enum Positioning: Sendable, Hashable {
    /// Timestamps are true wherever one begins to read; where they are coarse, `FrameGrid` makes them exact.
    case timestamps
    /// Packets are counted from the file's start, by an index.
    case counted(Counting)
    /// Neither timestamps nor packets tell, or the decoder depends on everything before: frames are decoded from the file's start.
    case decoded
  }

  /// How packets are counted.
  enum Counting: Sendable, Hashable {
    /// By the headers of MPEG audio.
    case mpegAudio
    /// By the headers of ADTS.
    case adts
    /// By the positions of Ogg pages.
    case oggPages
    /// Every block of so many bytes gives so many frames.
    case blocks(byteCount: Int64, frameCount: Int64)
    /// By reading them all once; afterwards reading can begin at any packet that was noted.
    case packets
    /// By reading them all from the first, because the demuxer keeps a state of its own and cannot begin at a byte.
    case packetsFromStart
  }

  /// How the position after a seek is known. Where there is video, the whole file would have to be read to count, so
  /// timestamps are believed.
  func positioning(of stream: StreamInfo, hasVideo: Bool) -> Positioning {
    let isPCM = stream.codecName.hasPrefix("pcm_")
    switch self {
    case .flac, .movie, .numberedFrames, .caf, .matroska, .coarse: return .timestamps
    case .wav, .aiff:
      // A seek goes to a multiple of the block in the header; a read from the start does not need the header.
      if isPCM { return stream.hasBlocksOfWholeFrames ? .timestamps : .decoded }
      // FFmpeg goes by the average bytes a second in the header, which is rounded.
      if stream.codecName.hasPrefix("adpcm_"), let bytes = stream.blockByteCount, let frames = stream.blockFrameCount {
        return .counted(.blocks(byteCount: Int64(bytes), frameCount: Int64(frames)))
      }
      // A packet has several frames, and does not state how many.
      if stream.codecName.hasPrefix("wma") { return .decoded }
      return .counted(.packets)
    case .mp3: return .counted(.mpegAudio)
    case .adts: return .counted(.adts)
    case .ogg:
      return .counted(["vorbis", "opus", "flac"].contains(stream.codecName) ? .oggPages : .packets)
    case .untimed: return .counted(.packets)
    case .frameTable:
      // AVI states one length for all packets, and MPEG audio and Vorbis have others.
      let isDecoded = ["musepack7", "musepack8", "vorbis", "mp1", "mp2", "mp3"].contains(stream.codecName)
      return isDecoded ? .decoded : .counted(.packetsFromStart)
    case .programStream where isPCM && !hasVideo: return .decoded
    case .programStream, .other: return hasVideo ? .timestamps : .counted(.packets)
    }
  }
}

extension StreamInfo {
  /// Whether the block of a PCM stream is one sample of each channel; true where the container states no block.
  fileprivate var hasBlocksOfWholeFrames: Bool {
    guard let blockByteCount, let channelCount else { return true }
    // `pcm_s24le` has 24 bits, `pcm_alaw` 8.
    let bitCount = Int(codecName.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 8
    return blockByteCount == channelCount * ((bitCount + 7) / 8)
  }
}
