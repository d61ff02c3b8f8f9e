import PlayheadMediaCore

/// The positions of a stream's segments in time. Time 0 is the start of the first loaded playlist. The window of a live
/// stream moves along the timeline. Pure; times are in nanoseconds.
package struct HLSTimeline: Sendable {
  /// A segment with everything needed to read it.
  package struct Entry: Sendable, Hashable {
    /// The segment.
    package var segment: HLSSegment
    /// The encryption of the segment; nil for none.
    package var key: HLSKey?
    /// The initialization section of the segment; nil for none.
    package var map: HLSMap?
    /// The start, in nanoseconds of the timeline.
    package var startNanoseconds: Int64
    /// The end, in nanoseconds of the timeline.
    package var endNanoseconds: Int64 { startNanoseconds + segment.durationNanoseconds }
  }

  /// The effect of a newer playlist.
  package enum Update: Sendable, Hashable {
    /// Nothing changed.
    case unchanged
    /// Segments were added, or the stream ended.
    case changed
    /// The segment numbers restarted: the new segments are unrelated to the old ones.
    case restarted
    /// The playlist was rejected, because its times would exceed the limits.
    case exceedsLimits
  }

  /// The newest playlist.
  package private(set) var playlist: HLSMediaPlaylist
  /// The start of each segment, and the end of the last one.
  private var starts: [Int64]
  /// The date ranges in the order of their start positions; empty when no segment has a recording date.
  package private(set) var dateRanges: [DateRange] = []
  /// Changes whenever `dateRanges` may have changed.
  package private(set) var dateRangeVersion = 0

  /// Creates the timeline of the first playlist of a stream.
  package init(_ playlist: HLSMediaPlaylist) {
    self.playlist = playlist
    starts = Self.starts(of: playlist, from: 0)
    positionDateRanges()
  }

  private mutating func positionDateRanges() {
    guard !playlist.dateRanges.isEmpty || !dateRanges.isEmpty else { return }
    dateRanges = DateRange.positioned(playlist.dateRanges, segments: playlist.segments, starts: starts)
    dateRangeVersion &+= 1
  }

  /// Creates a timeline of another variant or rendition of the same stream, aligned with `other`.
  ///
  /// The alignment uses the first applicable rule:
  /// 1. If both playlists have ended and have the same length (within a target duration), both begin at the same time.
  /// 2. If both contain recording dates, the dates determine the position.
  /// 3. If the segment numbers overlap, the numbers determine the position.
  /// 4. Otherwise both end at the same time.
  package init(_ playlist: HLSMediaPlaylist, alignedWith other: HLSTimeline) {
    self.init(playlist)
    let start = start(alignedWith: other)
    guard isWithinLimits(start) else { return }
    starts = Self.starts(of: playlist, from: start)
    positionDateRanges()
  }

  private func start(alignedWith other: HLSTimeline) -> Int64 {
    let (length, otherLength) = (endNanoseconds, other.endNanoseconds - other.startNanoseconds)
    if isEnded, other.isEnded, abs(length - otherLength) <= playlist.targetNanoseconds { return other.startNanoseconds }
    for index in [playlist.segments.indices.first, playlist.segments.lastIndex { $0.date != nil }] {
      guard let index, let date = playlist.segments[index].date ?? date(atNanoseconds: 0),
        let time = other.time(ofDate: date)
      else { continue }
      return time - starts[index]
    }
    if let first = other.date(atNanoseconds: other.startNanoseconds), let startDate = date(atNanoseconds: 0) {
      let (distance, overflow) = startDate.subtractingReportingOverflow(first)
      if !overflow, abs(distance) <= HLSLimits.totalNanoseconds { return other.startNanoseconds + distance }
    }
    if let known = other.entry(playlist.firstNumber) { return known.startNanoseconds }
    if let known = entry(other.playlist.firstNumber) { return other.startNanoseconds - known.startNanoseconds }
    return other.endNanoseconds - length
  }

  private static func starts(of playlist: HLSMediaPlaylist, from start: Int64) -> [Int64] {
    var sum = start
    var starts = [sum]
    starts.reserveCapacity(playlist.segments.count + 1)
    for segment in playlist.segments {
      sum += segment.durationNanoseconds
      starts.append(sum)
    }
    return starts
  }

  // MARK: - Segments

  /// Whether no segments will be added.
  package var isEnded: Bool { playlist.isEnded }
  /// Whether no segment is available.
  package var isEmpty: Bool { playlist.segments.isEmpty }
  /// The numbers of the available segments.
  package var numbers: Range<Int64> { playlist.firstNumber..<playlist.endNumber }
  /// The start of the first available segment, in nanoseconds.
  package var startNanoseconds: Int64 { starts.first ?? 0 }
  /// The end of the last available segment, in nanoseconds.
  package var endNanoseconds: Int64 { starts.last ?? 0 }

  /// The segment with a number; nil when it is not available.
  package func entry(_ number: Int64) -> Entry? {
    guard numbers.contains(number) else { return nil }
    let index = Int(number - playlist.firstNumber)
    let segment = playlist.segments[index]
    return Entry(
      segment: segment, key: segment.keyIndex.map { playlist.keys[$0] },
      map: segment.mapIndex.map { playlist.maps[$0] },
      startNanoseconds: starts[index])
  }

  /// The number of the segment at a time; the first or last segment for times outside the range; nil when empty.
  package func number(atNanoseconds time: Int64) -> Int64? {
    guard !isEmpty else { return nil }
    var (low, high) = (0, playlist.segments.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= time { low = middle } else { high = middle - 1 }
    }
    return playlist.firstNumber + Int64(low)
  }

  /// The number of the first available segment in the stretch of the segment `number`. A stretch consists of the
  /// segments between two discontinuities.
  package func firstNumber(ofStretchWith number: Int64) -> Int64? {
    guard let entry = entry(number) else { return nil }
    var first = number
    while let before = self.entry(first - 1),
      before.segment.discontinuityNumber == entry.segment.discontinuityNumber
    {
      first -= 1
    }
    return first
  }

  /// The default start position: the playlist's start offset if specified. Otherwise, for a live stream, the start of
  /// a segment three target durations before the end (RFC 8216, section 6.3.3). Otherwise the start.
  package var playStartNanoseconds: Int64 {
    if let offset = playlist.startOffsetNanoseconds {
      let time = offset < 0 ? endNanoseconds + offset : startNanoseconds + offset
      return max(startNanoseconds, min(time, endNanoseconds))
    }
    return isEnded ? startNanoseconds : liveStartNanoseconds
  }

  /// The start of the last segment that is at least three target durations before the end.
  package var liveStartNanoseconds: Int64 {
    let latest = endNanoseconds - 3 * playlist.targetNanoseconds
    return starts.dropLast().last { $0 <= latest } ?? startNanoseconds
  }

  // MARK: - Changes

  /// Applies a newer version of the playlist.
  package mutating func update(_ new: HLSMediaPlaylist) -> Update {
    let old = playlist
    if new.endNumber <= old.firstNumber, !old.segments.isEmpty { return restart(new) }
    // A server can return an older version of the playlist than another server did.
    if new.endNumber < old.endNumber { return .unchanged }
    let isSame = new.endNumber == old.endNumber && new.isEnded == old.isEnded
    let start: Int64
    if let known = entry(new.firstNumber) {
      start = known.startNanoseconds
    } else if new.firstNumber >= old.endNumber {
      // Missed segments count as one target duration each, unless that exceeds the limits.
      let (missed, overflow) = (new.firstNumber - old.endNumber).multipliedReportingOverflow(by: old.targetNanoseconds)
      if overflow || missed > HLSLimits.totalNanoseconds { return restart(new) }
      start = endNanoseconds + missed
    } else {
      let before = new.segments.prefix { $0.number < old.firstNumber }.reduce(0) { $0 + $1.durationNanoseconds }
      start = startNanoseconds - before
    }
    guard isWithinLimits(start) else { return .exceedsLimits }
    starts = Self.starts(of: new, from: start)
    playlist = new
    positionDateRanges()
    return isSame ? .unchanged : .changed
  }

  /// Continues at the end of the old playlist with an unrelated playlist.
  private mutating func restart(_ new: HLSMediaPlaylist) -> Update {
    guard isWithinLimits(endNanoseconds) else { return .exceedsLimits }
    starts = Self.starts(of: new, from: endNanoseconds)
    playlist = new
    positionDateRanges()
    return .restarted
  }

  private func isWithinLimits(_ time: Int64) -> Bool { abs(time) <= HLSLimits.timelineNanoseconds }

  /// Switches to the playlist of another variant, whose segments have the same times.
  package mutating func replace(_ new: HLSMediaPlaylist) {
    let version = dateRangeVersion
    self = HLSTimeline(new, alignedWith: self)
    dateRangeVersion = version &+ 1
  }

  /// Corrects the position of a segment. All other segments move by the same distance.
  package mutating func move(_ number: Int64, toNanoseconds time: Int64) {
    guard let entry = entry(number), isWithinLimits(time) else { return }
    let difference = time - entry.startNanoseconds
    for index in starts.indices { starts[index] += difference }
    positionDateRanges()
  }

  // MARK: - Dates

  /// The recording date at a time, in nanoseconds since 1970; nil when not known.
  package func date(atNanoseconds time: Int64) -> Int64? {
    guard let number = number(atNanoseconds: time) else { return nil }
    let index = Int(number - playlist.firstNumber)
    let segments = playlist.segments
    if let known = (0...index).last(where: { segments[$0].date != nil }), let date = segments[known].date {
      return date + (time - starts[known])
    }
    guard let known = (index..<segments.count).first(where: { segments[$0].date != nil }),
      let date = segments[known].date
    else { return nil }
    return date - (starts[known] - time)
  }

  /// The time of a recording date; nil when no segment was recorded then.
  package func time(ofDate date: Int64) -> Int64? {
    var known: (date: Int64, start: Int64)?
    for (index, segment) in playlist.segments.enumerated() {
      if let segmentDate = segment.date { known = (segmentDate, starts[index]) }
      guard let reference = known else { continue }
      let startDate = reference.date + (starts[index] - reference.start)
      let (elapsed, overflow) = date.subtractingReportingOverflow(startDate)
      if !overflow, elapsed >= 0, elapsed < segment.durationNanoseconds { return starts[index] + elapsed }
    }
    guard let last = known, date == last.date + (endNanoseconds - last.start) else { return nil }
    return endNanoseconds
  }
}

