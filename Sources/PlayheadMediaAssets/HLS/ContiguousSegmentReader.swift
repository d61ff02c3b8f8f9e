import PlayheadLibAV
import PlayheadMediaCore
import PlayheadPlaylists

/// Demuxes and decodes contiguous segments from their first packet.
///
/// Segments are contiguous up to a discontinuity, another initialization section or a missing segment. FFmpeg reads
/// them as one file.
///
/// Threading: one thread at a time.
final class ContiguousSegmentReader {
  let source: SegmentSource
  /// The container's description of the audio.
  let description: SegmentDescription
  /// The first segment.
  let firstEntry: HLSTimeline.Entry
  private let decoder: any SegmentDecoder
  private let tickBase: TimeBase
  /// Whether timestamps have 33 bits, as in MPEG transport streams: they wrap around after about 26.5 hours.
  private let isTransport: Bool
  /// The duration of a decoded audio frame, the unit of timestamps. In HE-AAC, the decoded sample rate may be twice the
  /// rate that the container states.
  private var frameBase: TimeBase
  private var rateHz: Int

  /// Opens the segments from `number` on. Blocks. Returns nil if there is no such segment: `endReason` is then the
  /// reason.
  ///
  /// - Parameters:
  ///   - number: The first segment.
  ///   - variantNumber: The variant to which the number belongs.
  ///   - isTentative: Whether the segment may be the wrong one.
  /// - Throws: The errors of the session and its segments; `damagedFile`, `unknownFormat`, `unknownCodec`,
  ///   `noPlayableTracks`.
  init?(
    session: StreamSession, fetcher: StreamFetcher, number: Int64, variantNumber: Int, isTentative: Bool = false,
    interrupt: Interrupt, endReason: inout SegmentSource.EndReason?
  ) throws(MediaError) {
    source = SegmentSource(
      session: session, fetcher: fetcher, number: number, variantNumber: variantNumber, isTentative: isTentative)
    do throws(AVFailure) {
      try FileSource.open(source, interrupt: interrupt)
      guard let entry = source.firstEntry else {
        endReason = source.endReason
        return nil
      }
      firstEntry = entry
      let file = try FileSource(opened: source, hint: source.hint, interrupt: interrupt)
      decoder = try Self.decoder(of: file, fetcher, session)
    } catch {
      throw MediaError(error, path: session.name)
    }
    description = decoder.description
    guard let tickBase = description.timeBase, let frameBase = TimeBase(sampleRateHz: description.sampleRateHz) else {
      throw MediaError(.damagedFile, "the audio format is unknown in \(session.name)", operation: "hls")
    }
    (self.tickBase, self.frameBase, rateHz) = (tickBase, frameBase, description.sampleRateHz)
    isTransport = description.isMPEGTransport || source.isPacked
  }

  /// Returns a decoder in a worker process or in this process.
  private static func decoder(
    of file: FileSource, _ fetcher: StreamFetcher, _ session: StreamSession
  ) throws(AVFailure) -> any SegmentDecoder {
    do throws(MediaError) {
      if let lease = try fetcher.isolation.readingLease(isPlayback: fetcher.isPlayback) {
        return try IsolatedSegmentDecoder(lease, source: file, displayName: session.name)
      }
      let demuxer: Demuxer
      do throws(AVFailure) {
        demuxer = try fetcher.isolation.demuxer(file, options: LocalSegmentDecoder.options)
      } catch {
        throw MediaError(error, path: session.name)
      }
      return try LocalSegmentDecoder(demuxer, name: session.name)
    } catch {
      throw AVFailure(error)
    }
  }

