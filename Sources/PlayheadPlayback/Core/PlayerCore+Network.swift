import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayerModel

/// Network items: metadata, logs, stalls, and loaded ranges.
extension PlayerCore {
  /// A title or metadata of a stream that has not been heard yet.
  struct PendingMetadata {
    enum Content {
      /// The time at which it begins, and the title.
      case title(MediaTime, StreamTitle)
      case timedMetadata(TimedMetadataGroup)
    }

    var streamID: UInt64
    var streamFrame: Int64
    var itemID: PlayerItem.ID
    var content: Content

    /// Whether the content is timed metadata, which the decode thread reports again when decoding restarts.
    var isTimedMetadata: Bool { if case .timedMetadata = content { true } else { false } }
  }

  /// Stores a title or metadata until it is heard, in the order of frames within a stream.
  func addPendingMetadata(_ metadata: PendingMetadata) {
    let index = pendingMetadata.lastIndex {
      $0.streamID != metadata.streamID || $0.streamFrame <= metadata.streamFrame
    }
    pendingMetadata.insert(metadata, at: index.map { $0 + 1 } ?? 0)
  }

  // MARK: - Titles and metadata

  /// The output frame at which the next title or metadata is heard; nil if there is none, or while its frame is
  /// unknown.
  var nextMetadataFrame: Int64? {
    pendingMetadata.first.flatMap { timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame) }
  }

  func reportNextMetadata() {
    guard !pendingMetadata.isEmpty else { return }
    report(pendingMetadata.removeFirst())
  }

  /// Applies and reports a title or metadata that is heard now.
  private func report(_ metadata: PendingMetadata) {
    switch metadata.content {
    case .title(let time, let streamTitle):
      items[metadata.itemID]?.setStreamTitle((time, streamTitle))
      send(.streamTitle(metadata.itemID, time, streamTitle))
    case .timedMetadata(let group):
      // Metadata that was already reported before decoding restarted is not reported again.
      guard let item = items[metadata.itemID], item.addTimedMetadata(group) else { return }
      send(.timedMetadata(metadata.itemID, group))
    }
  }

  /// Discards titles and metadata of streams that are no longer used. The newest title of the current item is applied,
  /// because it is still valid.
  func discardUnusedMetadata() {
    guard !pendingMetadata.isEmpty else { return }
    let streams = Set(chain.generations.map(\.stream.id))
    let lost = pendingMetadata.filter { !streams.contains($0.streamID) }
    guard !lost.isEmpty else { return }
    pendingMetadata.removeAll { !streams.contains($0.streamID) }
    if let title = lost.last(where: { !$0.isTimedMetadata }), title.itemID == machine.entries.first?.id {
      report(title)
    }
  }

  // MARK: - Logs

  /// Forwards new entries of an item's network log.
  func observeLog(of item: PlayerItem) {
    guard item.asset.mayUseNetwork else { return }
    let (loop, id) = (engine.loop, item.id)
    item.networkLog.observe(key: id) { [weak self] entry in
      guard let self else { return }
      loop.execute { self.report(entry, of: id) }
    }
  }

  private func report(_ entry: NetworkLog.Entry, of id: PlayerItem.ID) {
    guard !isClosed, items[id] != nil else { return }
    let time = machine.entries.first?.id == id ? currentTime() : .zero
    switch entry {
    case .access(let event):
      logger.info(
        "a server replied", metadata: ["item": "\(id)", "uri": "\(event.uri)", "address": "\(event.serverAddress)"])
      send(.newAccessLogEntry(id, time, event))
    case .error(let event):
      logger.warning(
        "a server failed", metadata: ["item": "\(id)", "error": "\(event.error)", "retried": "\(event.isRetried)"])
      send(.newErrorLogEntry(id, time, event.error))
    }
    deliver()
  }

  // MARK: - Stalls

  /// Records a stall. A network item fails if it stalls for too long.
  func beginStall(of id: PlayerItem.ID) {
    currentStall = (id, engine.loop.now)
    items[id]?.networkLog.recordStall()
    stallTimer?.cancel()
    stallTimer = nil
    guard let item = items[id], item.asset.mayUseNetwork else { return }
    let end = stallAllowance.begin(id, at: engine.loop.now)
    stallTimer = engine.loop.schedule(at: end) { [weak self] in self?.failStalledItem(id) }
  }

  /// Fails an item that has stalled for too long.
  private func failStalledItem(_ id: PlayerItem.ID) {
    stallTimer = nil
    guard !isClosed, machine.isRebuffering, currentStall?.itemID == id, let item = items[id] else { return }
    let minutes = StallAllowance.nanoseconds / 60_000_000_000
    itemFailed(
      id,
      MediaError(
        .networkTimedOut, "stalled for \(minutes) minutes longer than it played: \(item.asset.displayPath)",
        operation: "playback"))
  }

  /// Records the end of the current stall once the player no longer waits for samples.
  func endStallIfOver() {
    guard let (id, beganAt) = currentStall, !machine.isRebuffering else { return }
    currentStall = nil
    stallTimer?.cancel()
    stallTimer = nil
    let duration = engine.loop.now.nanoseconds(since: beganAt)
    stallAllowance.end(afterNanoseconds: duration, at: engine.loop.now)
    items[id]?.networkLog.recordStallEnd(nanoseconds: duration)
  }

  // MARK: - Loaded ranges

  /// The time range of an item whose bytes are in memory. Estimated from the share of these bytes in the item, or in
  /// its HLS segments.
  func networkTimeRange(of item: PlayerItem) -> TimeRange? {
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
  static func union(_ ranges: [TimeRange]) -> [TimeRange] {
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
