import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Settings of items during playback, their decoded ranges, and stepping.
extension PlayerCore {
  // MARK: - Settings

  /// Makes the observer of items' settings, which is called on the thread that changed a setting.
  func makeSettingsObserver() -> @Sendable (PlayerItem.ID) -> Void {
    let loop = engine.loop
    return { [weak self] id in
      guard let self else { return }
      if loop.isIsolatingCurrentContext() == true {
        settingsChanged(id)
      } else {
        loop.execute { self.settingsChanged(id) }
      }
    }
  }

  private func settingsChanged(_ id: PlayerItem.ID) {
    guard !isClosed, let item = items[id] else { return }
    changeObserver?([item])
    run(
      machine.setEnds(
        of: id, forward: item.forwardPlaybackEndTime, reverse: item.reversePlaybackEndTime,
        heardAt: machine.pendingRequest?.time ?? currentTime()),
      cause: .request)
  }

  /// Passes the read-ahead limit of the current item to the decode thread.
  func limitDecoding() {
    let limit = currentItem?.forwardBufferLimit.flatMap {
      $0.frameIndex(rate: timeline.sampleRateHz, rounding: .towardPositiveInfinity)
    }
    guard limit != aheadLimit else { return }
    aheadLimit = limit
    pipeline.setAheadLimit(limit.map { Int($0) })
  }

  // MARK: - Decoded ranges

  /// Returns the ranges of an item that are decoded and not yet heard.
  func loadedTimeRanges(of id: PlayerItem.ID) -> [TimeRange] {
    readSegments()
    var ranges: [TimeRange] = []
    let present = presentFrame
    for stream in chain.following.map(\.stream) {
      let first = heardStreamFrame(of: stream.id, at: present) ?? 0
      let end = min(stream.writtenFrame, stream.endFrame ?? .max)
      for range in timeline.times(of: id, in: stream.id, frames: first..<max(first, end)) {
        if let last = ranges.last, last.end == range.start {
          ranges[ranges.count - 1] = TimeRange(start: last.start, end: range.end)
        } else if let last = ranges.last, last.start == range.end {
          ranges[ranges.count - 1] = TimeRange(start: range.start, end: last.end)
        } else {
          ranges.append(range)
        }
      }
    }
    guard let item = items[id], let loaded = networkTimeRange(of: item) else { return ranges }
    return Self.union(ranges + [loaded])
  }

  /// Updates the decoded state of the current item, and resets that of the previous one.
  func publishDecodedState() {
    let current = currentItem
    if let former = publishedItem, former !== current {
      former.decodedState.withLock { $0 = PlayerItem.DecodedState() }
      if former.asset !== current?.asset { former.asset.dropFile() }
      // A station may have another title when it is played again.
      former.setStreamTitle(nil)
      former.removeTimedMetadata()
    }
    publishedItem = current
    guard let current, current.decodedState.withLock({ $0.buffer }) != machine.bufferState else { return }
    updateDecodedState(current)
  }

  private func updateDecodedState(_ item: PlayerItem) {
    let ranges = loadedTimeRanges(of: item.id)
    let buffer = item === currentItem ? machine.bufferState : PlayerStateMachine.BufferState()
    item.decodedState.withLock { $0 = PlayerItem.DecodedState(ranges: ranges, buffer: buffer) }
  }

  /// Updates and returns the decoded ranges of an item.
  func measureLoadedTimeRanges(of id: PlayerItem.ID) throws(MediaError) -> [TimeRange] {
    guard let item = items[id] else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "item")
    }
    updateDecodedState(item)
    return item.loadedTimeRanges
  }

  // MARK: - Stepping

  /// The length of a step: 10 ms.
  static let stepDuration = MediaTime(value: 1, timescale: 100)

  /// Implements `PlayerControl.step`.
  func step(byCount count: Int, completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    try checkOpen("step")
    guard machine.rate == 0 else {
      throw MediaError(.invalidState, "the player must be paused to step", operation: "step")
    }
    guard let count = Int32(exactly: count) else {
      throw MediaError(
        .invalidArgument, "step count must be between -2^31 and 2^31 - 1 (got \(count))", operation: "step")
    }
    let distance = MediaTime(
      value: Int64(count) * Self.stepDuration.value, timescale: Self.stepDuration.timescale)
    try seek(to: .relative(distance), SeekOptions(jumpCause: .step), completion: completion)
  }
}
