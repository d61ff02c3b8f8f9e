import LibAV
import MediaCore
import Playlists

/// A run of segments taken apart and decoded, from its first packet on.
///
/// Threading: one thread at a time.
final class SegmentRun {
  let source: SegmentSource
  let demuxer: Demuxer
  let stream: StreamInfo
  /// What the run begins with.
  let firstEntry: HLSTimeline.Entry
  private let decoder: Decoder
  private let packet: Packet
  /// Timestamps of MPEG-2 have 33 bits, and begin anew after a day.
  private let isTransport: Bool
  private let isMovie: Bool
  /// What timestamps are told in: frames of what is decoded, which of HE-AAC may be twice what the container says.
  private var frameBase: TimeBase
  private var rateHz: Int
  private var isAtEndOfFile = false
  private var badReadCount = 0
  /// In MP4: where the fragment ends that the last packet lies in, as a timestamp.
  private var fragmentEndTicks: Int64?
  /// Ticks by which an edit list of MP4 moves timestamps back.
  private let editTicks: Int64

  /// Streams of ID3 tags, and what they gave that nobody took.
  private let tagStreams: [StreamInfo]
  private var tags: [SegmentTag] = []

  private static let maximumBadReads = 64
  /// Tags that are kept, and streams of them that are read.
  private static let maximumTagCount = 256
  private static let maximumTagStreamCount = 4

  /// Opens a run. Blocks. Errors: those of the session and its segments; `damagedFile`, `unknownFormat`, `unknownCodec`,
  /// `noPlayableTracks`. Nil: the stream is over before the segment.
  ///
  /// - Parameters:
  ///   - number: the segment to begin with.
  ///   - variantNumber: the variant whose number that is.
  ///   - isTentative: it may be the wrong one.
  init?(
    session: StreamSession, fetcher: StreamFetcher, number: Int64, variantNumber: Int, isTentative: Bool = false,
    interrupt: Interrupt, end: inout SegmentSource.End?
  ) throws(MediaError) {
    source = SegmentSource(
      session: session, fetcher: fetcher, number: number, variantNumber: variantNumber, isTentative: isTentative)
    do throws(AVFailure) {
      try FileSource.open(source, interrupt: interrupt)
      guard let entry = source.firstEntry else {
        end = source.end
        return nil
      }
      firstEntry = entry
      let file = try FileSource(opened: source, hint: source.hint, interrupt: interrupt)
      var options = Demuxer.Options()
      options.probeByteCount = 1 << 20
      options.analyzeMicroseconds = 2_000_000
      demuxer = try fetcher.isolation.demuxer(file, options: options)
      packet = try Packet()
    } catch {
      throw MediaError(error, path: session.name)
    }
    guard let index = demuxer.preferredAudioStreamIndex else {
      throw MediaError(.noPlayableTracks, "there is no sound in \(session.name)", operation: "hls")
    }
    stream = demuxer.streams[index]
    guard let rate = stream.sampleRateHz, let frameBase = TimeBase(sampleRateHz: rate) else {
      throw MediaError(.damagedFile, "nothing of the sound can be found out in \(session.name)", operation: "hls")
    }
    self.frameBase = frameBase
    rateHz = rate
    isMovie = ContainerFormat(demuxer.formatName) == .movie
    let demuxer = demuxer
    let times =
      isMovie
      ? MovieTrackTimes(trackID: stream.containerID, read: { demuxer.bytes(at: $0, count: $1) }) : nil
    editTicks = (stream.startTicks ?? 0) < 0 ? times?.mediaOrigin ?? 0 : 0
    isTransport = demuxer.formatName == "mpegts" || source.isPacked
    tagStreams = Array(demuxer.streams.filter(\.isTimedID3).prefix(Self.maximumTagStreamCount))
    demuxer.select(streamIndex: index, and: tagStreams.map(\.index))
    do throws(AVFailure) { decoder = try Decoder(demuxer: demuxer, streamIndex: index) } catch {
      throw MediaError(error, path: session.name)
    }
  }

