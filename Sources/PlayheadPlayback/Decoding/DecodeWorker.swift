import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The loop of a decode thread. See `DecodePipeline`.
final class DecodeWorker {
  typealias Opener = @Sendable (DecodePipeline.Source) throws(MediaError) -> sending ItemDecoder

  private let mailbox: ConditionMutex<DecodePipeline.Mailbox>
  private let reportsIdling: Bool
  private let now: @Sendable () -> HostTime
  private let openDecoder: Opener
  let report: @Sendable (DecodePipeline.Report) -> Void

  var job: DecodePipeline.Job?
  var plan = DecodePipeline.Plan()
  var writer: StreamWriter?
  private var unfinished = UnfinishedStreams()
  private var isPrepared = false
  private var preparation = Preparation(beganAt: HostTime(nanoseconds: 0))
  /// The number of passes of the job that have begun.
  private var begunCount = 0
  /// The pass that is being decoded, and the stream frame at which it began; nil between two passes.
  var current: (pass: Pass, startFrame: Int64)?
  /// The pass whose end is reserved for a cross-fade with the next one; nil if it cannot be cross-faded.
  var endedPass: EndedPass?
  /// The number of frames of the pass before the first one of the job that are mixed with that.
  var overlapFrameCount: Int64 = 0
  /// The decoder of the current pass. The decoder stays open for following passes of the same item, which only need a
  /// seek.
  var currentDecoder: ItemDecoder?
  /// The next pass, while it waits for free space in the stream.
  private var next: Pass?
  /// The passes of the plan that have begun or failed, in order. Kept until a new plan accounts for them.
  private var dequeuedPasses: [(pass: Pass, hasBegun: Bool)] = []
  /// The number of passes that had begun before the first of `dequeuedPasses`.
  private var begunBeforeDequeued = 1
  /// The frame at which the stream was ended, while nothing has been written after it.
  private var endedFrame: Int64?
  /// The pending report of a pass that began after the stream was ended. It is sent when the first audio of the pass is
  /// written.
  private var pendingReport: DecodePipeline.Report?
  /// Whether work can continue without a new request.
  private var canProgress = false
  /// The frame whose writing is to be reported.
  private var awaitedFrame: Int64?
  /// The number of frames to decode ahead; nil: until the stream is full.
  private var aheadLimit: Int?
  /// Whether the thread has reported that it sleeps.
  private var hasReportedSuspension = false
  /// The request count of the last report that no work is left.
  private var idleRequestCount: UInt64 = 0

  /// A pass that has been decoded completely.
  struct EndedPass {
    var frameCount: Int64
    /// The gain of its item.
    var gain: Float
  }

  private enum Work {
    case close
    case start(DecodePipeline.Job)
    case adoptPlan(DecodePipeline.Plan, generation: UInt64)
    /// Decode a chunk, or start the next pass.
    case step
    /// Report that no work is left.
    case reportIdle(requestCount: UInt64)
  }

  init(
    mailbox: ConditionMutex<DecodePipeline.Mailbox>, reportsIdling: Bool, now: @escaping @Sendable () -> HostTime,
    open: @escaping Opener,
    report: @escaping @Sendable (DecodePipeline.Report) -> Void
  ) {
    self.mailbox = mailbox
    self.reportsIdling = reportsIdling
    self.now = now
    openDecoder = open
    self.report = report
  }

  func run() {
    while true {
      switch nextWork() {
      case .close: return
      case .start(let job): start(job)
      case .adoptPlan(let plan, let generation):
        if generation == job?.generation { adopt(plan) }
        canProgress = job != nil
        reportAwaitedFrame(isSuspending: false)
      case .step: step()
      case .reportIdle(let requestCount):
        idleRequestCount = requestCount
        report(.idle(requestCount: requestCount))
      }
    }
  }

