import MediaAssets
import MediaCore
import NetworkIO

/// Items from a network: what is told of them, and what of them is there.
extension PlayerCore {
  /// What a stream said of what it plays, until it is heard.
  struct PendingTitle {
    enum Content {
      /// From when on it holds, and what it is.
      case title(MediaTime, StreamTitle)
      case metadata(TimedMetadataGroup)
    }

    var streamID: UInt64
    var streamFrame: Int64
    var itemID: PlayerItem.ID
    var content: Content

    /// It is told by itself when it is met anew.
    var isMetadata: Bool { if case .metadata = content { true } else { false } }
  }

  /// What a stream said is told when it is heard; of one stream in the order of its frames.
  func expect(_ title: PendingTitle) {
    let index = titles.lastIndex { $0.streamID != title.streamID || $0.streamFrame <= title.streamFrame }
    titles.insert(title, at: index.map { $0 + 1 } ?? 0)
  }

  // MARK: - Titles

  /// The output frame at which the next title is heard; nil when there is none, or nobody knows.
  var nextTitleFrame: Int64? {
    titles.first.flatMap { timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame) }
  }

  func tellNextTitle() {
    guard !titles.isEmpty else { return }
    let title = titles.removeFirst()
    tell(title)
  }

  /// What its item plays from now on.
  private func tell(_ title: PendingTitle) {
    switch title.content {
    case .title(let time, let said):
      items[title.itemID]?.setStreamTitle((time, said))
      send(.streamTitle(title.itemID, time, said))
    case .metadata(let group):
      // Where decoding began anew while it held, it is nothing new.
      guard let item = items[title.itemID], item.noteTimedMetadata(group) else { return }
      send(.timedMetadata(title.itemID, group))
    }
  }

  /// Titles in streams that are heard no more: the newest of the present item still holds.
  func settleTitles() {
    guard !titles.isEmpty else { return }
    let streams = Set(
      ([outgoing, sounding, preparing].compactMap { $0 } + waiting.map { $0.generation }).map(\.stream.id))
    let lost = titles.filter { !streams.contains($0.streamID) }
    guard !lost.isEmpty else { return }
    titles.removeAll { !streams.contains($0.streamID) }
    if let title = lost.last(where: { !$0.isMetadata }), title.itemID == machine.entries.first?.id { tell(title) }
  }

  // MARK: - Logs

  /// Has an item's log tell what is new in it.
  func observeLog(of item: PlayerItem) {
    guard item.asset.mayUseNetwork else { return }
    let (loop, id) = (engine.loop, item.id)
    item.networkLog.observe(key: id) { [weak self] entry in
      guard let self else { return }
      loop.execute { self.tell(entry, of: id) }
    }
  }

  private func tell(_ entry: NetworkLog.Entry, of id: PlayerItem.ID) {
    guard !isClosed, items[id] != nil else { return }
    let time = machine.entries.first?.id == id ? currentTime() : .zero
    switch entry {
    case .access(let event):
      logger.info(
        "a server answered", metadata: ["item": "\(id)", "uri": "\(event.uri)", "address": "\(event.serverAddress)"])
      send(.newAccessLogEntry(id, time, event))
    case .error(let event):
      logger.warning(
        "a server failed", metadata: ["item": "\(id)", "error": "\(event.error)", "retried": "\(event.isRetried)"])
      send(.newErrorLogEntry(id, time, event.error))
    }
    deliver()
  }

  // MARK: - Stalls

  func noteStall(of id: PlayerItem.ID) {
    stalledAt = (id, engine.loop.now)
    items[id]?.networkLog.noteStall()
    stallTimer?.cancel()
    stallTimer = nil
    guard let item = items[id], item.asset.mayUseNetwork else { return }
    let end = stallAllowance.begin(id, at: engine.loop.now)
    stallTimer = engine.loop.schedule(at: end) { [weak self] in self?.giveUpStalled(id) }
  }

  /// The item has stalled for as long as it may.
  private func giveUpStalled(_ id: PlayerItem.ID) {
    stallTimer = nil
    guard !isClosed, machine.isStarved, stalledAt?.itemID == id, let item = items[id] else { return }
    let minutes = StallAllowance.nanoseconds / 60_000_000_000
    itemFailed(
      id,
      MediaError(
        .networkTimedOut, "stalled for \(minutes) minutes longer than it played: \(item.asset.displayPath)",
        operation: "playback"))
  }

  /// Samples have come, or nobody waits for them any more.
  func noteStallEnd() {
    guard let (id, began) = stalledAt, !machine.isStarved else { return }
    stalledAt = nil
    stallTimer?.cancel()
    stallTimer = nil
    let duration = engine.loop.now.nanoseconds(since: began)
    stallAllowance.end(afterNanoseconds: duration, at: engine.loop.now)
    items[id]?.networkLog.noteStallEnd(nanoseconds: duration)
  }

  // MARK: - What is there

  /// What of an item is in memory, by the share of its bytes, or of its segments' bytes.
  func networkTimeRange(of item: PlayerItem) -> TimeRange? {
    if item.timeRange == nil, let range = item.asset.presentTimeRange { return range }
    let duration = item.duration
    guard duration.isNumeric, item.byteCount > 0, let bytes = item.asset.presentBytes,
      let milliseconds = duration.frameIndex(rate: 1_000, rounding: .towardNegativeInfinity)
    else { return nil }
    func time(_ byte: Int64) -> MediaTime {
      let share = min(1, max(0, Double(byte) / Double(item.byteCount)))
      return MediaTime(value: Int64(Double(milliseconds) * share), timescale: 1_000)
    }
    let start = time(bytes.lowerBound)
    return TimeRange(start: start, end: bytes.upperBound >= item.byteCount ? duration : time(bytes.upperBound))
  }

  /// Ranges in order, without those that touch.
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
