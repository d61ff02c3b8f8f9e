import MediaCore

/// Where the segments of a stream lie in time: 0 is where the first playlist that was seen began. A live stream's window moves
/// over it. Pure; nanoseconds.
public struct HLSTimeline: Sendable {
  /// A segment with all that is needed to read it.
  public struct Entry: Sendable, Hashable {
    public var segment: HLSSegment
    public var key: HLSKey?
    public var map: HLSMap?
    public var startNanoseconds: Int64
    public var endNanoseconds: Int64 { startNanoseconds + segment.durationNanoseconds }
  }

  /// What a newer playlist brought.
  public enum Update: Sendable, Hashable {
    case unchanged
    /// Segments came, or the end.
    case changed
    /// The numbers began anew: what follows has nothing to do with what was.
    case restarted
    /// It is not taken: the stream would have gone on for longer than times are counted.
    case outOfReach
  }

  public private(set) var playlist: HLSMediaPlaylist
  /// Of each segment, and the end of the last.
  private var starts: [Int64]
  /// Where its date ranges lie, by where they begin; none where no segment says when it was recorded.
  public private(set) var dateRanges: [DateRange] = []
  /// Changes whenever these may be others.
  public private(set) var dateRangeVersion = 0

  public init(_ playlist: HLSMediaPlaylist) {
    self.playlist = playlist
    starts = Self.starts(of: playlist, from: 0)
    placeDateRanges()
  }

  private mutating func placeDateRanges() {
    guard !playlist.dateRanges.isEmpty || !dateRanges.isEmpty else { return }
    dateRanges = DateRange.placed(playlist.dateRanges, segments: playlist.segments, starts: starts)
    dateRangeVersion &+= 1
  }

  /// The same stream in another way, as another variant or rendition has it: its times are those of `other`.
  ///
  /// What has ended and is as long begins where that does. Otherwise dates tell where it lies, where both say some; or else numbers, as
  /// far as some are in both; or else both end together.
  public init(_ playlist: HLSMediaPlaylist, beside other: HLSTimeline) {
    self.init(playlist)
    let start = start(beside: other)
    guard isInReach(start) else { return }
    starts = Self.starts(of: playlist, from: start)
    placeDateRanges()
  }

