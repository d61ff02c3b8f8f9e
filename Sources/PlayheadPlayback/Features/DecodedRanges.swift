import PlayheadMediaCore
import PlayheadPlayerModel

/// The decoded ranges and the buffer state of the current item, and its read-ahead limit.
final class DecodedRanges: PlayerFeature {
  private unowned let player: PlayerCore
  /// The item whose `decodedState` is published.
  private var publishedItem: PlayerItem?
  /// The maximum number of frames to decode ahead; nil: the capacity of the stream.
  private var aheadLimit: Int64?

  init(_ player: PlayerCore) { self.player = player }

  func update() {
    limitDecoding()
    publish()
  }

  /// Passes the read-ahead limit of the current item to the decode thread.
  private func limitDecoding() {
    let limit = player.currentItem?.forwardBufferLimit.flatMap {
      $0.frameIndex(rate: player.timeline.sampleRateHz, rounding: .towardPositiveInfinity)
    }
    guard limit != aheadLimit else { return }
    aheadLimit = limit
    player.pipeline.setAheadLimit(limit.map { Int($0) })
  }

  /// Updates the decoded state of the current item, and resets that of the previous one.
  private func publish() {
    let current = player.currentItem
    if let former = publishedItem, former !== current {
      former.decodedState.withLock { $0 = PlayerItem.DecodedState() }
      if former.asset !== current?.asset { former.asset.dropFile() }
      // A station may have another title when it is played again.
      former.setStreamTitle(nil)
      former.removeTimedMetadata()
    }
    publishedItem = current
    guard let current, current.decodedState.withLock({ $0.buffer }) != player.machine.bufferState else { return }
    update(current)
  }

  private func update(_ item: PlayerItem) {
    let ranges = ranges(of: item)
    let buffer = item === player.currentItem ? player.machine.bufferState : PlayerStateMachine.BufferState()
    item.decodedState.withLock { $0 = PlayerItem.DecodedState(ranges: ranges, buffer: buffer) }
  }

  /// Updates and returns the decoded ranges of an item.
  ///
  /// - Throws: `noSuchItem`.
  func measure(_ id: PlayerItem.ID) throws(MediaError) -> [TimeRange] {
    guard let item = player.items[id] else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item")
    }
    update(item)
    return item.loadedTimeRanges
  }

  /// Returns the ranges of an item that are decoded and not yet heard.
  private func ranges(of item: PlayerItem) -> [TimeRange] {
    player.readSegments()
    var ranges: [TimeRange] = []
    let present = player.presentFrame
    for stream in player.chain.following.map(\.stream) {
      let first = player.heardStreamFrame(of: stream.id, at: present) ?? 0
      let end = min(stream.writtenFrame, stream.endFrame ?? .max)
      for range in player.timeline.times(of: item.id, in: stream.id, frames: first..<max(first, end)) {
        if let last = ranges.last, last.end == range.start {
          ranges[ranges.count - 1] = TimeRange(start: last.start, end: range.end)
        } else if let last = ranges.last, last.start == range.end {
          ranges[ranges.count - 1] = TimeRange(start: range.start, end: last.end)
        } else {
          ranges.append(range)
        }
      }
    }
    guard let loaded = networkRange(of: item) else { return ranges }
    return Self.union(ranges + [loaded])
  }

  /// The time range of an item whose bytes are in memory. Estimated from the share of these bytes in the item, or in
  /// its HLS segments.
  private func networkRange(of item: PlayerItem) -> TimeRange? {
    if item.timeRange == nil, let range = item.asset.loadedTimeRange { return range }
    let duration = item.duration
    guard duration.isNumeric, item.byteCount > 0, let bytes = item.asset.availableByteRange,
      let milliseconds = duration.frameIndex(rate: 1_000, rounding: .towardNegativeInfinity)
    else { return nil }
    func time(_ byte: Int64) -> MediaTime {
      let share = min(1, max(0, Double(byte) / Double(item.byteCount)))
      return MediaTime(value: Int64(Double(milliseconds) * share), timescale: 1_000)
    }
    let start = time(bytes.lowerBound)
    return TimeRange(start: start, end: bytes.upperBound >= item.byteCount ? duration : time(bytes.upperBound))
  }

  /// Returns the union of ranges, sorted, with adjacent ranges merged.
  private static func union(_ ranges: [TimeRange]) -> [TimeRange] {
    var result: [TimeRange] = []
    for range in ranges.sorted(by: { $0.start < $1.start }) {
      if let last = result.last, range.start <= last.end {
        result[result.count - 1] = TimeRange(start: last.start, end: max(last.end, range.end))
      } else {
        result.append(range)
      }
    }
    return result
  }
}
