import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The interface to the decode thread: jobs and reports.
extension PlayerCore {
  // MARK: - Jobs

  func prepare(_ generation: UInt64, _ request: Machine.DecodeRequest) {
    guard let format = output.format, let item = items[request.itemID] else { return }
    var request = request
    if request.isSilence, let pass = request.spliceAfter { request.time = endTime(of: pass) ?? item.duration }
    let stream = RenderStream(
      capacityFrames: format.sampleRateHz * engine.streamMilliseconds / 1_000, channelCount: format.channelCount)
    let isSplit = request.isContinuation && request.spliceAfter != nil
    let former = chain.prepare(
      Generation(
        number: generation, stream: stream, jumpCause: request.jumpCause, isContinuation: request.isContinuation,
        startError: isSplit ? jointChanges.split.startError : .zero,
        sharedFrame: isSplit ? jointChanges.split.sharedFrame : nil,
        trace: seeks.latency.makeTrace(of: request)))
    if let former { timeline.removeStream(former.id) }
    logger.debug(
      "preparing",
      metadata: ["item": "\(request.itemID)", "generation": "\(generation)", "time": "\(request.time)"])
    pipeline.prepare(
      DecodePipeline.Job(
        generation: generation,
        source: source(of: item),
        request: request, stream: stream,
        format: format, splice: splicePosition(of: request),
        outgoing: outgoing(of: request, format), crossfade: machine.intent.crossfade))
  }

  private func source(of item: PlayerItem) -> DecodePipeline.Source {
    DecodePipeline.Source(
      itemID: item.id, asset: item.asset, timeRange: item.timeRange, audioMix: item.audioMixSlot,
      timePitch: item.timePitchSlot, audioProcessors: item.audioProcessorSlot, mediaSelection: item.mediaSelectionSlot,
      gainPolicy: replayGain.policy(of: item), opening: AssetOpening(log: item.networkLog),
      openingRecorder: OpeningRecorder(record: engine.openingRecord))
  }

  /// The end of the previous item, if the audio of `request` begins in a cross-fade.
  private func outgoing(of request: Machine.DecodeRequest, _ format: AudioFormat) -> DecodePipeline.Outgoing? {
    if let overlap = request.overlap, let crossfade = request.crossfade, let item = items[overlap.itemID] {
      return DecodePipeline.Outgoing(
        source: source(of: item), time: overlap.time, end: overlap.end, crossfade: crossfade,
        frameCount: crossfade.frameCount(rate: format.sampleRateHz))
    }
    guard request.isContinuation, request.itemID == machine.entries.first?.id else { return nil }
    let rate = timeline.rate(atOutputFrame: output.heardFrame) ?? request.rate
    let outgoing = heardOverlap?.continue(at: request.time, rate: rate, sampleRateHz: format.sampleRateHz)
    if outgoing == nil { heardOverlap = nil }
    return outgoing
  }

  /// The cross-fade at an end that is heard now; nil without one.
  func overlap(at end: ItemEnd) -> HeardOverlap? {
    guard end.overlapFrameCount > 0, let crossfade = end.crossfade, let item = items[end.itemID],
      let time = endTime(of: end)
    else { return nil }
    let next = chain.outgoing?.stream.id == end.streamID ? chain.sounding.map { ($0.stream.id, Int64(0)) } : nil
    let (streamID, streamFrame) = next ?? (end.streamID, end.streamFrame)
    guard let itemTime = timeline.position(streamID: streamID, streamFrame: streamFrame)?.time else { return nil }
    return HeardOverlap(
      of: source(of: item), at: time, endingAt: machine.decodedPasses.first { $0.id == end.passID }?.pass.end,
      with: itemTime, crossfade: crossfade, frameCount: end.overlapFrameCount)
  }

  /// The end of the decoded pass that the audio of `request` follows; nil if it follows none.
  private func splicePosition(of request: Machine.DecodeRequest) -> DecodePipeline.SplicePosition? {
    guard let id = request.spliceAfter, let end = chain.end(of: id) else { return nil }
    let former = machine.decodedPasses.first { $0.id == id }?.pass
    return DecodePipeline.SplicePosition(
      passID: id, streamFrame: end.streamFrame, continuesPass: former.map { request.pass.continues($0) } ?? false)
  }

  /// The item's time at the end of a pass that is in a stream.
  private func endTime(of pass: PassID) -> MediaTime? { chain.end(of: pass).flatMap(endTime) }