  private func start(beside other: HLSTimeline) -> Int64 {
    let (length, theirs) = (endNanoseconds, other.endNanoseconds - other.startNanoseconds)
    if isEnded, other.isEnded, abs(length - theirs) <= playlist.targetNanoseconds { return other.startNanoseconds }
    for index in [playlist.segments.indices.first, playlist.segments.lastIndex { $0.date != nil }] {
      guard let index, let date = playlist.segments[index].date ?? date(atNanoseconds: 0),
        let time = other.time(ofDate: date)
      else { continue }
      return time - starts[index]
    }
    if let first = other.date(atNanoseconds: other.startNanoseconds), let own = date(atNanoseconds: 0) {
      let (distance, isFar) = own.subtractingReportingOverflow(first)
      if !isFar, abs(distance) <= HLSLimits.totalNanoseconds { return other.startNanoseconds + distance }
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

  // MARK: - What there is

  /// Nothing will be added.
  public var isEnded: Bool { playlist.isEnded }
  public var isEmpty: Bool { playlist.segments.isEmpty }
  /// Numbers of the segments there are.
  public var numbers: Range<Int64> { playlist.firstNumber..<playlist.endNumber }
  public var startNanoseconds: Int64 { starts.first ?? 0 }
  public var endNanoseconds: Int64 { starts.last ?? 0 }

  /// The segment with a number; nil when it is not there, or not any more.
  public func entry(_ number: Int64) -> Entry? {
    guard numbers.contains(number) else { return nil }
    let index = Int(number - playlist.firstNumber)
    let segment = playlist.segments[index]
    return Entry(
      segment: segment, key: segment.keyIndex.map { playlist.keys[$0] },
      map: segment.mapIndex.map { playlist.maps[$0] },
      startNanoseconds: starts[index])
  }

  /// The number of the segment that contains a time: the first or the last for what lies beyond them; nil when there are none.
  public func number(atNanoseconds time: Int64) -> Int64? {
    guard !isEmpty else { return nil }
    var (low, high) = (0, playlist.segments.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= time { low = middle } else { high = middle - 1 }
    }
    return playlist.firstNumber + Int64(low)
  }

  /// The first segment of the stretch without a discontinuity that a segment belongs to, as far as it is there.
  public func firstNumber(ofStretchWith number: Int64) -> Int64? {
    guard let entry = entry(number) else { return nil }
    var first = number
    while let before = self.entry(first - 1),
      before.segment.discontinuityNumber == entry.segment.discontinuityNumber
    {
      first -= 1
    }
    return first
  }

  /// Where playing begins unless somebody says otherwise: where the playlist says; of a live stream three target durations before
  /// its end (RFC 8216, section 6.3.3); else at the start. At the start of a segment for a live stream.
  public var playStartNanoseconds: Int64 {
    if let offset = playlist.startOffsetNanoseconds {
      let time = offset < 0 ? endNanoseconds + offset : startNanoseconds + offset
      return max(startNanoseconds, min(time, endNanoseconds))
    }
    return isEnded ? startNanoseconds : liveStartNanoseconds
  }

  /// The start of the last segment that is three target durations or more away from the end.
  public var liveStartNanoseconds: Int64 {
    let latest = endNanoseconds - 3 * playlist.targetNanoseconds
    return starts.dropLast().last { $0 <= latest } ?? startNanoseconds
  }

  // MARK: - Changes

  /// Takes in what the playlist says now.
  public mutating func update(_ new: HLSMediaPlaylist) -> Update {
    let old = playlist
    if new.endNumber <= old.firstNumber, !old.segments.isEmpty { return restart(new) }
    // A server that lags behind another one.
    if new.endNumber < old.endNumber { return .unchanged }
    let isSame = new.endNumber == old.endNumber && new.isEnded == old.isEnded
    let start: Int64
    if let known = entry(new.firstNumber) {
      start = known.startNanoseconds
    } else if new.firstNumber >= old.endNumber {
      // What has been missed is taken to have been as long as segments are, unless that makes no sense.
      let (missed, isFar) = (new.firstNumber - old.endNumber).multipliedReportingOverflow(by: old.targetNanoseconds)
      if isFar || missed > HLSLimits.totalNanoseconds { return restart(new) }
      start = endNanoseconds + missed
    } else {
      let before = new.segments.prefix { $0.number < old.firstNumber }.reduce(0) { $0 + $1.durationNanoseconds }
      start = startNanoseconds - before
    }
    guard isInReach(start) else { return .outOfReach }
    starts = Self.starts(of: new, from: start)
    playlist = new
    placeDateRanges()
    return isSame ? .unchanged : .changed
  }

  /// A playlist that has nothing to do with the one before goes on where that ended.
  private mutating func restart(_ new: HLSMediaPlaylist) -> Update {
    guard isInReach(endNanoseconds) else { return .outOfReach }
    starts = Self.starts(of: new, from: endNanoseconds)
    playlist = new
    placeDateRanges()
    return .restarted
  }

  private func isInReach(_ time: Int64) -> Bool { abs(time) <= HLSLimits.timelineNanoseconds }

  /// Goes over to another variant's playlist, whose segments lie at the same times.
  public mutating func replace(_ new: HLSMediaPlaylist) {
    let version = dateRangeVersion
    self = HLSTimeline(new, beside: self)
    dateRangeVersion = version &+ 1
  }

  /// What is known of a segment's place has changed: it, and all others, are moved.
  public mutating func move(_ number: Int64, toNanoseconds time: Int64) {
    guard let entry = entry(number), isInReach(time) else { return }
    let difference = time - entry.startNanoseconds
    for index in starts.indices { starts[index] += difference }
    placeDateRanges()
  }

  // MARK: - Dates

  /// When what lies at a time was recorded, in nanoseconds since 1970; nil where nothing says so.
  public func date(atNanoseconds time: Int64) -> Int64? {
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

  /// Where what was recorded at a date lies; nil when nothing does.
  public func time(ofDate date: Int64) -> Int64? {
    var known: (date: Int64, start: Int64)?
    for (index, segment) in playlist.segments.enumerated() {
      if let said = segment.date { known = (said, starts[index]) }
      guard let place = known else { continue }
      let begin = place.date + (starts[index] - place.start)
      let (past, isFar) = date.subtractingReportingOverflow(begin)
      if !isFar, past >= 0, past < segment.durationNanoseconds { return starts[index] + past }
    }
    guard let place = known, date == place.date + (endNanoseconds - place.start) else { return nil }
    return endNanoseconds
  }
}

/// When a live playlist is asked for again (RFC 8216, section 6.3.4). Pure; nanoseconds of any clock.
public struct HLSReloadSchedule: Sendable {
  private var lastChange: Int64
  private var hasTold = false

  /// Target durations without anything new after which a stream is said not to go on.
  public static let staleTargetCount: Int64 = 3

  public init(now: Int64) { lastChange = now }

  /// It was asked for at `begin`: answers when it is to be asked for again.
  public mutating func loaded(begin: Int64, isChanged: Bool, targetNanoseconds: Int64) -> Int64 {
    if isChanged {
      lastChange = begin
      hasTold = false
    }
    return begin + (isChanged ? targetNanoseconds : targetNanoseconds / 2)
  }

  /// It could not be had: answers when to try again.
  public mutating func failed(at now: Int64, targetNanoseconds: Int64) -> Int64 { now + targetNanoseconds / 2 }

  /// Whether nothing new came for so long that somebody should know; once.
  public mutating func becameStale(at now: Int64, targetNanoseconds: Int64) -> Bool {
    guard !hasTold, now - lastChange >= Self.staleTargetCount * targetNanoseconds else { return false }
    hasTold = true
    return true
  }
}
