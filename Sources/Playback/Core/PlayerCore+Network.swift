import MediaAssets
import MediaCore
import NetworkIO
import PlayerModel

/// Network items: metadata, logs, stalls, and loaded ranges.
extension PlayerCore {
  /// A title or metadata of a stream that has not been heard yet.
  struct PendingTitle {
    enum Content {
      /// The time at which it begins, and the title.
      case title(MediaTime, StreamTitle)
      case metadata(TimedMetadataGroup)
    }

    var streamID: UInt64
    var streamFrame: Int64
    var itemID: PlayerItem.ID
    var content: Content

    /// Whether it is timed metadata, which is sent again when decoding restarts.
    var isMetadata: Bool { if case .metadata = content { true } else { false } }
  }

  /// Stores a title until it is heard, in the order of frames within a stream.
  func addPendingTitle(_ title: PendingTitle) {
    let index = titles.lastIndex { $0.streamID != title.streamID || $0.streamFrame <= title.streamFrame }
    titles.insert(title, at: index.map { $0 + 1 } ?? 0)
  }

  // MARK: - Titles

  /// The output frame at which the next title is heard; nil without a title, or while its frame is unknown.
  var nextTitleFrame: Int64? {
    titles.first.flatMap { timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame) }
  }

  func reportNextTitle() {
    guard !titles.isEmpty else { return }
    let title = titles.removeFirst()
    report(title)
  }

  /// Applies and reports a title or metadata that is heard now.
  private func report(_ title: PendingTitle) {
    switch title.content {
    case .title(let time, let streamTitle):
      items[title.itemID]?.setStreamTitle((time, streamTitle))
      send(.streamTitle(title.itemID, time, streamTitle))
    case .metadata(let group):
      // Metadata that was already valid when decoding restarted is not new.
      guard let item = items[title.itemID], item.addTimedMetadata(group) else { return }
      send(.timedMetadata(title.itemID, group))
    }
  }

  /// Discards titles of streams that are no longer used. The newest title of the current item is applied, because it is
  /// still valid.
  func discardUnusedTitles() {
    guard !titles.isEmpty else { return }
    let streams = Set(
      ([outgoing, audible, preparing].compactMap { $0 } + waiting.map { $0.generation }).map(\.stream.id))
    let lost = titles.filter { !streams.contains($0.streamID) }
    guard !lost.isEmpty else { return }
    titles.removeAll { !streams.contains($0.streamID) }
    if let title = lost.last(where: { !$0.isMetadata }), title.itemID == machine.entries.first?.id { report(title) }
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

  func beginStall(of id: PlayerItem.ID) {
    stalledAt = (id, engine.loop.now)
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
    guard !isClosed, machine.isRebuffering, stalledAt?.itemID == id, let item = items[id] else { return }
    let minutes = StallAllowance.nanoseconds / 60_000_000_000
    itemFailed(
      id,
      MediaError(
        .networkTimedOut, "stalled for \(minutes) minutes longer than it played: \(item.asset.displayPath)",
        operation: "playback"))
  }

  /// Ends the record of a stall when samples have arrived, or the player no longer waits.
  func endStallIfOver() {
    guard let (id, began) = stalledAt, !machine.isRebuffering else { return }
    stalledAt = nil
    stallTimer?.cancel()
    stallTimer = nil
    let duration = engine.loop.now.nanoseconds(since: began)
    stallAllowance.end(afterNanoseconds: duration, at: engine.loop.now)
    items[id]?.networkLog.recordStallEnd(nanoseconds: duration)
  }

  // MARK: - Loaded ranges

  /// The range of an item that is in memory, estimated from its share of the item's or its segments' bytes.
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