  /// Opens the run that playing begins with, and tells which variant it is of. Blocks. Errors: as above; `badStreamPlaylist` where
  /// there are no segments.
  static func first(
    of session: StreamSession, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> (run: SegmentRun, variantNumber: Int) {
    while true {
      let (timeline, variantNumber) = session.heard
      let number = timeline.number(atNanoseconds: timeline.playStartNanoseconds) ?? timeline.numbers.lowerBound
      var end: SegmentSource.End?
      let run = try SegmentRun(
        session: session, fetcher: fetcher, number: number, variantNumber: variantNumber, interrupt: interrupt,
        end: &end)
      if let run { return (run, variantNumber) }
      guard end == .variant else {
        throw MediaError(.badStreamPlaylist, "there are no segments: \(session.name)", operation: "hls")
      }
    }
  }

  /// Whether timestamps tell where it lies in its stretch.
  var hasTimestamps: Bool { !source.isPacked || source.timestamp != nil }

  /// Where the first frame lies by the container's own count is to be cut off, for it is the encoder's delay.
  var cutsNegative: Bool { isMovie }

  // MARK: - Reading

  enum Result {
    /// `frame` has been filled; the first sample's timestamp in frames, nil where there is none, and how many are sound.
    case frame(timestamp: Int64?, count: Int)
    /// A packet did not decode.
    case undecodable(AVFailure)
    case end
    case cancelled
  }

  /// Decodes the next frame. Blocks.
  func next(into frame: Frame) throws(AVFailure) -> Result {
    while true {
      switch try decoder.receive(into: frame) {
      case .frame:
        guard frame.frameCount > 0, let layout = frame.layout else { continue }
        if layout.sampleRateHz != rateHz, let base = TimeBase(sampleRateHz: layout.sampleRateHz) {
          (rateHz, frameBase) = (layout.sampleRateHz, base)
        }
        let timestamp = frame.pts.flatMap { frames(ofTicks: $0) }
        return .frame(timestamp: timestamp, count: soundCount(of: frame, timestamp: timestamp))
      case .undecodable(let failure): return .undecodable(failure)
      case .endOfStream: return .end
      case .wouldBlock:
        switch try readPacket() {
        case .cancelled: return .cancelled
        case .endOfFile:
          guard !isAtEndOfFile else { return .end }
          isAtEndOfFile = true
          _ = try decoder.sendEndOfStream()
        case .packet:
          if case .undecodable(let failure) = try decoder.send(packet) { return .undecodable(failure) }
        }
      }
    }
  }

  /// Frames that are sound: in MP4 the last packet may decode to more than the fragment lasts.
  private func soundCount(of frame: Frame, timestamp: Int64?) -> Int {
    guard isMovie, let timestamp, let fragmentEnd = fragmentEndTicks.flatMap({ frames(ofTicks: $0) }),
      fragmentEnd > timestamp,
      fragmentEnd - timestamp < Int64(frame.frameCount)
    else { return frame.frameCount }
    return Int(fragmentEnd - timestamp)
  }

  private func readPacket() throws(AVFailure) -> Demuxer.ReadResult {
    while true {
      do throws(AVFailure) {
        let result = try demuxer.readPacket(into: packet)
        guard result == .packet else { return result }
      } catch {
        if error.kind == .cancelled { return .cancelled }
        badReadCount += 1
        guard error.kind == .invalidData, badReadCount < Self.maximumBadReads else { throw error }
        continue
      }
      guard packet.streamIndex == stream.index else {
        takeTag()
        continue
      }
      badReadCount = 0
      fragmentEndTicks =
        isMovie ? demuxer.presentDurationTicks(streamIndex: stream.index).map { $0 + editTicks } : nil
      return .packet
    }
  }

  /// The packet is an ID3 tag, or nothing that is wanted.
  private func takeTag() {
    guard tags.count < Self.maximumTagCount, let stream = tagStreams.first(where: { $0.index == packet.streamIndex }),
      let bytes = packet.data(limit: SegmentTag.maximumByteCount).flatMap(TransportTag.restored)
    else { return }
    tags.append(SegmentTag(time: packet.pts.map { .stamp(stream.timeBase.time(ofTicks: $0)) } ?? .now, bytes: bytes))
  }

  /// The tags that were met since the last call: between the sound, and at the beginnings of segments.
  func takeTags() -> [SegmentTag] {
    defer { tags = [] }
    return tags + source.takeTags()
  }

  /// A timestamp in frames; of bare sound with what its tag says.
  private func frames(ofTicks ticks: Int64) -> Int64? {
    guard let frames = frameBase.ticks(from: ticks, of: stream.timeBase, rounding: .nearest), abs(frames) < 1 << 60
    else { return nil }
    guard source.isPacked, let timestamp = source.timestamp, let base = TimeBase(numerator: 1, denominator: 90_000),
      let start = frameBase.ticks(from: timestamp, of: base, rounding: .nearest)
    else { return frames }
    return frames + start
  }

  /// A timestamp in frames of some rate as it would be had it not begun anew, near to what is expected.
  func unwrapped(_ timestamp: Int64, near expected: Int64, sampleRateHz: Int) -> Int64 {
    guard isTransport, let base = TimeBase(numerator: 1, denominator: 90_000),
      let period = TimeBase(sampleRateHz: sampleRateHz)?.ticks(from: 1 << 33, of: base, rounding: .nearest), period > 0
    else { return timestamp }
    let difference = timestamp - expected
    let turns = (difference + (difference >= 0 ? period / 2 : -period / 2)) / period
    return timestamp - turns * period
  }
}
