import MediaAssets
import MediaCore
import RealtimeAudio

/// What runs on a decode thread. See `DecodePipeline`.
final class DecodeWorker {
  private let mailbox: WakeSignal<DecodePipeline.Mailbox>
  private let reportsProgress: Bool
  private let report: @Sendable (DecodePipeline.Report) -> Void

  private var job: DecodePipeline.Job?
  private var plan = DecodePipeline.Plan()
  private var begunCount = 0
  private var item: ItemDecoder?
  private var writer: StreamWriter?
  private var isPrepared = false
  private var startTime = MediaTime.zero
  /// Where the stream was ended, while nothing has been written behind it.
  private var endedFrame: Int64?
  /// An item that began behind the end of the stream, and has not been told because nothing of it has been written.
  private var untoldItem: PlayerItem.ID?
  /// Whether there is something to do without being told.
  private var canProgress = false

  private enum Order {
    case close
    case start(DecodePipeline.Job)
    case look(DecodePipeline.Plan, generation: UInt64)
    case goOn
  }

  init(
    mailbox: WakeSignal<DecodePipeline.Mailbox>, reportsProgress: Bool,
    report: @escaping @Sendable (DecodePipeline.Report) -> Void
  ) {
    self.mailbox = mailbox
    self.reportsProgress = reportsProgress
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
      case .goOn: step()
      }
    }
  }

  private func nextOrder() -> Order {
    let canProgress = canProgress
    let order = mailbox.wait { mailbox -> Order? in
      if mailbox.isClosed { return .close }
      if let job = mailbox.job {
        mailbox.job = nil
        mailbox.isDirty = false
        mailbox.reader = nil
        return .start(job)
      }
      if mailbox.isDirty {
        mailbox.isDirty = false
        return .look(mailbox.plan, generation: mailbox.planGeneration)
      }
      return canProgress ? .goOn : nil
    }
    return order ?? .close
  }

  /// Takes a newer plan; what was begun since it was made is passed over.
  private func adopt(_ newPlan: DecodePipeline.Plan) {
    plan = newPlan
    plan.sources.removeFirst(min(plan.sources.count, max(0, begunCount - newPlan.begunCount)))
  }

  // MARK: - A generation

  private func start(_ job: DecodePipeline.Job) {
    self.job = job
    plan = DecodePipeline.Plan()
    begunCount = 1
    isPrepared = false
    endedFrame = nil
    untoldItem = nil
    canProgress = false
    writer = StreamWriter(stream: job.stream, format: job.format)
    do throws(MediaError) {
      let decoder = try open(job.source)
      startTime = try decoder.seek(
        to: job.start.time, before: job.start.toleranceBefore, after: job.start.toleranceAfter)
      try writer?.begin(itemID: job.source.itemID, time: startTime, source: decoder.format)
      item = decoder
      canProgress = true
    } catch {
      item = nil
      fail(job.source.itemID, error)
    }
  }

  /// The decoder for a source: the one that is open already when it is the same item again.
  private func open(_ source: DecodePipeline.Source) throws(MediaError) -> ItemDecoder {
    if let item, item.itemID == source.itemID {
      item.resetCancellation()
      offerForCancellation(item)
      return item
    }
    item = nil
    let decoder = try ItemDecoder(source)
    offerForCancellation(decoder)
    report(.loaded(itemID: source.itemID, decoder.properties))
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
    canProgress = false
    guard let job, error.code != .cancelled else { return }
    report(.failed(generation: job.generation, itemID: itemID, error))
  }

  /// Decodes one piece.
  private func step() {
    guard let job, let writer else {
      canProgress = false
      return
    }
    guard writer.hasRoom else {
      canProgress = false
      job.stream.requestRoomWakeup()
      // Room may have appeared before the request.
      if writer.hasRoom { canProgress = true }
      return
    }
    do throws(MediaError) {
      guard let item else { return endStream(job, writer) }
      switch try writer.write(from: item) {
      case .written:
        reportExtension(job)
        reportFaults(item)
        if reportsProgress { report(.progressed) }
        prepareIfReady(job)
      case .ended: try finishItem(item, error: nil)
      case .cancelled: canProgress = false
      }
    } catch {
      finish(after: error)
    }
  }

  private func finish(after error: MediaError) {
    guard let item else { return fail(job?.source.itemID ?? 0, error) }
    do throws(MediaError) { try finishItem(item, error: error) } catch { fail(item.itemID, error) }
  }

  private func prepareIfReady(_ job: DecodePipeline.Job) {
    guard !isPrepared, job.stream.writtenFrame >= Int64(job.format.sampleRateHz / 5) else { return }
    reportPrepared(job)
  }

  private func reportPrepared(_ job: DecodePipeline.Job) {
    guard !isPrepared else { return }
    isPrepared = true
    report(.prepared(generation: job.generation, time: startTime))
  }

  /// Tells that the stream goes on behind its end, once there is something behind it.
  private func reportExtension(_ job: DecodePipeline.Job) {
    if let frame = endedFrame, job.stream.writtenFrame > frame {
      endedFrame = nil
      report(.extended(generation: job.generation, streamFrame: frame))
    }
    if let id = untoldItem {
      untoldItem = nil
      report(.began(generation: job.generation, itemID: id))
    }
  }

  private func reportFaults(_ item: ItemDecoder) {
    if let skipped = item.takeSkippedPackets() {
      report(.packetsSkipped(itemID: item.itemID, time: skipped.time, count: skipped.count, skipped.error))
    }
    while let warning = item.takeWarning() {
      report(.warned(itemID: item.itemID, time: warning.time, warning.error))
    }
  }

  // MARK: - From item to item

  private func finishItem(_ finished: ItemDecoder, error: MediaError?) throws(MediaError) {
    guard let job, let writer else { return }
    reportFaults(finished)
    if let properties = finished.refineDuration() { report(.refined(itemID: finished.itemID, properties)) }
    item = nil
    reportExtension(job)
    let isFirst = begunCount == 1
    if let error, isFirst, !isPrepared, job.stream.writtenFrame == 0 {
      return fail(finished.itemID, error)
    }
    let next = openNext()
    let endFrame = try writer.endItem(next: next?.format)
    if isFirst { reportPrepared(job) }
    report(.ended(generation: job.generation, itemID: finished.itemID, streamFrame: endFrame, error))
    guard let next, begin(next, job, writer) else { return }
    report(.began(generation: job.generation, itemID: next.itemID))
  }

  /// Goes on with an item that was opened; false when its sound cannot be put into the stream, which is told.
  private func begin(_ next: ItemDecoder, _ job: DecodePipeline.Job, _ writer: StreamWriter) -> Bool {
    do throws(MediaError) {
      try writer.begin(itemID: next.itemID, time: .zero, source: next.format)
    } catch {
      report(.failed(generation: job.generation, itemID: next.itemID, error))
      return false
    }
    begunCount += 1
    item = next
    return true
  }

  /// Opens the next item of the plan that can be opened.
  private func openNext() -> ItemDecoder? {
    guard let job else { return nil }
    while !plan.sources.isEmpty {
      let source = plan.sources.removeFirst()
      do throws(MediaError) {
        let decoder = try open(source)
        _ = try decoder.seek(to: .zero, before: .zero, after: .zero)
        return decoder
      } catch {
        if error.code == .cancelled { return nil }
        report(.failed(generation: job.generation, itemID: source.itemID, error))
      }
    }
    return nil
  }

  /// All items of the plan are in the stream.
  private func endStream(_ job: DecodePipeline.Job, _ writer: StreamWriter) {
    if let next = openNext() {
      if begin(next, job, writer) { untoldItem = next.itemID }
      return
    }
    if plan.endsInSilence {
      writer.writeSilence()
      reportExtension(job)
      if reportsProgress { report(.progressed) }
      return
    }
    canProgress = false
    if let frame = endedFrame, frame == job.stream.writtenFrame { return }
    job.stream.end()
    endedFrame = job.stream.writtenFrame
    if reportsProgress { report(.progressed) }
  }
}
