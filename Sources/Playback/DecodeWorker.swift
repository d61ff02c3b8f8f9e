import Glibc
import MediaAssets
import MediaCore
import RealtimeAudio

/// What runs on a decode thread. See `DecodePipeline`.
final class DecodeWorker {
  typealias Opener = @Sendable (DecodePipeline.Source) throws(MediaError) -> sending ItemDecoder

  private let mailbox: WakeSignal<DecodePipeline.Mailbox>
  private let reportsIdling: Bool
  private let now: @Sendable () -> HostTime
  private let openDecoder: Opener
  private let report: @Sendable (DecodePipeline.Report) -> Void

  private var job: DecodePipeline.Job?
  private var plan = DecodePipeline.Plan()
  private var writer: StreamWriter?
  private var isPrepared = false
  private var preparation = Preparation(beganAt: HostTime(nanoseconds: 0))
  /// How many passes of the job have begun.
  private var begunCount = 0
  /// The pass that is being decoded, and the stream's frame at which it began; nil between two.
  private var current: (pass: Pass, startFrame: Int64)?
  /// What the pass is decoded with. It stays open for the passes that follow: one of the same item is a seek in it.
  private var item: ItemDecoder?
  /// A pass that is to follow, and waits for room in the stream.
  private var next: Pass?
  /// Planned passes that have begun, or failed to, in order, as far back as a plan may not know of them.
  private var taken: [(pass: Pass, hasBegun: Bool)] = []
  /// How many passes had begun before the first of `taken`.
  private var begunBeforeTaken = 1
  /// Where the stream was ended, while nothing has been written behind it.
  private var endedFrame: Int64?
  /// A pass that began behind the end of the stream, and has not been told because nothing of it has been written.
  private var untold: DecodePipeline.Report?
  /// Whether there is something to do without being told.
  private var canProgress = false
  /// The frame whose being written is to be reported.
  private var awaitedFrame: Int64?
  /// How far ahead is decoded, in frames; nil: as far as the stream holds.
  private var aheadLimit: Int?
  /// Whether it has been reported that the thread rests.
  private var hasRested = false
  /// After how many requests it was last reported that nothing is left to do.
  private var idleRequestCount: UInt64 = 0

  private enum Order {
    case close
    case start(DecodePipeline.Job)
    case look(DecodePipeline.Plan, generation: UInt64)
    case goOn
    /// Say that nothing is left to do.
    case tellIdle(requestCount: UInt64)
  }