  private func nextWork() -> Work {
    let (canProgress, idleCount) = (canProgress, reportsIdling ? idleRequestCount : nil)
    var (awaited, limit, isSuspended) = (awaitedFrame, aheadLimit, hasReportedSuspension)
    defer { (awaitedFrame, aheadLimit, hasReportedSuspension) = (awaited, limit, isSuspended) }
    let work = mailbox.wait { mailbox -> Work? in
      if mailbox.isClosed { return .close }
      limit = mailbox.aheadLimit
      if mailbox.isResumed { (isSuspended, mailbox.isResumed) = (false, false) }
      if mailbox.job != nil { awaited = nil }
      if let frame = mailbox.awaitedFrame, mailbox.job == nil { (awaited, mailbox.awaitedFrame) = (frame, nil) }
      if let job = mailbox.job {
        mailbox.job = nil
        mailbox.reader = nil
        return .start(job)
      }
      if mailbox.isDirty {
        mailbox.isDirty = false
        return .adoptPlan(mailbox.plan, generation: mailbox.planGeneration)
      }
      if canProgress { return .step }
      guard let idleCount, idleCount != mailbox.requestCount else { return nil }
      return .reportIdle(requestCount: mailbox.requestCount)
    }
    return work ?? .close
  }

  /// Adopts a plan, which may be unchanged. Skips the passes that began or failed since the plan was made.
  private func adopt(_ newPlan: DecodePipeline.Plan) {
    plan = newPlan
    next = nil
    defer { updateReserve() }
    while begunBeforeDequeued < newPlan.begunCount, !dequeuedPasses.isEmpty {
      if dequeuedPasses.removeFirst().hasBegun { begunBeforeDequeued += 1 }
    }
    for (pass, hasBegun) in dequeuedPasses {
      if plan.passes.first?.pass == pass {
        plan.passes.removeFirst()
      } else if hasBegun {
        // The new plan does not contain a pass that has begun. The control loop cuts that pass off when it gets the
        // report.
        plan.passes = []
        break
      }
    }
    guard newPlan.begunCount == begunCount, let decoder = currentDecoder, let pass = current?.pass,
      pass.end != newPlan.currentEnd
    else { return }
    current?.pass.end = newPlan.currentEnd
    if !setEnd(newPlan.currentEnd, of: decoder), let job {
      current?.pass.end = nil
      report(.endAlreadyDecoded(generation: job.generation, index: begunCount - 1))
    }
  }

  // MARK: - A generation

  private func start(_ job: DecodePipeline.Job) {
    let continuation = continuation(for: job)
    finishStream(before: job)
    self.job = job
    plan = DecodePipeline.Plan(crossfade: job.crossfade)
    begunCount = 1
    isPrepared = false
    hasReportedSuspension = false
    awaitedFrame = nil
    endedFrame = nil
    pendingReport = nil
    next = nil
    dequeuedPasses = []
    begunBeforeDequeued = 1
    endedPass = nil
    overlapFrameCount = 0
    let writer = StreamWriter(stream: job.stream, format: job.format, playbackRate: job.request.rate)
    // The processors of a former stream are used again, unless it needs them for its last frames.
    if let former = self.writer, !unfinished.contains(former) {
      former.processors?.endAudio()
      writer.processors = former.processors
    }
    self.writer = writer
    current = (job.request.pass, 0)
    canProgress = true
    preparation = Preparation(beganAt: now())
    if job.request.isSilence {
      preparation.time = job.request.time
      return writer.startSilence(itemID: job.source.itemID, at: job.request.time)
    }
    do throws(MediaError) {
      let outgoing = readOutgoing(job)
      let decoder = try open(job.source, isPlanned: false)
      preparation.recordOpening(at: now())
      preparation.time = try job.source.openingRecorder.whileOpening(job.source.itemID) { () throws(MediaError) in
        try writer.start(with: decoder, at: job.request, continuing: continuation)
      }
      if let outgoing { beginOverlap(with: outgoing, decoder, job, writer) }
      reportGain(job, writer)
      let timings = decoder.reader?.lastSeekTimings ?? SeekTimings()
      preparation.recordSeek(
        at: now(), indexNanoseconds: timings.indexNanoseconds, demuxNanoseconds: timings.demuxNanoseconds)
      preparation.sourceRateHz = decoder.format.sampleRateHz
      preparation.positionDoubt = decoder.reader?.positionDoubt
      // If the planned end is before the position of the seek, the pass ends at once.
      if !setEnd(job.request.end, of: decoder) { decoder.endAtCurrentPosition() }
      updateReserve()
    } catch {
      currentDecoder = nil
      current = nil
      canProgress = false
      reportFailure(ofItem: job.source.itemID, error)
    }
  }

