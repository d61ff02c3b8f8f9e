import MediaCore

/// One track of a composition: what of which asset is heard or seen at which of its times. A pure value, as AVCompositionTrack.
public struct CompositionTrack: Sendable, Identifiable {
  /// Something that is put into a composition: a track of an asset.
  public struct Source: Sendable {
    /// What it is taken from.
    public let asset: Asset
    /// The track; nil: the one of its kind that the asset would have played.
    public let trackID: AssetTrack.ID?
    /// The track as it was found to be when it was put in.
    public let track: AssetTrack

    /// Whether it is the same track of the same asset.
    func isSame(as other: Source) -> Bool { asset === other.asset && track.id == other.track.id }
  }

  /// A stretch of a track. As AVCompositionTrackSegment.
  public struct Segment: Sendable {
    /// What is heard or seen; nil: silence, or black.
    public var source: Source?
    /// What of it, on the asset's timeline; as long as `timeRange` but for video that was scaled. Invalid where there is no source.
    public var sourceRange: TimeRange
    /// Where it lies on the composition's timeline.
    public var timeRange: TimeRange

    /// Nothing is heard or seen.
    public var isEmpty: Bool { source == nil }

    /// The time of the source that is heard or seen at a time of the composition; invalid for an empty segment.
    public func sourceTime(at time: MediaTime) -> MediaTime {
      guard !isEmpty else { return .invalid }
      if sourceRange.duration == timeRange.duration { return sourceRange.start + (time - timeRange.start) }
      return timeRange.mapTime(time, to: sourceRange)
    }

    /// The time of the composition at which a time of the source is heard or seen; invalid for an empty segment.
    public func time(ofSourceTime time: MediaTime) -> MediaTime {
      guard !isEmpty else { return .invalid }
      if sourceRange.duration == timeRange.duration { return timeRange.start + (time - sourceRange.start) }
      return sourceRange.mapTime(time, to: timeRange)
    }

    /// The part up to a time within it, and that from there on.
    func split(at time: MediaTime) -> (Segment, Segment) {
      var (first, second) = (self, self)
      first.timeRange = TimeRange(start: timeRange.start, end: time)
      second.timeRange = TimeRange(start: time, end: timeRange.end)
      if !isEmpty {
        let place = sourceTime(at: time)
        first.sourceRange = TimeRange(start: sourceRange.start, end: place)
        second.sourceRange = TimeRange(start: place, end: sourceRange.end)
      }
      return (first, second)
    }

    /// Whether another one goes on where this one ends, in time and in what it has.
    fileprivate func goesOn(with other: Segment) -> Bool {
      guard let source, let next = other.source else { return isEmpty && other.isEmpty }
      return source.isSame(as: next) && sourceRange.end == other.sourceRange.start
        && sourceRange.duration == timeRange.duration && other.sourceRange.duration == other.timeRange.duration
    }
  }

  /// Its number in the composition.
  public let id: AssetTrack.ID
  /// Sound or video.
  public let mediaType: AssetTrack.MediaType
  /// Without gaps and in order, from time 0 on; the last is not empty.
  public private(set) var segments: [Segment] = []

  init(id: AssetTrack.ID, mediaType: AssetTrack.MediaType) {
    self.id = id
    self.mediaType = mediaType
  }

  /// Where the last segment ends; 0 when there is none.
  public var duration: MediaTime { segments.last?.timeRange.end ?? .zero }

  /// The number of the segment that has a time; nil before 0 and behind the end.
  public func segmentIndex(at time: MediaTime) -> Int? {
    var low = 0
    var high = segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if segments[middle].timeRange.start <= time { low = middle } else { high = middle }
    }
    return low < segments.count && segments[low].timeRange.contains(time) ? low : nil
  }

  // MARK: - Editing

  /// Puts a source in at a time; what is there, and behind it, moves back by so much.
  mutating func insert(_ source: Source?, _ sourceRange: TimeRange, at time: MediaTime) {
    guard sourceRange.duration > .zero else { return }
    let (before, after) = parts(at: time)
    let inserted = Segment(
      source: source, sourceRange: source == nil ? .invalid : sourceRange,
      timeRange: TimeRange(start: time, duration: sourceRange.duration))
    set(before + [inserted] + Self.moved(after, by: sourceRange.duration))
  }

  /// Takes a range out; what is behind it moves up.
  mutating func remove(_ range: TimeRange) {
    let before = parts(at: range.start).before
    let after = parts(at: range.end).after
    set(before + Self.moved(after, by: .zero - range.duration))
  }

  /// Gives a range another length; what is behind it moves. Sound keeps its speed: there is none in the range.
  mutating func scale(_ range: TimeRange, to duration: MediaTime) {
    let before = parts(at: range.start).before
    let after = parts(at: range.end).after
    let target = TimeRange(start: range.start, duration: duration)
    let within = segments(in: range).map { segment in
      var scaled = segment
      scaled.timeRange = TimeRange(
        start: range.mapTime(segment.timeRange.start, to: target), end: range.mapTime(segment.timeRange.end, to: target)
      )
      return scaled
    }
    set(before + within + Self.moved(after, by: duration - range.duration))
  }

  /// What of the segments lies in a range.
  func segments(in range: TimeRange) -> [Segment] {
    var part = self
    part.set(parts(at: range.end).before)
    return part.parts(at: range.start).after
  }

  /// What lies before a time, silence up to it where that is behind the end, and what lies behind it.
  private func parts(at time: MediaTime) -> (before: [Segment], after: [Segment]) {
    guard time < duration else {
      let gap = TimeRange(start: duration, end: time)
      return (gap.isEmpty ? segments : segments + [Segment(source: nil, sourceRange: .invalid, timeRange: gap)], [])
    }
    guard let index = segmentIndex(at: time) else { return ([], segments) }
    if segments[index].timeRange.start == time { return (Array(segments[..<index]), Array(segments[index...])) }
    let (first, second) = segments[index].split(at: time)
    return (Array(segments[..<index]) + [first], [second] + Array(segments[(index + 1)...]))
  }

  private static func moved(_ segments: [Segment], by offset: MediaTime) -> [Segment] {
    segments.map { segment in
      var moved = segment
      moved.timeRange.start = segment.timeRange.start + offset
      return moved
    }
  }

  /// What goes on is one segment, so that nothing is rounded where nothing was cut; there is no silence at the end.
  private mutating func set(_ all: [Segment]) {
    var joined: [Segment] = []
    for segment in all where !segment.timeRange.isEmpty {
      if let last = joined.last, last.goesOn(with: segment) {
        joined[joined.count - 1].timeRange = TimeRange(start: last.timeRange.start, end: segment.timeRange.end)
        if !last.isEmpty {
          joined[joined.count - 1].sourceRange = TimeRange(start: last.sourceRange.start, end: segment.sourceRange.end)
        }
      } else {
        joined.append(segment)
      }
    }
    while joined.last?.isEmpty ?? false { joined.removeLast() }
    segments = joined
  }
}
