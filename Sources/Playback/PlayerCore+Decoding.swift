import MediaAssets
import MediaCore
import RealtimeAudio

/// The decode thread's side of a player: jobs to it, reports from it.
extension PlayerCore {
  /// Frames that a stream holds: look-ahead, and what has been rendered but not heard.
  private static let streamSeconds = 2

  // MARK: - Jobs

  func prepare(_ generation: UInt64, _ start: Machine.Start) {
    guard let format = output.format, let item = items[start.itemID] else { return }
    let stream = RenderStream(
      capacityFrames: format.sampleRateHz * Self.streamSeconds, channelCount: format.channelCount)
    forget(preparing)
    preparing = Generation(number: generation, stream: stream, isSeek: start.seek != nil)
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
    guard let prepared = preparing, prepared.number == generation else { return }
    preparing = nil
    commit(prepared)
  }

  private func commit(_ prepared: Generation) {
    guard let core = output.core, let inputIndex else { return }
    forgetWaiting(from: 0)
    outgoing = nil
    sounding = prepared
    ends.removeAll { $0.streamID != prepared.stream.id }
    output.keep(prepared.stream)
    core.setStream(prepared.stream, fromFrame: 0, input: inputIndex)
    core.setRunning(machine.rate != 0, input: inputIndex)
  }

  /// The prepared stream takes over where the item ends in the one before.
  func splice(_ generation: UInt64, after item: PlayerItem.ID) {
    guard let prepared = preparing, prepared.number == generation else { return }
    preparing = nil
    // The mixer counts in the stream that it reads, which may still be the one before: asked again at its end.
    guard outgoing == nil, waiting.isEmpty else { return waiting.append((prepared, item)) }
    join(prepared, after: item)
  }

  private func join(_ next: Generation, after item: PlayerItem.ID) {
    guard let core = output.core, let inputIndex else { return }
    guard let sounding, let end = ends.last(where: { $0.itemID == item && $0.streamID == sounding.stream.id }) else {
      return commit(next)
    }
    output.keep(next.stream)
    core.scheduleStream(next.stream, fromFrame: 0, atFrame: end.streamFrame, input: inputIndex)
    outgoing = sounding
    self.sounding = next
  }

  /// The end of an item has been heard: what waited for a take-over there is handed to the mixer.
  func joinWaiting() {
    if let outgoing, !ends.contains(where: { $0.streamID == outgoing.stream.id }) { self.outgoing = nil }
    guard outgoing == nil, !waiting.isEmpty else { return }
    let (next, item) = waiting.removeFirst()
    join(next, after: item)
    output.commit()
  }

  /// Nothing after the end of the item in its stream is to sound. Answers whether the mixer is to be told.
  func truncate(after item: PlayerItem.ID) -> Bool {
    guard let index = ends.lastIndex(where: { $0.itemID == item }) else { return false }
    let end = ends[index]
    var isWithdrawn = false
    if let place = waiting.firstIndex(where: { $0.generation.stream.id == end.streamID }) {
      cut(waiting[place].generation.stream, at: end.streamFrame)
      forgetWaiting(from: place + 1)
    } else if let outgoing, outgoing.stream.id == end.streamID {
      cut(outgoing.stream, at: end.streamFrame)
      forgetWaiting(from: 0)
      isWithdrawn = withdrawTakeOver(from: outgoing, at: end.streamFrame)
    } else if let sounding, sounding.stream.id == end.streamID {
      cut(sounding.stream, at: end.streamFrame)
      forgetWaiting(from: 0)
    }
    ends.removeLast(ends.count - index - 1)
    return isWithdrawn
  }

  private func cut(_ stream: RenderStream, at frame: Int64) {
    stream.truncate(at: frame)
    timeline.truncate(streamID: stream.id, at: frame)
  }

  /// The stream that was to take over is not wanted any more.
  private func withdrawTakeOver(from outgoing: Generation, at streamFrame: Int64) -> Bool {
    guard let core = output.core, let inputIndex, let sounding else { return false }
    // Should the mixer be past it already, it falls silent there.
    sounding.stream.truncate(at: 0)
    if let frame = timeline.outputFrame(streamID: outgoing.stream.id, streamFrame: streamFrame),
      frame <= output.heardFrame + Int64(core.format.sampleRateHz / 20)
    {
      // Too late to be sure: what follows waits until the end has been heard.
      return false
    }
    core.scheduleStream(nil, fromFrame: 0, atFrame: 0, input: inputIndex)
    self.sounding = outgoing
    self.outgoing = nil
    return true
  }

  private func forgetWaiting(from index: Int) {
    for (generation, _) in waiting[min(index, waiting.count)...] { forget(generation) }
    waiting.removeLast(max(0, waiting.count - index))
  }

  /// A generation that the mixer never had leaves nothing behind.
  private func forget(_ generation: Generation?) {
    if let generation { timeline.removeStream(generation.stream.id) }
  }

  func dropStream() {
    forget(preparing)
    forgetWaiting(from: 0)
    preparing = nil
    sounding = nil
    outgoing = nil
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
    case .loaded(let id, let properties): itemLoaded(id, properties)
    case .refined(let id, let properties): itemRefined(id, properties)
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
    case .packetsSkipped(let id, let time, let count, let error):
      logger.warning("packets did not decode", metadata: ["item": "\(id)", "count": "\(count)", "time": "\(time)"])
      send(.packetsSkipped(id, time, count: count, error))
    case .warned(let id, let time, let error):
      logger.warning("the file is not as it should be", metadata: ["item": "\(id)", "error": "\(error)"])
      send(.newErrorLogEntry(id, time, error))
    case .progressed: break
    }
    engine.progressed()
  }

  private func stream(of generation: UInt64) -> RenderStream? {
    if preparing?.number == generation { return preparing?.stream }
    if let last = waiting.last?.generation, last.number == generation { return last.stream }
    return sounding?.number == generation ? sounding?.stream : nil
  }

  /// Reads what the decode thread said about the streams that are being filled.
  func takeSpans() {
    let generations = [outgoing, sounding] + waiting.map { $0.generation } + [preparing]
    for stream in generations.compactMap({ $0?.stream }) {
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
      case .success(let properties): self.itemLoaded(id, properties)
      case .failure(let error): self.itemFailed(id, error)
      }
    }
  }

  private func itemLoaded(_ id: PlayerItem.ID, _ properties: AssetProperties) {
    guard let item = items[id], item.status == .unknown else { return }
    update(item, properties)
  }

  /// The duration is known better. Other entries that share the asset hear of it when they are loaded or read.
  private func itemRefined(_ id: PlayerItem.ID, _ properties: AssetProperties) {
    guard let item = items[id], item.status == .readyToPlay else { return }
    update(item, properties)
  }

  private func update(_ item: PlayerItem, _ properties: AssetProperties) {
    guard item.update(properties) else { return }
    run(machine.itemLoaded(item.id, duration: properties.duration), cause: .itemLoaded)
    send(itemChanged(item))
  }

  private func itemChanged(_ item: PlayerItem) -> PlayerEvent {
    .itemChanged(item.id, item.status, item.duration, isPrecise: item.providesPreciseDuration)
  }

  private func itemFailed(_ id: PlayerItem.ID, _ error: MediaError) {
    guard let item = items[id], item.error == nil else { return }
    item.fail(error)
    logger.warning("item failed", metadata: ["item": "\(id)", "error": "\(error)"])
    send(itemChanged(item))
    run(machine.itemFailed(id, error), cause: .itemFailed)
  }
}