  /// Writes the missing frames of the current stream that are heard before the splice of a new job.
  private func finishStream(before job: DecodePipeline.Job) {
    guard let splice = job.splice else { return }
    unfinished.removeAll(after: splice.passID.generation)
    if let former = self.job, splice.passID.generation == former.generation, let writer {
      unfinished.add(writer, ofGeneration: former.generation, upTo: splice.streamFrame)
    }
    writeUnfinishedStreams()
  }

  private func writeUnfinishedStreams() {
    unfinished.write { writer in
      reportDrainError(writer)
      report(.finishedStream(id: writer.streamID))
    }
  }

  /// Reports that silence replaces the last frames in a converter.
  private func reportDrainError(_ writer: StreamWriter) {
    reportNonFiniteSample(writer)
    if let error = writer.popDrainError() {
      report(.warning(itemID: writer.itemID, time: .indefinite, error))
    }
  }

  /// Returns the conversion of the current stream that a new job continues; nil if there is none.
  private func continuation(for job: DecodePipeline.Job) -> Conversion.Continuation? {
    guard let splice = job.splice, splice.continuesPass, splice.passID.generation == self.job?.generation, let writer,
      writer.playbackRate == job.request.rate
    else { return nil }
    return writer.continuation(ofPass: splice.passID.index, fromStreamFrame: splice.streamFrame)
  }

  /// Opens the decoder for a source. Returns the open decoder if the item and the track are the same.
  func open(_ source: DecodePipeline.Source, isPlanned: Bool) throws(MediaError) -> ItemDecoder {
    mailbox.withState { mailbox in
      mailbox.opening = (source.itemID, source.opening, isPlanned)
      // A job that arrived before `opening` was set could not cancel it.
      if mailbox.isClosed || mailbox.job.map({ $0.source.itemID != source.itemID }) ?? false { source.opening.cancel() }
    }
    defer { mailbox.withState { $0.opening = nil } }
    if let currentDecoder, currentDecoder.matches(source) {
      currentDecoder.updateGain(source.gainPolicy, source.opening)
      currentDecoder.setReversed(isReverse)
      currentDecoder.resetCancellation()
      registerForCancellation(currentDecoder)
      return currentDecoder
    }
    currentDecoder = nil
    let decoder = try source.openingRecorder.whileOpening(source.itemID) { () throws(MediaError) in
      let decoder = try openDecoder(source)
      decoder.updateGain(source.gainPolicy, source.opening)
      return decoder
    }
    currentDecoder = decoder
    decoder.setReversed(isReverse)
    registerForCancellation(decoder)
    report(.loaded(itemID: source.itemID, decoder.properties, sampleRateHz: decoder.format.sampleRateHz))
    return decoder
  }

  private func registerForCancellation(_ decoder: ItemDecoder) {
    mailbox.withState { mailbox in
      mailbox.reader = decoder.reader
      // A job that arrived while the file was being opened interrupts this one.
      if mailbox.job != nil || mailbox.isClosed { decoder.reader?.cancel() }
    }
  }

  /// Reports the failure of an item of which nothing is heard. No effect if the work was cancelled.
  private func reportFailure(ofItem itemID: PlayerItem.ID, _ error: MediaError) {
    guard let job, error.code != .cancelled else { return }
    report(.failed(generation: job.generation, itemID: itemID, error))
  }

  /// Writes what is missing in former streams, and decodes one chunk or continues with the next pass.
  private func step() {
    writeUnfinishedStreams()
    guard let job, let writer else {
      canProgress = false
      return
    }
    guard hasFreeSpace(job, writer) else {
      canProgress = false
      job.stream.requestSpaceWakeup()
      // Free space may have appeared before the request.
      if hasFreeSpace(job, writer) { canProgress = true } else { reportSuspension(job) }
      return
    }
    guard let pass = current?.pass else { return startNextPass(job, writer) }
    guard !pass.isSilence, let decoder = currentDecoder else {
      writer.writeSilence()
      return didWrite(job)
    }
    do throws(MediaError) {
      switch try write(from: decoder, job, writer) {
      case .written:
        reportGain(job, writer)
        reportFaults(decoder)
        didWrite(job)
      case .ended: finishPass(job, writer, decoder, error: nil)
      case .cancelled: canProgress = false
      }
    } catch {
      finishPass(job, writer, decoder, error: error)
    }
  }

