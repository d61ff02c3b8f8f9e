import PlayheadLibAV
import PlayheadMediaCore

/// The time ranges of tracks on the asset's timeline, as far as the container states them without decoding.
///
/// Time 0 of an asset is its presentation start: the first audio or video after priming. In formats of the MP4 family
/// the movie defines the timeline, so an empty edit at the start is silence.
struct ContainerTiming {
  /// The container time that corresponds to time 0 of the asset.
  let origin: MediaTime
  /// The duration of the whole container; indefinite when unknown.
  let containerDuration: MediaTime
  private let format: ContainerFormat
  private let edges: [Int: TrackEdges]
  private let preciseTracks: Set<Int>
  private let isEndless: Bool

  init(demuxer: Demuxer, byteCount: Int64, isEndless: Bool = false) {
    let format = ContainerFormat(demuxer.formatName)
    self.format = format
    self.isEndless = isEndless
    let mediaStreams = demuxer.streams.filter { $0.mediaType == .audio || $0.mediaType == .video }
    let edges = Dictionary(
      mediaStreams.filter { $0.mediaType == .audio }.map { stream in
        (stream.index, TrackEdges(demuxer: demuxer, stream: stream, format: format, byteCount: byteCount))
      }, uniquingKeysWith: { $1 })
    self.edges = edges
    let starts = mediaStreams.compactMap { Self.start(of: $0, edges: edges, format: format) }
    let first = starts.filter(\.isNumeric).min() ?? .zero
    let beginsAtZero = format.hasMovieTimeline && !edges.values.contains(where: \.beginsAtFirstAudio)
    // Without its edit list, a track's timeline is that of its media, independent of other tracks.
    origin = demuxer.ignoresEditLists ? .zero : beginsAtZero ? Swift.min(first, .zero) : first
    containerDuration =
      isEndless
      ? .indefinite : demuxer.durationMicroseconds.map { TimeBase.microseconds.time(ofTicks: $0) } ?? .indefinite
    preciseTracks = Set(
      mediaStreams.filter { stream in
        if isEndless { return false }
        if format == .mp3 { return edges[stream.index]?.audioFrameCount != nil }
        if let edits = edges[stream.index]?.edits { return edits.endFrame != nil }
        guard let duration = stream.durationTicks else { return false }
        // A header with a wrong sample rate is damaged, so its number of samples is an estimate.
        if format.hasWrongRateInHeader(of: stream) { return false }
        // FFmpeg writes CAF packet tables that count the last packet as a whole packet.
        if format == .caf, stream.blockFrameCount == nil { return false }
        // The decoder's delay is part of the granule positions of Speex, and differs between modes.
        if format == .ogg, stream.codecName == "speex" { return false }
        // FFmpeg derives the number of frames from the bit rate in the header.
        if format == .wav, stream.codecName.hasPrefix("wma") { return false }
        if format == .wav, stream.codecName == "mp3" { return edges[stream.index]?.audioFrameCount != nil }
        // The duration of a chain is that of its last stream.
        if edges[stream.index]?.isChain ?? false { return false }
        if edges[stream.index]?.hasUnknownEnd ?? false { return false }
        // The start of a late Ogg Vorbis stream includes a guess: the first packet's length.
        if format == .ogg, stream.codecName == "vorbis", (stream.startTicks ?? 0) > 0 { return false }
        // If the container's index goes beyond the duration, one of the two is wrong.
        let end = edges[stream.index]?.endTicks ?? duration
        let isPlausible = demuxer.lastIndexedTicks(streamIndex: stream.index).map { $0 < end } ?? true
        return demuxer.durationSource == .container && format.hasExactDurations
          && (format != .movie || isPlausible)
      }.map(\.index))
  }

  /// Returns the padding of an audio stream, as far as it is known.
  func edges(of stream: StreamInfo) -> TrackEdges? { edges[stream.index] }

  /// Whether the stream's duration is exact, as far as that is known without reading the whole stream.
  func isPrecise(_ stream: StreamInfo) -> Bool { preciseTracks.contains(stream.index) }

  /// Returns the start of the stream in container time; nil when unknown.
  private static func start(of stream: StreamInfo, edges: [Int: TrackEdges], format: ContainerFormat) -> MediaTime? {
    if let edits = edges[stream.index]?.edits, let rate = stream.sampleRateHz {
      return MediaTime(frame: edits.firstAudioFrame, rate: rate)
    }
    guard let ticks = edges[stream.index]?.firstAudioTicks ?? stream.startTicks else { return nil }
    let start = stream.timeBase.time(ofTicks: ticks)
    guard format == .movie, let uncut = edges[stream.index]?.uncutStartFrames, uncut > 0, let rate = stream.sampleRateHz
    else { return start }
    return start + MediaTime(frame: uncut, rate: rate)
  }

  /// Returns the stream's range on the asset's timeline. Subtitles and data do not begin before time 0.
  func timeRange(of stream: StreamInfo) -> TimeRange {
    let range = containerRange(of: stream)
    guard stream.mediaType != .audio, stream.mediaType != .video, range.start < .zero else { return range }
    return TimeRange(
      start: .zero, duration: range.duration.isNumeric ? Swift.max(.zero, range.end) : range.duration)
  }

  private func containerRange(of stream: StreamInfo) -> TimeRange {
    let start = Self.start(of: stream, edges: edges, format: format) ?? origin
    // Without an offset, a plain zero keeps the fine timescale of the origin out of sums.
    let offset = start.isNumeric && start != origin ? start - origin : .zero
    if isEndless { return TimeRange(start: offset, duration: .indefinite) }
    if let edits = edges[stream.index]?.edits, let rate = stream.sampleRateHz {
      let duration = edits.endFrame.map { MediaTime(frame: $0 - edits.firstAudioFrame, rate: rate) }
      return TimeRange(start: offset, duration: duration ?? .indefinite)
    }
    if let count = edges[stream.index]?.audioFrameCount, let rate = stream.sampleRateHz {
      return TimeRange(start: offset, duration: MediaTime(frame: count, rate: rate))
    }
    if let ticks = edges[stream.index]?.endTicks, let rate = stream.sampleRateHz,
      let frames = (stream.timeBase.time(ofTicks: ticks) - start).frameIndex(rate: rate, rounding: .halfAwayFromZero)
    {
      return TimeRange(start: offset, duration: MediaTime(frame: max(0, frames), rate: rate))
    }
    guard let ticks = stream.durationTicks else {
      // Matroska and others state the duration of the file, but not of each stream.
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

  /// Returns the number of inaudible frames that the stream's duration includes.
  ///
  /// - Ogg includes the encoder's delay of an Opus stream.
  /// - MP3 includes the delay, and begins after it.
  /// - MP4 includes the delay in iTunes' comment, and empty edits before the audio.
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
  /// Converts ticks to a time: exact if representable, else rounded to the nearest microsecond.
  func time(ofTicks ticks: Int64) -> MediaTime {
    let (value, overflow) = ticks.multipliedReportingOverflow(by: Int64(numerator))
    if !overflow { return MediaTime(value: value, timescale: denominator) }
    guard let microseconds = TimeBase.microseconds.ticks(from: ticks, of: self, rounding: .nearest) else {
      return .indefinite
    }
    return MediaTime(value: microseconds, timescale: 1_000_000)
  }
}
