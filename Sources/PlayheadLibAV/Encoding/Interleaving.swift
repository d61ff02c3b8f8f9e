/// Tracks how far the streams of a container are ahead of each other. Packets are buffered until every stream has
/// reached them, or until one stream is ahead by more than a limit.
struct Interleaving: Sendable {
  private let limitMicroseconds: Int64
  /// The decoding time of each stream's last packet; nil before the first.
  private var lastTimes: [Int: Int64?] = [:]
  /// The time up to which packets have been written; no earlier packet is buffered.
  private var writtenUntil: Int64?

  /// - Parameter streamIndexes: The streams that wait for each other.
  init(_ streamIndexes: [Int], limitMicroseconds: Int64) {
    for index in streamIndexes { lastTimes[index] = .some(nil) }
    self.limitMicroseconds = limitMicroseconds
  }

  /// Records a packet; returns whether all buffered packets must be written now.
  mutating func append(streamIndex: Int, at microseconds: Int64) -> Bool {
    guard lastTimes[streamIndex] != nil else { return false }
    lastTimes[streamIndex] = microseconds
    let times = lastTimes.values.compactMap(\.self)
    guard let latest = times.max(), let earliest = times.min() else { return false }
    // A stream without packets counts from the first packet of all streams.
    if writtenUntil == nil { writtenUntil = microseconds }
    let start = times.count < lastTimes.count ? writtenUntil : max(earliest, writtenUntil ?? earliest)
    guard let start, latest.subtractingReportingOverflow(start).overflow || latest - start > limitMicroseconds
    else { return false }
    writtenUntil = latest
    return true
  }
}