  /// Decodes one chunk. During the first 200 ms of a pass the item is recorded as being opened, because a damaged file
  /// is most likely to crash a decoder there.
  private func write(
    from decoder: ItemDecoder, _ job: DecodePipeline.Job, _ writer: StreamWriter
  ) throws(MediaError) -> StreamWriter.WriteResult {
    let isAtBeginning = current.map { writer.endFrame - $0.startFrame < Int64(job.format.sampleRateHz / 5) } ?? false
    guard isAtBeginning else { return try writer.write(from: decoder) }
    return try job.source.openingRecorder.whileOpening(decoder.itemID) { () throws(MediaError) in
      try writer.write(from: decoder)
    }
  }

  /// Reports the progress after a chunk was written. The generation is prepared once 200 ms are written.
  ///
  /// A device reads about 100 ms at once when a stream is committed, and underruns if they are missing. A lower limit
  /// than 200 ms would gain little: the second half takes 0.1 ms to decode (FLAC, MP3, Opus) and 1 ms to resample
  /// (`explain`).
  private func didWrite(_ job: DecodePipeline.Job) {
    reportExtension(job)
    hasReportedSuspension = false
    reportAwaitedFrame(isSuspending: false)
    if job.stream.writtenFrame >= Int64(job.format.sampleRateHz / 5) { reportPrepared(job) }
    // Decoding seconds of audio takes less than a time slice of the scheduler. Yielding lets the threads that pass the
    // prepared audio to the device run first, in this process and in the sound server.
    sched_yield()
  }

  /// Whether the stream has free space and more audio is requested.
  private func hasFreeSpace(_ job: DecodePipeline.Job, _ writer: StreamWriter) -> Bool {
    let isWanted = !isFull(job)
    if isWanted {
      writer.output.release(hasEnded: current == nil)
      if endedFrame != nil { reportExtension(job) }
    }
    guard writer.hasFreeSpace else { return false }
    return isWanted || writer.output.isReserving
  }

  /// Whether the requested amount is decoded ahead in the stream.
  private func isFull(_ job: DecodePipeline.Job) -> Bool {
    guard isPrepared, let aheadLimit else { return false }
    return job.stream.writtenFrame - job.stream.releasedFrame >= Int64(max(aheadLimit, wakeupLimit(job)))
  }

  /// The smallest number of frames ahead with which the thread is woken in time: `requestSpaceWakeup` wakes it only
  /// when half of the ring is free.
  func wakeupLimit(_ job: DecodePipeline.Job) -> Int {
    job.stream.capacityFrames / 2 + job.format.sampleRateHz / 4
  }

  /// Reports that the thread is about to sleep until the next request.
  private func reportSuspension(_ job: DecodePipeline.Job) {
    guard !hasReportedSuspension else { return }
    hasReportedSuspension = true
    report(.suspended(generation: job.generation))
    reportAwaitedFrame(isSuspending: true)
  }

  /// Reports that the awaited frame has been written, or that the thread sleeps before it is written.
  private func reportAwaitedFrame(isSuspending: Bool) {
    guard let job, let frame = awaitedFrame,
      isSuspending || hasReportedSuspension || job.stream.writtenFrame >= frame
    else { return }
    awaitedFrame = nil
    report(.reachedAwaitedFrame(generation: job.generation))
  }

  private func reportPrepared(_ job: DecodePipeline.Job) {
    guard !isPrepared else { return }
    isPrepared = true
    // The stream replaces all former ones.
    if job.splice == nil { unfinished.removeAll() }
    preparation.recordCompletion(at: now(), resampleNanoseconds: writer?.convertNanoseconds ?? 0)
    report(
      .prepared(
        generation: job.generation, preparation, trim: startTrim(job.request.pass),
        overlapFrameCount: overlapFrameCount))
  }

