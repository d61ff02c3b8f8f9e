import PlayheadMediaCore

/// One track of a composition: the parts of assets that it plays, and their times. A pure value, as AVCompositionTrack.
public struct CompositionTrack: Sendable, Identifiable {
  /// The source of a segment: a track of an asset.
  public struct Source: Sendable {
    /// The asset.
    public let asset: Asset
    /// The track; nil for the one of its media type that the asset plays.
    public let trackID: AssetTrack.ID?
    /// The properties of the track when it was inserted.
    public let track: AssetTrack

    /// Returns whether another source is the same track of the same asset.
    func isSame(as other: Source) -> Bool { asset === other.asset && track.id == other.track.id }
  }

  /// A part of a track, as AVCompositionTrackSegment.
  public struct Segment: Sendable {
    /// The source; nil for silence or black.
    public var source: Source?
    /// The range on the asset's timeline. Its duration equals that of ``timeRange``, except for scaled video. Invalid
    /// without a source.
    public var sourceRange: TimeRange
    /// The range on the composition's timeline.
    public var timeRange: TimeRange

    /// Whether the segment is silence or black.
    public var isEmpty: Bool { source == nil }

    /// Returns the source's time for a time of the composition; invalid for an empty segment.
    public func sourceTime(at time: MediaTime) -> MediaTime {
      guard !isEmpty else { return .invalid }
      if sourceRange.duration == timeRange.duration { return sourceRange.start + (time - timeRange.start) }
      return timeRange.mapTime(time, to: sourceRange)
    }

    /// Returns the composition's time for a time of the source; invalid for an empty segment.
    public func time(ofSourceTime time: MediaTime) -> MediaTime {
      guard !isEmpty else { return .invalid }
      if sourceRange.duration == timeRange.duration { return timeRange.start + (time - sourceRange.start) }
      return sourceRange.mapTime(time, to: timeRange)
    }

    /// Splits the segment at a time within it.
    func split(at time: MediaTime) -> (Segment, Segment) {
      var (first, second) = (self, self)
      first.timeRange = TimeRange(start: timeRange.start, end: time)
      second.timeRange = TimeRange(start: time, end: timeRange.end)
      if !isEmpty {
        let splitTime = sourceTime(at: time)
        first.sourceRange = TimeRange(start: sourceRange.start, end: splitTime)
        second.sourceRange = TimeRange(start: splitTime, end: sourceRange.end)
      }
      return (first, second)
    }

    /// Returns whether `other` continues the source where this segment ends.
    fileprivate func isContinued(by other: Segment) -> Bool {
      guard let source, let next = other.source else { return isEmpty && other.isEmpty }
      return source.isSame(as: next) && sourceRange.end == other.sourceRange.start
        && sourceRange.duration == timeRange.duration && other.sourceRange.duration == other.timeRange.duration
    }
  }

  /// The ID of the track in the composition.
  public let id: AssetTrack.ID
  /// Audio or video.
  public let mediaType: AssetTrack.MediaType
  /// The segments, in order and without gaps, from time 0. The last one is not empty.
  public private(set) var segments: [Segment] = []

  init(id: AssetTrack.ID, mediaType: AssetTrack.MediaType) {
    self.id = id
    self.mediaType = mediaType
  }

  /// The end of the last segment; 0 if there is none.
  public var duration: MediaTime { segments.last?.timeRange.end ?? .zero }

  /// Returns the index of the segment at a time; nil before 0 and after the end.
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

  /// Inserts a range of a source at a time; nil inserts silence or black. Media after `time` moves to later times, by
  /// the inserted duration.
  mutating func insert(_ source: Source?, _ sourceRange: TimeRange, at time: MediaTime) {
    guard sourceRange.duration > .zero else { return }
    let (before, after) = split(at: time)
    let inserted = Segment(
      source: source, sourceRange: source == nil ? .invalid : sourceRange,
      timeRange: TimeRange(start: time, duration: sourceRange.duration))
    replaceSegments(before + [inserted] + Self.moved(after, by: sourceRange.duration))
  }

  /// Removes a range. Media after the range moves to earlier times.
  mutating func remove(_ range: TimeRange) {
    let before = split(at: range.start).before
    let after = split(at: range.end).after
    replaceSegments(before + Self.moved(after, by: .zero - range.duration))
  }

  /// Changes the duration of a range, and moves the media after it. The range must not contain audio, which cannot be
  /// scaled.
  mutating func scale(_ range: TimeRange, to duration: MediaTime) {
    let before = split(at: range.start).before
    let after = split(at: range.end).after
    let target = TimeRange(start: range.start, duration: duration)
    let within = segments(in: range).map { segment in
      var scaled = segment
      scaled.timeRange = TimeRange(
        start: range.mapTime(segment.timeRange.start, to: target), end: range.mapTime(segment.timeRange.end, to: target)
      )
      return scaled
    }
    replaceSegments(before + within + Self.moved(after, by: duration - range.duration))
  }

  /// Returns the segments within a range, cut at its edges.
  func segments(in range: TimeRange) -> [Segment] {
    var part = self
    part.replaceSegments(split(at: range.end).before)
    return part.split(at: range.start).after
  }

  /// Returns the segments before and after a time. If the time is after the track's end, silence extends the former.
  private func split(at time: MediaTime) -> (before: [Segment], after: [Segment]) {
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

  /// Replaces the segments. Joins those that continue each other, so that times are rounded only at real cuts. Removes
  /// silence at the end.
  private mutating func replaceSegments(_ all: [Segment]) {
    var joined: [Segment] = []
    for segment in all where !segment.timeRange.isEmpty {
      if let last = joined.last, last.isContinued(by: segment) {
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
