import LibAV
import MediaCore

/// Where tracks lie on the asset's timeline, as far as the container says without decoding.
///
/// An asset's time 0 is its presentation start: the first moment of sound or video after priming. In MP4 and its
/// kin the timeline is the movie's own, so that an empty edit at the start is silence.
struct ContainerTiming {
  /// The container's time of the asset's time 0.
  let origin: MediaTime
  /// Of everything; indefinite when the container does not say.
  let containerDuration: MediaTime
  private let format: ContainerFormat
  private let edges: [Int: TrackEdges]
  private let preciseTracks: Set<Int>
  private let isEndless: Bool

  init(demuxer: Demuxer, byteCount: Int64, isEndless: Bool = false) {
    let format = ContainerFormat(demuxer.formatName)
    self.format = format
    self.isEndless = isEndless
    let playing = demuxer.streams.filter { $0.mediaType == .audio || $0.mediaType == .video }
    let edges = Dictionary(
      playing.filter { $0.mediaType == .audio }.map { stream in
        (stream.index, TrackEdges(demuxer: demuxer, stream: stream, format: format, byteCount: byteCount))
      }, uniquingKeysWith: { $1 })
    self.edges = edges
    let starts = playing.compactMap { Self.start(of: $0, edges: edges, format: format) }
    let first = starts.filter(\.isNumeric).min() ?? .zero
    let beginsAtZero = format.hasMovieTimeline && !edges.values.contains(where: \.beginsAtFirstSound)
    // Without its edit list, a track's time is its media's own, whatever others do.
    origin = demuxer.ignoresEditLists ? .zero : beginsAtZero ? Swift.min(first, .zero) : first
    containerDuration =
      isEndless
      ? .indefinite : demuxer.durationMicroseconds.map { TimeBase.microseconds.time(ofTicks: $0) } ?? .indefinite
    preciseTracks = Set(
      playing.filter { stream in
        if isEndless { return false }
        if format == .mp3 { return edges[stream.index]?.soundFrameCount != nil }
        if let edits = edges[stream.index]?.edits { return edits.endFrame != nil }
        guard let duration = stream.durationTicks else { return false }
        // CAF's table of packets counts the last one as whole when FFmpeg has written it.
        if format == .caf, stream.blockFrameCount == nil { return false }
        // The duration of a chain is that of its last stream.
        if edges[stream.index]?.isChain ?? false { return false }
        // The start of a late Ogg Vorbis stream includes a guess: the first packet's length.
        if format == .ogg, stream.codecName == "vorbis", (stream.startTicks ?? 0) > 0 { return false }
        // A container whose own index goes further than the duration lies about one of them.
        let end = edges[stream.index]?.endTicks ?? duration
        let isBelievable = demuxer.lastIndexedTicks(streamIndex: stream.index).map { $0 < end } ?? true
        return demuxer.durationSource == .container && format.hasExactDurations
          && (format != .movie || isBelievable)
      }.map(\.index))
  }

  /// What is known of a sound stream's padding.
  func edges(of stream: StreamInfo) -> TrackEdges? { edges[stream.index] }

  /// Whether the stream's duration is counted, not guessed, as far as can be told without reading all of it.
  func isPrecise(_ stream: StreamInfo) -> Bool { preciseTracks.contains(stream.index) }

  /// Where the stream begins by the container's count; nil when it does not say.
  private static func start(of stream: StreamInfo, edges: [Int: TrackEdges], format: ContainerFormat) -> MediaTime? {
    if let edits = edges[stream.index]?.edits, let rate = stream.sampleRateHz {
      return MediaTime(frame: edits.firstSoundFrame, rate: rate)
    }
    guard let ticks = stream.startTicks else { return nil }
    let start = stream.timeBase.time(ofTicks: ticks)
    guard format == .movie, let uncut = edges[stream.index]?.uncutStartFrames, uncut > 0, let rate = stream.sampleRateHz
    else { return start }
    return start + MediaTime(frame: uncut, rate: rate)
  }

  /// The stream's range on the asset's timeline. Subtitles and data do not begin before time 0.
  func timeRange(of stream: StreamInfo) -> TimeRange {
    let range = containerRange(of: stream)
    guard stream.mediaType != .audio, stream.mediaType != .video, range.start < .zero else { return range }
    return TimeRange(
      start: .zero, duration: range.duration.isNumeric ? Swift.max(.zero, range.end) : range.duration)
  }

  private func containerRange(of stream: StreamInfo) -> TimeRange {
    let start = Self.start(of: stream, edges: edges, format: format) ?? origin
    // Plainly zero, lest its fine timescale go into every sum.
    let offset = start.isNumeric && start != origin ? start - origin : .zero
    if isEndless { return TimeRange(start: offset, duration: .indefinite) }
    if let edits = edges[stream.index]?.edits, let rate = stream.sampleRateHz {
      let duration = edits.endFrame.map { MediaTime(frame: $0 - edits.firstSoundFrame, rate: rate) }
      return TimeRange(start: offset, duration: duration ?? .indefinite)
    }
    if let count = edges[stream.index]?.soundFrameCount, let rate = stream.sampleRateHz {
      return TimeRange(start: offset, duration: MediaTime(frame: count, rate: rate))
    }
    if let ticks = edges[stream.index]?.endTicks, let rate = stream.sampleRateHz,
      let frames = (stream.timeBase.time(ofTicks: ticks) - start).frameIndex(rate: rate, rounding: .halfAwayFromZero)
    {
      return TimeRange(start: offset, duration: MediaTime(frame: max(0, frames), rate: rate))
    }
    guard let ticks = stream.durationTicks else {
      // Matroska and others say how long all of it is, but not each stream.
      guard stream.mediaType == .audio || stream.mediaType == .video, containerDuration.isNumeric else {
        return TimeRange(start: offset, duration: .indefinite)
      }
      return TimeRange(start: offset, duration: Swift.max(.zero, containerDuration - offset))
    }
    var duration = stream.timeBase.time(ofTicks: ticks)
    if let rate = stream.sampleRateHz, format != .movie || start < duration,
      let frames = duration.frameIndex(rate: rate, rounding: .halfAwayFromZero)
    {
      duration = MediaTime(frame: max(0, frames - skippedFrames(of: stream, start: start, rate: rate)), rate: rate)
    }
    return TimeRange(start: offset, duration: duration)
  }

  /// Frames that the stream's duration counts but that are not heard: Ogg counts the encoder's delay as part of an Opus
  /// stream, MP3 has it in front of its start. MP4 counts what iTunes' comment says, too, and empty edits before the sound.
  private func skippedFrames(of stream: StreamInfo, start: MediaTime, rate: Int) -> Int64 {
    switch format {
    case .ogg: stream.initialPaddingFrames ?? 0
    case .mp3: start.frameIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
    case .movie where start > .zero && start.isNumeric:
      start.frameIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
    default: 0
    }
  }
}

extension TimeBase {
  /// So many ticks as a time: exact where it fits, else to the nearest microsecond.
  func time(ofTicks ticks: Int64) -> MediaTime {
    let (value, overflow) = ticks.multipliedReportingOverflow(by: Int64(numerator))
    if !overflow { return MediaTime(value: value, timescale: denominator) }
    guard let microseconds = TimeBase.microseconds.ticks(from: ticks, of: self, rounding: .nearest) else {
      return .indefinite
    }
    return MediaTime(value: microseconds, timescale: 1_000_000)
  }
}