  private func reportGain(_ job: DecodePipeline.Job, _ writer: StreamWriter) {
    guard let pending = writer.popPendingGain() else { return }
    report(.gainApplied(generation: job.generation, itemID: pending.itemID, gain: pending.gain))
  }

  private func startTrim(_ pass: Pass) -> EdgeTrim {
    let isWhole = pass.start == job?.request.rate.itemStart
    return isWhole && !pass.isSilence ? currentDecoder?.startTrim ?? .none : .none
  }

  /// Whether the current job plays in reverse.
  private var isReverse: Bool { job?.request.rate.isReverse ?? false }

  /// Like `ItemDecoder.setEnd`, for a time on the item's unmirrored timeline.
  func setEnd(_ time: MediaTime?, of decoder: ItemDecoder) -> Bool {
    decoder.setEnd(time.map { job?.request.rate.mirroredInReverse($0) ?? $0 })
  }

  /// Reports that the stream continues after its former end, once audio has been written there.
  private func reportExtension(_ job: DecodePipeline.Job) {
    if let frame = endedFrame, job.stream.writtenFrame > frame {
      endedFrame = nil
      report(.extended(generation: job.generation, streamFrame: frame))
    }
    if let report = pendingReport {
      pendingReport = nil
      self.report(report)
    }
  }

  private func reportNonFiniteSample(_ writer: StreamWriter) {
    guard let (itemID, time) = writer.popNonFiniteSample() else { return }
    let error = MediaError(.invalidArgument, "an audio processor wrote samples that are not finite")
    report(.warning(itemID: itemID, time: time, error))
  }

  private func reportFaults(_ decoder: ItemDecoder) {
    if let writer { reportNonFiniteSample(writer) }
    if let skipped = decoder.popSkippedPackets() {
      report(.packetsSkipped(itemID: decoder.itemID, time: skipped.time, count: skipped.count, skipped.error))
    }
    if let job, let writer {
      for title in decoder.popTitles() {
        report(
          .streamTitle(
            generation: job.generation, streamFrame: writer.endFrame, itemID: decoder.itemID, time: title.time,
            title.title))
      }
      for (group, laterFrames) in decoder.popTimedMetadata() {
        let seconds = Double(laterFrames) / Double(decoder.format.sampleRateHz)
        let rate = Double(job.request.rate.millionths.magnitude) / 1_000_000
        let frames = Int64(seconds / rate * Double(job.format.sampleRateHz))
        report(
          .timedMetadata(
            generation: job.generation, streamFrame: max(0, writer.endFrame - frames), itemID: decoder.itemID,
            group))
      }
    }
    while let warning = decoder.popWarning() {
      report(.warning(itemID: decoder.itemID, time: warning.time, warning.error))
    }
  }

  // MARK: - Passes

  /// Reports the end of a pass before the next one begins, because its file may be slow to open.
  private func finishPass(
    _ job: DecodePipeline.Job, _ writer: StreamWriter, _ finished: ItemDecoder, error: MediaError?
  ) {
    guard let (pass, startFrame) = current else { return }
    reportFaults(finished)
    if let properties = finished.refineDuration() { report(.durationRefined(itemID: finished.itemID, properties)) }
    reportExtension(job)
    current = nil
    endedPass = error == nil ? EndedPass(frameCount: writer.endFrame - startFrame, gain: finished.gain) : nil
    if let error, begunCount == 1, !isPrepared, writer.endFrame == 0 {
      canProgress = false
      currentDecoder = nil
      return reportFailure(ofItem: finished.itemID, error)
    }
    reportPrepared(job)
    // Its file may be of a device that was removed. A later job opens the item again.
    if error?.concernsFileOrServer == true { currentDecoder = nil }
    // After an error, the pass ends where the item does, not at its planned end.
    let end = error == nil ? pass.end : nil
    report(
      .ended(
        generation: job.generation,
        DecodePipeline.PassEnd(
          index: begunCount - 1, end: end, streamFrame: writer.endFrame,
          frameCount: writer.endFrame - startFrame, trim: end == nil ? finished.endTrim : .none, error: error)))
  }