  /// Opens the segments at which playback begins. Returns their reader and the number of their variant. Blocks.
  ///
  /// - Throws: The errors of the initializer; `badStreamPlaylist` if there are no segments.
  static func first(
    of session: StreamSession, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> (segmentReader: ContiguousSegmentReader, variantNumber: Int) {
    while true {
      let (timeline, variantNumber) = session.activeTimeline
      let number = timeline.number(atNanoseconds: timeline.playStartNanoseconds) ?? timeline.numbers.lowerBound
      var endReason: SegmentSource.EndReason?
      let segmentReader = try ContiguousSegmentReader(
        session: session, fetcher: fetcher, number: number, variantNumber: variantNumber, interrupt: interrupt,
        endReason: &endReason)
      if let segmentReader { return (segmentReader, variantNumber) }
      guard endReason == .variant else {
        throw MediaError(.badStreamPlaylist, "there are no segments: \(session.name)", operation: "hls")
      }
    }
  }

  /// Whether timestamps define the positions of frames within their stretch (``StreamStretch``).
  var hasTimestamps: Bool { !source.isPacked || source.timestamp != nil }

  /// Whether audio before the container's time 0 is removed: it is the encoder's delay.
  var removesNegativeTimes: Bool { description.isMovie }

  /// Whether a worker process decodes the segments.
  var isInWorker: Bool { decoder is IsolatedSegmentDecoder }

  /// Returns the properties of the segments' container.
  ///
  /// - Throws: The errors of `AssetProperties.init`.
  func properties(displayPath: String) throws(MediaError) -> AssetProperties {
    try decoder.properties(displayPath: displayPath)
  }

  // MARK: - Reading

  enum Result {
    /// `frame` has been filled. `timestamp` is the time of its first sample, in frames; nil if there is none. `count`
    /// is the number of audible frames.
    case frame(timestamp: Int64?, count: Int)
    /// A packet did not decode.
    case undecodable(AVFailure)
    case end
    case cancelled
  }

  /// Decodes the next frame. Blocks.
  func next(into frame: Frame) throws(AVFailure) -> Result {
    switch try decoder.next(into: frame) {
    case .frame(let fragmentEndTicks):
      if let layout = frame.layout, layout.sampleRateHz != rateHz,
        let base = TimeBase(sampleRateHz: layout.sampleRateHz)
      {
        (rateHz, frameBase) = (layout.sampleRateHz, base)
      }
      let timestamp = frame.pts.flatMap { frames(ofTicks: $0) }
      return .frame(
        timestamp: timestamp, count: audibleCount(of: frame, timestamp: timestamp, fragmentEndTicks: fragmentEndTicks))
    case .undecodable(let failure): return .undecodable(failure)
    case .end: return .end
    case .cancelled: return .cancelled
    }
  }

  /// Returns the number of audible frames. In MP4, the last packet may decode to frames after the end of its fragment.
  private func audibleCount(of frame: Frame, timestamp: Int64?, fragmentEndTicks: Int64?) -> Int {
    guard description.isMovie, let timestamp, let fragmentEnd = fragmentEndTicks.flatMap({ frames(ofTicks: $0) }),
      fragmentEnd > timestamp,
      fragmentEnd - timestamp < Int64(frame.frameCount)
    else { return frame.frameCount }
    return Int(fragmentEnd - timestamp)
  }

  /// Removes and returns the tags found since the last call: in tag streams, and at the beginnings of segments.
  func drainTags() -> [SegmentTag] {
    decoder.drainTags().map { SegmentTag(time: $0.time.map { .timestamp($0) } ?? .now, bytes: $0.bytes) }
      + source.drainTags()
  }

  /// Converts a timestamp to frames. For packed audio, adds the timestamp of its tag.
  private func frames(ofTicks ticks: Int64) -> Int64? {
    guard let frames = frameBase.ticks(from: ticks, of: tickBase, rounding: .nearest), abs(frames) < 1 << 60
    else { return nil }
    guard source.isPacked, let timestamp = source.timestamp, let base = TimeBase(numerator: 1, denominator: 90_000),
      let start = frameBase.ticks(from: timestamp, of: base, rounding: .nearest)
    else { return frames }
    return frames + start
  }

  /// Removes wrap-arounds from a timestamp, so that it is nearest to `expected`. Both are in frames of `sampleRateHz`.
  func unwrapped(_ timestamp: Int64, near expected: Int64, sampleRateHz: Int) -> Int64 {
    guard isTransport, let base = TimeBase(numerator: 1, denominator: 90_000),
      let period = TimeBase(sampleRateHz: sampleRateHz)?.ticks(from: 1 << 33, of: base, rounding: .nearest), period > 0
    else { return timestamp }
    let difference = timestamp - expected
    let turns = (difference + (difference >= 0 ? period / 2 : -period / 2)) / period
    return timestamp - turns * period
  }
}