/// Schedules reloads of a live playlist (RFC 8216, section 6.3.4). Pure; nanoseconds of any clock.
package struct HLSReloadSchedule: Sendable {
  private var lastChange: Int64
  private var hasReportedStaleness = false

  /// The number of target durations without a change after which a stream counts as stale.
  package static let staleTargetCount: Int64 = 3

  /// Creates a schedule at the time of the first load.
  package init(now: Int64) { lastChange = now }

  /// Processes a successful load that began at `start`, and returns the time of the next load.
  package mutating func loaded(startedAt start: Int64, isChanged: Bool, targetNanoseconds: Int64) -> Int64 {
    if isChanged {
      lastChange = start
      hasReportedStaleness = false
    }
    return start + (isChanged ? targetNanoseconds : targetNanoseconds / 2)
  }

  /// Processes a failed load, and returns the time of the next attempt.
  package mutating func failed(at now: Int64, targetNanoseconds: Int64) -> Int64 { now + targetNanoseconds / 2 }

  /// Returns whether the stream has not changed for `staleTargetCount` target durations; true once until it changes.
  package mutating func becameStale(at now: Int64, targetNanoseconds: Int64) -> Bool {
    guard !hasReportedStaleness, now - lastChange >= Self.staleTargetCount * targetNanoseconds else { return false }
    hasReportedStaleness = true
    return true
  }
}
