import PlayheadLibAV

/// Properties of a container that FFmpeg does not report, and the reliability of its seeks.
enum ContainerFormat: Sendable, Hashable {
  case wav, aiff, flac, movie, matroska, ogg, mp3, adts
  /// WavPack, True Audio: frames that contain their sample number.
  case numberedFrames
  /// Core Audio Format: packets in a table.
  case caf
  /// Flash video and Windows Media have timestamps in milliseconds. In NUT and Windows recorded TV FFmpeg finds packets
  /// only by timestamps.
  case coarse
  /// Streams without a container, and containers without timestamps. FFmpeg calculates timestamps from byte positions,
  /// packet lengths or average bit rates.
  case untimed
  /// AVI, Monkey's Audio, Musepack: also without timestamps; the demuxer finds packets by a table or internal state.
  case frameTable
  /// MPEG program streams: FFmpeg cuts them into frames, and after a seek gives the first frame the timestamp of
  /// another frame.
  case programStream
  case other

  /// Creates the format from FFmpeg's format name.
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

  /// Whether the container defines time 0, independent of the first timestamp.
  var hasMovieTimeline: Bool { self == .movie }

  /// Whether the duration of a stream, if the container has one, is counted and not estimated.
  var hasExactDurations: Bool {
    switch self {
    case .wav, .aiff, .flac, .movie, .ogg, .numberedFrames, .caf: true
    case .matroska, .mp3, .adts, .coarse, .untimed, .frameTable, .programStream, .other: false
    }
  }

  /// Whether the header of a FLAC file states another sample rate than the first frame. FFmpeg's ticks have the rate in
  /// the header.
  func hasWrongRateInHeader(of stream: StreamInfo) -> Bool {
    (self == .flac || (self == .ogg && stream.codecName == "flac"))
      && stream.sampleRateHz.flatMap(TimeBase.init(sampleRateHz:)) != stream.timeBase
  }

  /// Whether FFmpeg leaves the encoder's padding at the end, and the track's duration defines where to cut it.
  var endsAtTrackDuration: Bool { self == .movie }

  /// Whether packet durations exclude trimmed frames: FFmpeg's Ogg demuxer uses granule positions.
  var hasTrimmedDurations: Bool { self == .ogg }

  /// Whether every packet begins with eleven or twelve set bits.
  var hasSyncWords: Bool { self == .adts || self == .mp3 }

  /// Whether FFmpeg's timestamps are never better than a count of packets.
  var countsPackets: Bool { self == .untimed || self == .frameTable }

  /// The origin of audio timestamps.
  var timestampSource: AudioTimeline.TimestampSource {
    switch self {
    case .wav, .aiff, .mp3, .adts, .untimed, .frameTable: .none
    case .flac: .frameNumbers
    case .movie, .matroska, .ogg, .numberedFrames, .caf, .coarse, .programStream, .other: .container
    }
  }

  /// How timestamps correct the position between the start of decoding and the target of a seek; nil if they do not.
  /// FFmpeg cuts the data of MPEG streams into frames.
  var seekCorrection: AudioTimeline.SeekCorrection? {
    switch self {
    case .programStream: .byHalfFrame
    case .other: .byDisagreement
    default: nil
    }
  }

  /// The method that determines the position after a seek.
  enum Positioning: Sendable, Hashable {
    /// Timestamps are right wherever reading begins. If they are coarse, `FrameGrid` makes them exact.
    case timestamps
    /// Packets are counted from the file's start with an index.
    case counted(Counting)
    /// Frames are decoded from the file's start, because neither timestamps nor packets define positions, or because
    /// the decoder depends on all earlier audio.
    case decoded
  }

  /// The method of counting packets.
  enum Counting: Sendable, Hashable {
    /// By the headers of MPEG audio.
    case mpegAudio
    /// By the headers of ADTS.
    case adts
    /// By the granule positions of Ogg pages.
    case oggPages
    /// By blocks of constant size with a constant number of frames.
    case blocks(byteCount: Int64, frameCount: Int64)
    /// By reading all packets once. Afterwards reading can begin at any indexed packet.
    case packets
    /// By reading all packets from the first, because the demuxer has internal state and cannot begin at a byte.
    case packetsFromStart
  }

  /// Returns the method that determines the position after a seek. With video, counting would read the whole file, so
  /// timestamps are trusted.
  func positioning(of stream: StreamInfo, hasVideo: Bool) -> Positioning {
    let isPCM = stream.codecName.hasPrefix("pcm_")
    switch self {
    case .flac, .movie, .numberedFrames, .caf, .matroska, .coarse: return .timestamps
    case .wav, .aiff:
      // A seek goes to a multiple of the block size in the header. A read from the start ignores this size.
      if isPCM { return stream.hasBlocksOfWholeFrames ? .timestamps : .decoded }
      // FFmpeg uses the average byte rate in the header, which is rounded.
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
      // AVI states one length for all packets, but the packets of MPEG audio and Vorbis have other lengths.
      let isDecoded = ["musepack7", "musepack8", "vorbis", "mp1", "mp2", "mp3"].contains(stream.codecName)
      return isDecoded ? .decoded : .counted(.packetsFromStart)
    case .programStream where isPCM && !hasVideo: return .decoded
    case .programStream, .other: return hasVideo ? .timestamps : .counted(.packets)
    }
  }
}

extension StreamInfo {
  /// Whether the block of a PCM stream is one sample of each channel; true if the container states no block size.
  fileprivate var hasBlocksOfWholeFrames: Bool {
    guard let blockByteCount, let channelCount else { return true }
    // `pcm_s24le` has 24 bits, `pcm_alaw` 8.
    let bitCount = Int(codecName.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 8
    return blockByteCount == channelCount * ((bitCount + 7) / 8)
  }
}