  private func endTime(of end: ItemEnd) -> MediaTime? {
    guard let segment = timeline.segment(streamID: end.streamID, streamFrame: max(0, end.streamFrame - 1)),
      segment.itemID == end.itemID
    else { return nil }
    return timeline.time(in: segment, at: end.streamFrame)
  }

  func send(_ plan: Machine.Plan) {
    let passes = plan.passes.compactMap { pass in
      items[pass.itemID].map { DecodePipeline.PlannedPass(pass: pass, source: source(of: $0)) }
    }
    pipeline.setPlan(
      DecodePipeline.Plan(
        begunCount: plan.begunCount, currentEnd: plan.currentEnd, passes: passes, crossfade: plan.crossfade),
      generation: machine.generation)
  }

  // MARK: - Streams into the mixer

  /// Renders the prepared stream from now on.
  func commit(_ generation: UInt64) {
    guard let (committed, unused) = chain.commit(generation) else { return }
    remove(unused)
    render(.now(committed))
  }

  /// Schedules the prepared stream at the end of a pass of the previous stream.
  func splice(_ generation: UInt64, after pass: PassID) {
    if let start = chain.splice(generation, after: pass) { render(start) }
  }

  /// Passes queued streams to the mixer after the end of a pass has been heard.
  func startQueuedStreams() {
    var needsPost = false
    while let start = chain.startQueued() {
      render(start)
      needsPost = true
    }
    if needsPost { output.postCommands() }
  }

  private func render(_ start: StreamChain.Start) {
    guard let core = output.core, let inputIndex else { return }
    switch start {
    case .now(let next):
      output.retain(next.stream)
      if !next.isContinuation { heardOverlap = nil }
      if next.isContinuation {
        continueAudio(with: next, core, input: inputIndex)
      } else {
        core.setStream(next.stream, fromFrame: 0, input: inputIndex)
      }
      _ = replayGain.updateGains(isBeginning: true)
      applyRunning()
    case .atEnd(let next, let end, let former):
      output.retain(next.stream)
      core.scheduleStream(
        next.stream, fromFrame: 0, atFrame: end.streamFrame,
        switchFade: isFaded(next, at: end, of: former.stream) ? Self.changeFade(core) : .none, input: inputIndex)
      _ = replayGain.updateGains()
      seeks.latency.committed(next, at: nil)
    }
  }

  /// Whether a continuation is cross-faded at `end`. A reversal at the end of the decoded pass is not: the audio after
  /// that end belongs to another pass.
  private func isFaded(_ next: Generation, at end: ItemEnd, of stream: RenderStream) -> Bool {
    guard next.isContinuation else { return false }
    let following = timeline.segment(streamID: end.streamID, streamFrame: end.streamFrame)
    guard let before = timeline.segment(streamID: end.streamID, streamFrame: max(0, end.streamFrame - 1)),
      let after = timeline.rate(streamID: next.stream.id, streamFrame: 0), after.isReverse != before.rate.isReverse
    else { return true }
    if following?.passIndex != before.passIndex || stream.writtenFrame <= end.streamFrame { return false }
    return isFaded(from: before.rate, to: after, of: end.itemID)
  }

  // MARK: - Cuts

  /// Ends a pass before its decoded end. Returns whether commands must be posted to the mixer.
  func shorten(_ pass: PassID, at time: MediaTime) -> Bool {
    guard let stream = chain.following.first(where: { $0.number == pass.generation })?.stream,
      let frame = timeline.streamFrame(of: endTime(of: pass, at: time), passIndex: pass.index, streamID: stream.id)
        ?? timeline.streamFrame(of: time, passIndex: pass.index, streamID: stream.id),
      let itemID = timeline.position(streamID: stream.id, streamFrame: frame)?.itemID
    else { return false }
    return apply(chain.shorten(pass, of: itemID, atFrame: frame))
  }

  /// The end of a pass that is planned to end at `time`: after its last whole frame, as the decoder ends it.
  private func endTime(of pass: PassID, at time: MediaTime) -> MediaTime {
    let isReverse = machine.decodedRate.isReverse
    guard let itemID = machine.decodedPasses.first(where: { $0.id == pass })?.pass.itemID,
      let rate = loading.decodedSampleRateHz(of: itemID),
      let frame = time.frameIndex(
        rate: rate, rounding: isReverse ? .towardPositiveInfinity : .towardNegativeInfinity)
    else { return time }
    return MediaTime(frame: frame, rate: rate)
  }

