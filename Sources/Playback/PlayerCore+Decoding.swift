import MediaCore
import RealtimeAudio

/// The decode thread's side of a player: jobs to it, reports from it.
extension PlayerCore {
  /// Frames that a stream holds: look-ahead, and what has been rendered but not heard.
  private static let streamSeconds = 4

  // MARK: - Jobs

  func prepare(_ generation: UInt64, _ start: Machine.Start) {
    guard let format = output.format, let item = items[start.itemID] else { return }
    let stream = RenderStream(
      capacityFrames: format.sampleRateHz * Self.streamSeconds, channelCount: format.channelCount)
    preparing = Generation(number: generation, stream: stream)
    logger.debug(
      "preparing",
      metadata: ["item": "\(start.itemID)", "generation": "\(generation)", "time": "\(start.time)"])
    pipeline.prepare(
      DecodePipeline.Job(
        generation: generation, source: .init(itemID: item.id, asset: item.asset), start: start, stream: stream,
        format: format))
  }

  func send(_ plan: Machine.Plan) {
    let sources = plan.items.compactMap { id in
      items[id].map { DecodePipeline.Source(itemID: id, asset: $0.asset) }
    }
    pipeline.setPlan(
      DecodePipeline.Plan(begunCount: plan.begunCount, sources: sources, endsInSilence: plan.endsInSilence),
      generation: machine.generation)
  }

  // MARK: - Streams into the mixer

  /// The prepared stream sounds from now on.
  func commit(_ generation: UInt64) {
    guard let prepared = preparing, prepared.number == generation, let core = output.core, let inputIndex else {
      return
    }
    preparing = nil
    sounding = prepared
    ends.removeAll { $0.streamID != prepared.stream.id }
    output.keep(prepared.stream)
    core.setStream(prepared.stream, fromFrame: 0, input: inputIndex)
    core.setRunning(machine.rate != 0, input: inputIndex)
  }

  /// The prepared stream takes over where the item ends in the one that sounds.
  func splice(_ generation: UInt64, after item: PlayerItem.ID) {
    guard let prepared = preparing, prepared.number == generation, let core = output.core, let inputIndex else {
      return
    }
    guard let sounding, let end = ends.last(where: { $0.itemID == item && $0.streamID == sounding.stream.id }) else {
      return commit(generation)
    }
    guard !isTakeOverAhead else {
      // The mixer counts in the stream that it reads, which is still the one before: asked again at its end.
      delayedSplice = (generation, item)
      return
    }
    delayedSplice = nil
    preparing = nil
    output.keep(prepared.stream)
    core.scheduleStream(prepared.stream, fromFrame: 0, atFrame: end.streamFrame, input: inputIndex)
    self.sounding = prepared
    self.sounding?.isSplice = true
  }

  /// Whether the newest stream is to take over from another one and has not been heard to do so.
  private var isTakeOverAhead: Bool {
    guard let sounding, sounding.isSplice else { return false }
    guard let frame = timeline.outputFrame(streamID: sounding.stream.id, streamFrame: 0) else {
      return !timeline.runs.contains { $0.streamID == sounding.stream.id }
    }
    return frame > output.heardFrame
  }

  /// Carries out a splice that had to wait for the one before it.
  func spliceIfDelayed() {
    guard let (generation, item) = delayedSplice, generation == machine.generation else {
      delayedSplice = nil
      return
    }
    splice(generation, after: item)
    if delayedSplice == nil { output.commit() }
  }

  /// Nothing after the end of the item in the present stream is to sound.
  func truncate(after item: PlayerItem.ID) {
    guard let stream = sounding?.stream,
      let index = ends.lastIndex(where: { $0.itemID == item && $0.streamID == stream.id })
    else { return }
    stream.truncate(at: ends[index].streamFrame)
    timeline.truncate(streamID: stream.id, at: ends[index].streamFrame)
    ends.removeLast(ends.count - index - 1)
  }

  func dropStream() {
    preparing = nil
    sounding = nil
    ends = []
    timeObservers.disarm()
    guard let core = output.core, let inputIndex else { return }
    core.setRunning(false, input: inputIndex)
    core.setStream(nil, fromFrame: 0, input: inputIndex)
  }

  // MARK: - Reports

  func handle(_ report: DecodePipeline.Report) {
    guard !isClosed else { return }
    takeSpans()
    switch report {
    case .loaded(let id, let duration): itemLoaded(id, duration: duration)
    case .failed(let generation, let id, let error):
      guard generation == machine.generation || items[id]?.status == .unknown else { break }
      itemFailed(id, error)
    case .prepared(let generation, let time):
      if preparing?.number == generation { preparing?.startTime = time }
      run(machine.prepared(generation: generation), cause: .buffered)
    case .began(let generation, let id): run(machine.began(id, generation: generation), cause: .buffered)
    case .ended(let generation, let id, let frame, let error):
      guard generation == machine.generation, let stream = stream(of: generation) else { break }
      ends.append(ItemEnd(streamID: stream.id, streamFrame: frame, itemID: id, error: error))
      aimTimer()
    case .extended(let generation, let frame):
      if generation == machine.generation, let stream = stream(of: generation) {
        stream.reopen(endingAt: frame)
        sound(stream)
      }
    case .packetsSkipped(let id, let count, let error):
      logger.warning("packets did not decode", metadata: ["item": "\(id)", "count": "\(count)"])
      send(.packetsSkipped(id, count: count, error))
    case .progressed: break
    }
    engine.progressed()
  }

  private func stream(of generation: UInt64) -> RenderStream? {
    if preparing?.number == generation { return preparing?.stream }
    return sounding?.number == generation ? sounding?.stream : nil
  }

  /// Reads what the decode thread said about the streams that are being filled.
  func takeSpans() {
    for stream in [sounding?.stream, preparing?.stream].compactMap({ $0 }) {
      while let span = stream.nextSpan() {
        timeline.add(
          PlayerTimeline.Span(
            streamFrame: span.streamFrame, itemID: span.itemID,
            time: MediaTime(value: span.timeValue, timescale: span.timeScale)),
          streamID: stream.id)
      }
    }
  }

  // MARK: - Items

  /// Has the entries that follow soon opened, so that their state is known before they are due.
  func loadUpcoming() {
    for id in machine.itemsToLoad { load(id) }
  }

  /// Opens an entry, to find out its state.
  func load(_ id: PlayerItem.ID) {
    guard let item = items[id], item.status == .unknown else { return }
    engine.load(item) { [weak self] result in
      guard let self, !self.isClosed else { return }
      switch result {
      case .success(let duration): self.itemLoaded(id, duration: duration)
      case .failure(let error): self.itemFailed(id, error)
      }
    }
  }

  private func itemLoaded(_ id: PlayerItem.ID, duration: MediaTime) {
    guard let item = items[id], item.status == .unknown else { return }
    item.update(status: .readyToPlay, duration: duration)
    run(machine.itemLoaded(id, duration: duration), cause: .itemLoaded)
    send(.itemChanged(id, item.status, duration))
  }

  private func itemFailed(_ id: PlayerItem.ID, _ error: MediaError) {
    guard let item = items[id], item.error == nil else { return }
    item.update(status: .failed(error), duration: item.duration)
    logger.warning("item failed", metadata: ["item": "\(id)", "error": "\(error)"])
    send(.itemChanged(id, item.status, item.duration))
    run(machine.itemFailed(id, error), cause: .itemFailed)
  }
}
