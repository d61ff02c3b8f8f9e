import LibAV
import MediaCore

/// Where tracks lie on the asset's timeline, as far as the container says without decoding.
///
/// An asset's time 0 is its presentation start: the first moment of sound or video after priming. In MP4 and its
/// kin the timeline is the movie's own, so that an empty edit at the start is silence.
struct ContainerTiming {
  private let origin: MediaTime
  private let containerDuration: MediaTime
  private let format: ContainerFormat
  private let paddingFrames: [Int: Int64]
  private let preciseTracks: Set<Int>

  init(demuxer: Demuxer) {
    let format = ContainerFormat(demuxer.formatName)
    self.format = format
    let playing = demuxer.streams.filter { $0.mediaType == .audio || $0.mediaType == .video }
    let starts = playing.compactMap { stream in stream.startTicks.map { stream.timeBase.time(ofTicks: $0) } }
    let first = starts.filter(\.isNumeric).min() ?? .zero
    origin = format.hasMovieTimeline ? Swift.min(first, .zero) : first
    containerDuration = demuxer.durationMicroseconds.map { TimeBase.microseconds.time(ofTicks: $0) } ?? .indefinite
    paddingFrames = Dictionary(
      playing.compactMap { stream in stream.initialPaddingFrames.map { (stream.index, $0) } }, uniquingKeysWith: { $1 })
    preciseTracks = Set(
      playing.filter { stream in
        stream.durationTicks != nil && demuxer.durationSource == .container && format.hasExactDurations
      }.map(\.index))
  }

  /// The stream's place on the asset's timeline.
  func timeRange(of stream: StreamInfo) -> TimeRange {
    let start = stream.startTicks.map { stream.timeBase.time(ofTicks: $0) } ?? origin
    // Plainly zero, lest its fine timescale go into every sum.
    let offset = start.isNumeric && start != origin ? start - origin : .zero
    guard let ticks = stream.durationTicks else {
      // Matroska and others say how long all of it is, but not each stream.
      guard stream.mediaType == .audio || stream.mediaType == .video, containerDuration.isNumeric else {
        return TimeRange(start: offset, duration: .indefinite)
      }
      return TimeRange(start: offset, duration: Swift.max(.zero, containerDuration - offset))
    }
    var duration = stream.timeBase.time(ofTicks: ticks)
    if let rate = stream.sampleRateHz, let frames = duration.frameIndex(rate: rate, rounding: .halfAwayFromZero) {
      duration = MediaTime(frame: max(0, frames - skippedFrames(of: stream, start: start, rate: rate)), rate: rate)
    }
    return TimeRange(start: offset, duration: duration)
  }

  /// Frames that the stream's duration counts but that are not heard: Ogg counts the encoder's delay as part of an Opus
  /// stream, MP3 has it in front of its start.
  private func skippedFrames(of stream: StreamInfo, start: MediaTime, rate: Int) -> Int64 {
    switch format {
    case .ogg: paddingFrames[stream.index] ?? 0
    case .mp3: start.frameIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
    default: 0
    }
  }

  /// The end of the longest track that plays, and whether it is exact.
  func duration(of tracks: [AssetTrack]) -> (MediaTime, isPrecise: Bool) {
    let ends = tracks.filter { $0.mediaType == .audio || $0.mediaType == .video }.map { track in
      (end: track.timeRange.end, isPrecise: preciseTracks.contains(track.id))
    }
    guard let longest = ends.filter({ $0.end.isNumeric }).max(by: { $0.end < $1.end }) else {
      return (containerDuration, false)
    }
    return (longest.end, longest.isPrecise)
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