  /// Ends a pass at a frame that will be heard soon. The audio of the pass continues until the following stream is
  /// available. Returns whether commands must be posted to the mixer.
  func split(_ pass: PassID, atStreamFrame frame: Int64) -> Bool {
    guard let itemID = machine.decodedPasses.first(where: { $0.id == pass })?.pass.itemID else { return false }
    return apply(chain.split(pass, of: itemID, atFrame: frame))
  }

  /// Removes all audio after the end of the pass in its stream. Returns whether commands must be posted to the mixer.
  func truncate(after pass: PassID) -> Bool { apply(chain.cut(after: pass)) }

  /// Applies a cut to the streams, the timeline and the mixer. Returns whether commands must be posted to the mixer.
  private func apply(_ cut: StreamChain.Cut?) -> Bool {
    guard let cut else { return false }
    for (stream, frame) in cut.ended {
      stream.truncate(at: frame)
      timeline.truncate(streamID: stream.id, at: frame)
    }
    remove(cut.unused)
    guard let (stream, streamFrame) = cut.obsoleteSwitch, let core = output.core, let inputIndex else { return false }
    if let frame = timeline.outputFrame(streamID: stream.id, streamFrame: streamFrame),
      frame <= output.heardFrame + Int64(core.format.sampleRateHz / 20)
    {
      // It is too late for a safe cancellation: the next stream waits until the end has been heard.
      return false
    }
    core.scheduleStream(nil, fromFrame: 0, atFrame: 0, input: inputIndex)
    chain.cancelSwitch()
    return true
  }

  /// Removes streams that were never passed to the mixer.
  private func remove(_ streams: [RenderStream]) { for stream in streams { timeline.removeStream(stream.id) } }

  func dropStream() {
    timeObservers.streamsEnded()
    remove(chain.removeAll())
    guard let core = output.core, let inputIndex else { return }
    core.setRunning(false, input: inputIndex)
    core.setStream(nil, fromFrame: 0, input: inputIndex)
  }

  // MARK: - Reports

  func handle(_ report: DecodePipeline.Report) {
    guard !isClosed else { return }
    readSegments()
    switch report {
    case .loaded(let id, let properties, let rate):
      loading.decoderOpened(id, properties, sampleRateHz: rate)
    case .durationRefined(let id, let properties): loading.durationRefined(id, properties)
    case .failed(let generation, let id, let error):
      guard generation == machine.generation || items[id]?.status == .unknown else { break }
      itemFailed(id, error)
    case .prepared(let generation, let preparation, let trim, let overlapFrameCount):
      let request = machine.requestInPreparation
      if let request, let pass = request.spliceAfter, chain.preparing?.number == generation {
        chain.setOverlap(of: overlapFrameCount, request.crossfade, afterPass: pass)
      }
      let isSplit = request?.isContinuation == true && request?.spliceAfter != nil
      let isPreparing = chain.preparing?.number == generation
      chain.update(generation) { started in
        // Playback may have begun before the preparation was complete (`commitEarly`).
        guard isPreparing || started.sourceRateHz == nil else { return }
        started.sourceRateHz = preparation.sourceRateHz
        started.startTrims[0] = trim
        guard isPreparing, let request else { return }
        if isSplit { started.startError = started.startError + (preparation.time - request.time) }
      }
      if isPreparing { chain.update(generation) { $0.trace.preparation = preparation } }
      startPrepared(generation)
    case .began(let generation, let pass, let trim, let overlap):
      decodedMore(of: generation)
      if generation == machine.generation, chain.preparing?.number != generation, trim.frameCount > 0 {
        chain.update(generation) { $0.startTrims[machine.begunCount] = trim }
      }
      let overlapTime = overlap.flatMap { begin($0, with: pass, generation) }
      run(machine.began(pass, generation: generation, overlapTime: overlapTime), cause: .buffered)
    case .ended(let generation, let end):
      decodedMore(of: generation)
      ended(end, generation)
    case .endAlreadyDecoded(let generation, let index):
      run(machine.overran(PassID(generation: generation, index: index)), cause: .buffered)
    case .extended(let generation, let frame):
      if generation == machine.generation, let stream = chain.stream(of: generation) {
        stream.reopen(endingAt: frame)
        resumeRendering(of: stream)
      }
    case .finishedStream(let id):
      // The mixer rendered silence in place of the missing frames: it renders them again.
      if stalls.underrun?.streamID == id, timeline.runs.last?.end?.reason == .underrun { output.postCommands() }
    case .packetsSkipped(let id, let time, let count, let error):
      logger.warning(
        "packets could not be decoded", metadata: ["item": "\(id)", "count": "\(count)", "time": "\(time)"])
      send(.packetsSkipped(id, time, count: count, error))
    case .warning(let id, let time, let error):
      logger.warning("the file has a fault", metadata: ["item": "\(id)", "error": "\(error)"])
      send(.newErrorLogEntry(id, time, error))
    case .streamTitle(let generation, let frame, let id, let time, let title):
      if let stream = chain.stream(of: generation) {
        metadata.add(
          StreamMetadata.Pending(streamID: stream.id, streamFrame: frame, itemID: id, content: .title(time, title)))
      }
    case .timedMetadata(let generation, let frame, let id, let group):
      if let stream = chain.stream(of: generation) {
        metadata.add(
          StreamMetadata.Pending(streamID: stream.id, streamFrame: frame, itemID: id, content: .timedMetadata(group)))
      }
    case .gainApplied(let generation, let id, let gain): replayGain.record(gain, of: id, generation: generation)
    case .reachedAwaitedFrame(let generation):
      decodedMore(of: generation)
      if machine.rate != 0, !machine.automaticallyWaits { commitEarly() }
      run(machine.becameLikelyToKeepUp(generation: generation), cause: .buffered)
      stalls.endSilence()
    case .suspended(let generation):
      decodedMore(of: generation)
      run(machine.decodingPaused(generation: generation), cause: .buffered)
      stalls.endSilence()
    case .idle(let requestCount): decodeThread.becameIdle(requestCount: requestCount)
    }
    reportTransition()
    engine.reportProgress()
  }