  init(
    mailbox: WakeSignal<DecodePipeline.Mailbox>, reportsIdling: Bool, now: @escaping @Sendable () -> HostTime,
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
      switch nextOrder() {
      case .close: return
      case .start(let job): start(job)
      case .look(let plan, let generation):
        if generation == job?.generation { adopt(plan) }
        canProgress = job != nil
        reportAwaited(isOver: false)
      case .goOn: step()
      case .tellIdle(let requestCount):
        idleRequestCount = requestCount
        report(.idle(requestCount: requestCount))
      }
    }
  }

  private func nextOrder() -> Order {
    let (canProgress, idleCount) = (canProgress, reportsIdling ? idleRequestCount : nil)
    var (awaited, limit) = (awaitedFrame, aheadLimit)
    defer { (awaitedFrame, aheadLimit) = (awaited, limit) }
    let order = mailbox.wait { mailbox -> Order? in
      if mailbox.isClosed { return .close }
      limit = mailbox.aheadLimit
      if mailbox.job != nil { awaited = nil }
      if let frame = mailbox.awaitedFrame, mailbox.job == nil { (awaited, mailbox.awaitedFrame) = (frame, nil) }
      if let job = mailbox.job {
        mailbox.job = nil
        mailbox.reader = nil
        return .start(job)
      }
      if mailbox.isDirty {
        mailbox.isDirty = false
        return .look(mailbox.plan, generation: mailbox.planGeneration)
      }
      if canProgress { return .goOn }
      guard let idleCount, idleCount != mailbox.requestCount else { return nil }
      return .tellIdle(requestCount: mailbox.requestCount)
    }
    return order ?? .close
  }

  /// Takes a plan, which may be the same again; what was begun, or failed, since it was made is passed over.
  private func adopt(_ newPlan: DecodePipeline.Plan) {
    plan = newPlan
    next = nil
    while begunBeforeTaken < newPlan.begunCount, !taken.isEmpty {
      if taken.removeFirst().hasBegun { begunBeforeTaken += 1 }
    }
    for (pass, hasBegun) in taken {
      if plan.passes.first?.pass == pass {
        plan.passes.removeFirst()
      } else if hasBegun {
        // Something else is wanted instead of what has begun. Once the engine knows that, it cuts it off.
        plan.passes = []
        break
      }
    }
    guard newPlan.begunCount == begunCount, let item, let pass = current?.pass, pass.end != newPlan.currentEnd else {
      return
    }
    current?.pass.end = newPlan.currentEnd
    if !setEnd(newPlan.currentEnd, of: item), let job {
      current?.pass.end = nil
      report(.overran(generation: job.generation, index: begunCount - 1))
    }
  }

  // MARK: - A generation

  private func start(_ job: DecodePipeline.Job) {
    let rest = rest(for: job)
    self.job = job
    plan = DecodePipeline.Plan()
    begunCount = 1
    isPrepared = false
    hasRested = false
    awaitedFrame = nil
    endedFrame = nil
    untold = nil
    next = nil
    taken = []
    begunBeforeTaken = 1
    let writer = StreamWriter(stream: job.stream, format: job.format, playbackRate: job.start.rate)
    self.writer = writer
    current = (job.start.pass, 0)
    canProgress = true
    preparation = Preparation(beganAt: now())
    if job.start.isSilence {
      preparation.time = job.start.time
      return writer.beginSilence(itemID: job.source.itemID, at: job.start.time)
    }
    do throws(MediaError) {
      let decoder = try open(job.source, isPlanned: false)
      preparation.opened(at: now())
      preparation.time = try job.source.recorder.whileOpening(job.source.itemID) { () throws(MediaError) in
        try writer.start(with: decoder, at: job.start, restOf: rest)
      }
      reportLevel(job, writer)
      let timings = decoder.reader?.lastSeekTimings ?? SeekTimings()
      preparation.sought(
        at: now(), indexNanoseconds: timings.indexNanoseconds, demuxNanoseconds: timings.demuxNanoseconds)
      preparation.sourceRateHz = decoder.format.sampleRateHz
      preparation.positionDoubt = decoder.reader?.positionDoubt
      // An end before the place where a seek landed ends the pass at once.
      if !setEnd(job.start.end, of: decoder) { decoder.endHere() }
    } catch {
      item = nil
      current = nil
      canProgress = false
      fail(job.source.itemID, error)
    }
  }

  /// What a job goes on with, when that is a pass of the present one.
  private func rest(for job: DecodePipeline.Job) -> Conversion.Rest? {
    guard let splice = job.splice, splice.passID.generation == self.job?.generation, let writer,
      writer.playbackRate == job.start.rate
    else { return nil }
    return writer.rest(ofPass: splice.passID.index, fromStreamFrame: splice.streamFrame)
  }

  /// The decoder for a source: the one that is open already when it is the same track of the same item again.
  private func open(_ source: DecodePipeline.Source, isPlanned: Bool) throws(MediaError) -> ItemDecoder {
    mailbox.withState { mailbox in
      mailbox.opening = (source.itemID, source.opening, isPlanned)
      // A job that came in between has cancelled nothing.
      if mailbox.isClosed || mailbox.job.map({ $0.source.itemID != source.itemID }) ?? false { source.opening.cancel() }
    }
    defer { mailbox.withState { $0.opening = nil } }
    if let item, item.plays(source) {
      item.setLevel(source.level, source.opening)
      item.setReversed(isReverse)
      item.resetCancellation()
      offerForCancellation(item)
      return item
    }
    item = nil
    let decoder = try source.recorder.whileOpening(source.itemID) { () throws(MediaError) in
      let decoder = try openDecoder(source)
      decoder.setLevel(source.level, source.opening)
      return decoder
    }
    item = decoder
    decoder.setReversed(isReverse)
    offerForCancellation(decoder)
    report(.loaded(itemID: source.itemID, decoder.properties, sampleRateHz: decoder.format.sampleRateHz))
    return decoder
  }

  private func offerForCancellation(_ decoder: ItemDecoder) {
    mailbox.withState { mailbox in
      mailbox.reader = decoder.reader
      // A job that came while the file was being opened interrupts this one.
      if mailbox.job != nil || mailbox.isClosed { decoder.reader?.cancel() }
    }
  }

  /// An item that is not heard at all; nothing when it was only interrupted.
  private func fail(_ itemID: PlayerItem.ID, _ error: MediaError) {
    guard let job, error.code != .cancelled else { return }
    report(.failed(generation: job.generation, itemID: itemID, error))
  }

  /// Decodes one piece, or goes on to the next pass.
  private func step() {
    guard let job, let writer else {
      canProgress = false
      return
    }
    guard hasRoom(job, writer) else {
      canProgress = false
      job.stream.requestRoomWakeup()
      // Room may have appeared before the request.
      if hasRoom(job, writer) { canProgress = true } else { reportRest(job) }
      return
    }
    guard let pass = current?.pass else { return goOn(job, writer) }
    guard !pass.isSilence, let item else {
      writer.writeSilence()
      return didWrite(job)
    }
    do throws(MediaError) {
      switch try write(from: item, job, writer) {
      case .written:
        reportLevel(job, writer)
        reportFaults(item)
        didWrite(job)
      case .ended: finishPass(job, writer, item, error: nil)
      case .cancelled: canProgress = false
      }
    } catch {
      finishPass(job, writer, item, error: error)
    }
  }

  /// Decodes one piece. While the pass is at its beginning the item is recorded as being opened: damage shows itself there.
  private func write(
    from item: ItemDecoder, _ job: DecodePipeline.Job, _ writer: StreamWriter
  ) throws(MediaError) -> StreamWriter.WriteResult {
    let isAtBeginning = current.map { writer.endFrame - $0.startFrame < Int64(job.format.sampleRateHz / 5) } ?? false
    guard isAtBeginning else { return try writer.write(from: item) }
    return try job.source.recorder.whileOpening(item.itemID) { () throws(MediaError) in try writer.write(from: item) }
  }

  /// 200 ms: a device takes about 100 ms at once when a stream is committed, and starves if they are not there. Less would
  /// gain little: the second half costs 0.1 ms to decode (FLAC, MP3, Opus) and 1 ms to resample (`explain`).
  private func didWrite(_ job: DecodePipeline.Job) {
    reportExtension(job)
    hasRested = false
    reportAwaited(isOver: false)
    if job.stream.writtenFrame >= Int64(job.format.sampleRateHz / 5) { reportPrepared(job) }
    // What follows is for later, what was prepared is for now: whoever brings it to the device goes first, here and in the
    // sound server, though decoding seconds of sound takes less than a slice of the scheduler's time.
    sched_yield()
  }

  /// Whether there is room for more, and more is wanted.
  private func hasRoom(_ job: DecodePipeline.Job, _ writer: StreamWriter) -> Bool {
    guard writer.hasRoom else { return false }
    guard isPrepared, let aheadLimit else { return true }
    // The wish for room is heard when half of the ring is free.
    let limit = max(aheadLimit, job.stream.capacityFrames / 2 + job.format.sampleRateHz / 4)
    return job.stream.writtenFrame - job.stream.releasedFrame < Int64(limit)
  }

  /// The thread is about to sleep until somebody has something to do for it.
  private func reportRest(_ job: DecodePipeline.Job) {
    guard !hasRested else { return }
    hasRested = true
    report(.rested(generation: job.generation))
    reportAwaited(isOver: true)
  }

  /// Tells that as much has been written as somebody waits for, or that no more comes.
  private func reportAwaited(isOver: Bool) {
    guard let job, let frame = awaitedFrame, isOver || hasRested || job.stream.writtenFrame >= frame else { return }
    awaitedFrame = nil
    report(.keepsUp(generation: job.generation))
  }

  private func reportPrepared(_ job: DecodePipeline.Job) {
    guard !isPrepared else { return }
    isPrepared = true
    preparation.prepared(at: now(), resampleNanoseconds: writer?.convertNanoseconds ?? 0)
    report(.prepared(generation: job.generation, preparation, trim: startTrim(job.start.pass)))
  }

  private func reportLevel(_ job: DecodePipeline.Job, _ writer: StreamWriter) {
    guard let level = writer.takeLevel() else { return }
    report(.levelled(generation: job.generation, itemID: level.itemID, gain: level.gain))
  }

  private func startTrim(_ pass: Pass) -> EdgeTrim {
    let isWhole = pass.start == job?.start.rate.itemStart
    return isWhole && !pass.isSilence ? item?.startTrim ?? .none : .none
  }

  /// Whether the present job plays backwards.
  private var isReverse: Bool { job?.start.rate.isReverse ?? false }

  /// As `ItemDecoder.setEnd`, at a time of the item as it is.
  private func setEnd(_ time: MediaTime?, of item: ItemDecoder) -> Bool {
    item.setEnd(time.map { job?.start.rate.growing($0) ?? $0 })
  }

  /// Tells that the stream goes on behind its end, once there is something behind it.
  private func reportExtension(_ job: DecodePipeline.Job) {
    if let frame = endedFrame, job.stream.writtenFrame > frame {
      endedFrame = nil
      report(.extended(generation: job.generation, streamFrame: frame))
    }
    if let report = untold {
      untold = nil
      self.report(report)
    }
  }

  private func reportFaults(_ item: ItemDecoder) {
    if let skipped = item.takeSkippedPackets() {
      report(.packetsSkipped(itemID: item.itemID, time: skipped.time, count: skipped.count, skipped.error))
    }
    if let job {
      for title in item.takeTitles() {
        report(
          .titled(
            generation: job.generation, streamFrame: job.stream.writtenFrame, itemID: item.itemID, time: title.time,
            title.title))
      }
      for (group, laterFrames) in item.takeTimedMetadata() {
        let seconds = Double(laterFrames) / Double(item.format.sampleRateHz)
        let rate = Double(job.start.rate.millionths.magnitude) / 1_000_000
        let frames = Int64(seconds / rate * Double(job.format.sampleRateHz))
        report(
          .timedMetadata(
            generation: job.generation, streamFrame: max(0, job.stream.writtenFrame - frames), itemID: item.itemID,
            group))
      }
    }
    while let warning = item.takeWarning() {
      report(.warned(itemID: item.itemID, time: warning.time, warning.error))
    }
  }

  // MARK: - From pass to pass

  /// Tells the end of a pass before anything is done for the next one, whose file may be slow to open.
  private func finishPass(
    _ job: DecodePipeline.Job, _ writer: StreamWriter, _ finished: ItemDecoder, error: MediaError?
  ) {
    guard let (pass, startFrame) = current else { return }
    reportFaults(finished)
    if let properties = finished.refineDuration() { report(.refined(itemID: finished.itemID, properties)) }
    reportExtension(job)
    current = nil
    if let error, begunCount == 1, !isPrepared, writer.endFrame == 0 {
      canProgress = false
      item = nil
      return fail(finished.itemID, error)
    }
    reportPrepared(job)
    report(
      .ended(
        generation: job.generation,
        DecodePipeline.End(
          index: begunCount - 1, end: pass.end, streamFrame: writer.endFrame,
          frameCount: writer.endFrame - startFrame, trim: pass.end == nil ? finished.endTrim : .none, error: error)))
  }

  /// Begins the next pass of the plan that can be begun, or ends the stream.
  private func goOn(_ job: DecodePipeline.Job, _ writer: StreamWriter) {
    do throws(MediaError) {
      guard let pass = next ?? takeNext(job) else { return try endStream(job, writer) }
      next = pass
      if pass.isSilence {
        guard try writer.finish() else { return }
        writer.beginSilence(itemID: pass.itemID, at: nil)
      } else if let item {
        // What of the last conversion finds no room is written when there is some.
        if !writer.canFollowOn(item) { guard try writer.finish() else { return } }
        try writer.begin(item, at: pass.start)
        if !setEnd(pass.end, of: item) { item.endHere() }
      }
      begin(pass, job, writer)
      reportLevel(job, writer)
    } catch {
      // The pass's sound cannot be put into the stream.
      if let pass = next { failed(pass, error) }
      next = nil
    }
  }

  /// A planned pass cannot be begun.
  private func failed(_ pass: Pass, _ error: MediaError) {
    taken.append((pass, false))
    fail(pass.itemID, error)
  }

  private func isFarAhead(_ job: DecodePipeline.Job) -> Bool {
    job.stream.writtenFrame - job.stream.releasedFrame > Int64(job.format.sampleRateHz)
  }

  private func begin(_ pass: Pass, _ job: DecodePipeline.Job, _ writer: StreamWriter) {
    next = nil
    current = (pass, writer.endFrame)
    begunCount += 1
    taken.append((pass, true))
    let began = DecodePipeline.Report.began(generation: job.generation, pass, trim: startTrim(pass))
    if endedFrame == nil { report(began) } else { untold = began }
  }

  /// The next pass of the plan, its item opened and at its beginning; nil when there is none, or it was interrupted.
  private func takeNext(_ job: DecodePipeline.Job) -> Pass? {
    while !plan.passes.isEmpty {
      let planned = plan.passes.removeFirst()
      if planned.pass.isSilence { return planned.pass }
      do throws(MediaError) {
        let decoder = try open(planned.source, isPlanned: true)
        _ = try planned.source.recorder.whileOpening(planned.source.itemID) { () throws(MediaError) in
          try decoder.seek(to: job.start.rate.growing(planned.pass.start), before: .zero, after: .zero)
        }
        return planned.pass
      } catch {
        item = nil
        if error.code == .cancelled { return nil }
        failed(planned.pass, error)
      }
    }
    return nil
  }

  /// All passes of the plan are in the stream.
  ///
  /// What a filter holds back is kept as long as there is time, for a pass of the same format may be added yet and is to
  /// share the filter. A second of sound is more than any device holds of what was rendered.
  private func endStream(_ job: DecodePipeline.Job, _ writer: StreamWriter) throws(MediaError) {
    canProgress = false
    guard plan.isKnown else { return }
    if writer.holdsBack, isFarAhead(job) {
      job.stream.requestRoomWakeup()
      if isFarAhead(job) { return reportRest(job) }
    }
    guard try writer.finish() else {
      canProgress = true
      return
    }
    if let frame = endedFrame, frame == job.stream.writtenFrame { return reportRest(job) }
    job.stream.end()
    endedFrame = job.stream.writtenFrame
    reportRest(job)
  }
}
