/// How far the streams of a container are ahead of each other: packets wait in memory for those of streams that are behind, and not for
/// longer than a limit.
struct Interleaving: Sendable {
  private let limitMicroseconds: Int64
  /// When the last packet of each stream is decoded; nil before the first.
  private var lastTimes: [Int: Int64?] = [:]
  /// Nothing that is decoded earlier waits any more.
  private var writtenUntil: Int64?

  /// - Parameter streamIndexes: of the streams that wait for each other.
  init(_ streamIndexes: [Int], limitMicroseconds: Int64) {
    for index in streamIndexes { lastTimes[index] = .some(nil) }
    self.limitMicroseconds = limitMicroseconds
  }

  /// Takes note of a packet; whether all that waits is to be written now.
  mutating func append(streamIndex: Int, at microseconds: Int64) -> Bool {
    guard lastTimes[streamIndex] != nil else { return false }
    lastTimes[streamIndex] = microseconds
    let given = lastTimes.values.compactMap(\.self)
    guard let ahead = given.max(), let behind = given.min() else { return false }
    // What a stream without any packet is behind of began with the first of all.
    if writtenUntil == nil { writtenUntil = microseconds }
    let first = given.count < lastTimes.count ? writtenUntil : max(behind, writtenUntil ?? behind)
    guard let first, ahead.subtractingReportingOverflow(first).overflow || ahead - first > limitMicroseconds
    else { return false }
    writtenUntil = ahead
    return true
  }
}