  /// Moves the end of the previous pass to the beginning of its cross-fade with `pass`. Returns the time of its item
  /// there; nil if the pass belongs to a former generation.
  private func begin(_ overlap: DecodePipeline.OverlapStart, with pass: Pass, _ generation: UInt64) -> MediaTime? {
    guard generation == machine.generation, let previous = machine.decodedPasses.last?.id else { return nil }
    chain.moveEnd(of: previous, toFrame: overlap.streamFrame)
    chain.setOverlap(of: overlap.frameCount, pass.crossfade, afterPass: previous)
    return endTime(of: previous)
  }

  private func ended(_ end: DecodePipeline.PassEnd, _ generation: UInt64) {
    guard generation == machine.generation, let stream = chain.stream(of: generation) else { return }
    let id = PassID(generation: generation, index: end.index)
    guard let itemID = machine.decodedPasses.first(where: { $0.id == id })?.pass.itemID else { return }
    chain.append(
      ItemEnd(
        streamID: stream.id, streamFrame: end.streamFrame, passID: id, itemID: itemID, error: end.error,
        trim: end.trim))
    let shortest = Machine.shortestLoop.frameIndex(rate: timeline.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0
    let pass = machine.decodedPasses.first { $0.id == id }?.pass
    let isWhole = pass.map { $0.start == machine.decodedRate.itemStart && machine.endsItem($0) } ?? false
    run(
      machine.ended(
        id, end: end.end, isTooShort: isWhole && end.frameCount < shortest, hasFailedBeforeEnd: end.error != nil),
      cause: .buffered)
  }

  /// Adds the segments that the decode thread has written to the timeline.
  func readSegments() {
    for stream in chain.generations.map(\.stream) {
      while let segment = stream.nextSegment() {
        timeline.add(
          PlayerTimeline.Segment(
            streamFrame: segment.streamFrame, itemID: segment.itemID, passIndex: Int(segment.passIndex),
            time: MediaTime(value: segment.timeValue, timescale: segment.timeScale),
            rate: PlaybackRate(millionths: segment.rateMillionths) ?? .normal),
          streamID: stream.id)
      }
    }
  }

  // MARK: - Items

  func itemChanged(_ item: PlayerItem) -> PlayerEvent {
    .itemChanged(item.id, item.status, item.duration, isPrecise: item.providesPreciseDuration)
  }

  func itemFailed(_ id: PlayerItem.ID, _ error: MediaError) {
    guard let item = items[id], item.error == nil else { return }
    item.fail(error)
    logger.warning("item failed", metadata: ["item": "\(id)", "error": "\(error)"])
    send(itemChanged(item))
    run(machine.itemFailed(id, error), cause: .itemFailed)
  }
}
