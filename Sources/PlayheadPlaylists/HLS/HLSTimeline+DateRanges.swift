import PlayheadMediaCore

extension HLSTimeline {
  /// A date range with its position in the stream.
  package struct DateRange: Sendable, Hashable {
    /// The date range.
    package var range: HLSDateRange
    /// The start, in nanoseconds of the timeline.
    package var startNanoseconds: Int64
    /// The end; nil when not known, or not known yet.
    package var endNanoseconds: Int64?
  }
}

extension HLSTimeline.DateRange {
  /// Positions date ranges on the timeline by the recording dates of the segments.
  ///
  /// - Parameter starts: the starts of the segments, in nanoseconds.
  static func positioned(_ ranges: [HLSDateRange], segments: [HLSSegment], starts: [Int64]) -> [Self] {
    guard !ranges.isEmpty else { return [] }
    let dates = zip(segments, starts).compactMap { segment, start in segment.date.map { (date: $0, start: start) } }
    guard let first = dates.first else { return [] }
    /// The time of a date between two known dates is limited to the later one, because recording may have paused.
    func time(_ date: Int64) -> Int64? {
      var (low, high) = (0, dates.count)
      while low < high {
        let middle = (low + high) / 2
        if dates[middle].date <= date { low = middle + 1 } else { high = middle }
      }
      let known = low > 0 ? dates[low - 1] : first
      let (elapsed, overflow) = date.subtractingReportingOverflow(known.date)
      guard !overflow, abs(elapsed) <= HLSLimits.timelineNanoseconds else { return nil }
      let time = known.start + elapsed
      return low > 0 && low < dates.count ? max(known.start, min(time, dates[low].start)) : time
    }
    let timed = ranges.compactMap { range in time(range.start).map { (range: range, start: $0) } }
    var starts: [String: [Int64]] = [:]
    for (range, start) in timed where range.classification != nil {
      starts[range.classification ?? "", default: []].append(start)
    }
    for name in starts.keys { starts[name]?.sort() }
    func next(_ classification: String?, _ start: Int64) -> Int64? {
      guard let all = classification.flatMap({ starts[$0] }) else { return nil }
      var (low, high) = (0, all.count)
      while low < high {
        let middle = (low + high) / 2
        if all[middle] <= start { low = middle + 1 } else { high = middle }
      }
      return low < all.count ? all[low] : nil
    }
    return timed.map { range, start in
      let end =
        range.end.flatMap(time) ?? range.durationNanoseconds.map { start + $0 }
        ?? (range.endsOnNext ? next(range.classification, start) : nil)
        ?? range.plannedDurationNanoseconds.map { start + $0 }
      return Self(range: range, startNanoseconds: start, endNanoseconds: end.map { max(start, $0) })
    }
    .sorted { ($0.startNanoseconds, $0.range.id) < ($1.startNanoseconds, $1.range.id) }
  }
}