  /// Starts the next pass of the plan that can be opened, or ends the stream.
  private func startNextPass(_ job: DecodePipeline.Job, _ writer: StreamWriter) {
    guard let pass = next ?? dequeueNextPass(job) else { return endStream(job, writer) }
    next = pass
    let decoder = pass.isSilence ? nil : currentDecoder
    if pass.crossfade != nil || !(decoder.map(writer.canShareConverter) ?? false) {
      // If the stream has no space for the rest of the conversion, `finish` is called again later.
      guard writer.finish() else { return }
      reportDrainError(writer)
    }
    do throws(MediaError) {
      if !pass.isSilence, let decoder { try writer.preparePass(of: decoder) }
      let overlap = decoder.flatMap { beginOverlap(with: pass, $0, job, writer) }

      if pass.isSilence {
        writer.startSilence(itemID: pass.itemID, at: nil)
      } else if let decoder {
        writer.startPass(of: decoder, at: pass.start)
        if !setEnd(pass.end, of: decoder) { decoder.endAtCurrentPosition() }
      }
      didStart(pass, job, writer, overlap)
      reportGain(job, writer)
    } catch {
      // The audio of the pass cannot be written to the stream.
      reportFailure(of: pass, error)
      next = nil
    }
  }

  /// Reports a planned pass that cannot begin.
  private func reportFailure(of pass: Pass, _ error: MediaError) {
    dequeuedPasses.append((pass, false))
    reportFailure(ofItem: pass.itemID, error)
  }

  private func isFarAhead(_ job: DecodePipeline.Job) -> Bool {
    job.stream.writtenFrame - job.stream.releasedFrame > Int64(job.format.sampleRateHz)
  }

  /// Records and reports that a pass has started.
  private func didStart(
    _ pass: Pass, _ job: DecodePipeline.Job, _ writer: StreamWriter, _ overlap: DecodePipeline.OverlapStart?
  ) {
    next = nil
    endedPass = nil
    current = (pass, writer.endFrame)
    updateReserve()
    begunCount += 1
    dequeuedPasses.append((pass, true))
    let began = DecodePipeline.Report.began(
      generation: job.generation, pass, trim: startTrim(pass), overlap: overlap)
    if endedFrame == nil { report(began) } else { pendingReport = began }
  }

  /// Removes and returns the next pass of the plan whose item can be opened, with the decoder at the start of the pass.
  /// Nil if there is none, or the opening was cancelled.
  private func dequeueNextPass(_ job: DecodePipeline.Job) -> Pass? {
    while !plan.passes.isEmpty {
      let planned = plan.passes.removeFirst()
      if planned.pass.isSilence { return planned.pass }
      do throws(MediaError) {
        let decoder = try open(planned.source, isPlanned: true)
        _ = try planned.source.openingRecorder.whileOpening(planned.source.itemID) { () throws(MediaError) in
          try decoder.seek(to: job.request.rate.mirroredInReverse(planned.pass.start), before: .zero, after: .zero)
        }
        return planned.pass
      } catch {
        currentDecoder = nil
        if error.code == .cancelled { return nil }
        reportFailure(of: planned.pass, error)
      }
    }
    return nil
  }

  /// Ends the stream after all passes of the plan.
  ///
  /// While more than a second of audio is written ahead, the last frames stay in the converter, or are reserved for a
  /// cross-fade. A pass of the same format may still follow and share the converter. No device buffers more than a
  /// second of rendered audio.
  private func endStream(_ job: DecodePipeline.Job, _ writer: StreamWriter) {
    canProgress = false
    guard plan.isSet else { return }
    if writer.hasFramesInConverter || writer.output.reservedCount > 0, isFarAhead(job) {
      job.stream.requestSpaceWakeup()
      if isFarAhead(job) { return reportSuspension(job) }
    }
    guard writer.finish() else {
      canProgress = true
      return
    }
    reportDrainError(writer)
    guard writer.output.flush() else {
      job.stream.requestSpaceWakeup()
      // Free space may have appeared before the request.
      if writer.output.flush() { canProgress = true } else { reportSuspension(job) }
      return
    }
    if endedFrame != nil { reportExtension(job) }
    if let frame = endedFrame, frame == job.stream.writtenFrame { return reportSuspension(job) }
    job.stream.end()
    endedFrame = job.stream.writtenFrame
    reportSuspension(job)
  }
}
