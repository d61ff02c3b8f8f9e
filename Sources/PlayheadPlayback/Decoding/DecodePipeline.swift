import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The decode thread of a player. It opens items, decodes them one after another into a `RenderStream`, and reports its
/// work to the engine.
///
/// The thread decodes one generation at a time, from the generation's first pass through its plan, and finishes the
/// former streams that this one follows. It decodes ahead until the stream is full, across as many items as fit.
/// The thread sleeps when the stream is full, when the plan is done, and when there is no job. The sink's side requests
/// more audio when half of the stream is free.
///
/// Threading: all methods are called on the control loop and never block. `open` and `report` are called on the decode
/// thread.
final class DecodePipeline: Sendable {
  /// An item to decode.
  struct Source: Sendable {
    var itemID: PlayerItem.ID
    var asset: Asset
    /// The part of the asset that forms the item; nil: the whole asset.
    var timeRange: TimeRange?
    var audioMix: AudioMixSlot
    var timePitch: TimePitchSlot
    var audioProcessors = AudioProcessorSlot()
    /// The choice of the item's tracks.
    var mediaSelection = MediaSelectionSlot()
    /// The inputs of the gain, except the tags.
    var gainPolicy = GainPolicy()
    /// The open operation, which can be cancelled and logs its network events.
    var opening = AssetOpening()
    /// Records while the item is being opened, or its beginning decoded.
    var openingRecorder = OpeningRecorder()
  }

  /// The work for one generation.
  struct Job: Sendable {
    var generation: UInt64
    var source: Source
    var request: PlayerStateMachine.DecodeRequest
    var stream: RenderStream
    var format: AudioFormat
    /// The end of the pass that the job's stream follows in another stream; nil: it follows none.
    var splice: SplicePosition?
    /// The end of the previous item, if the stream begins in a cross-fade; nil: it does not.
    var outgoing: Outgoing?
    /// The cross-fade with the next pass, until the plan is set; nil: none.
    var crossfade: Crossfade?
  }

  /// The end of an item in a cross-fade, which is decoded again for another stream.
  struct Outgoing: Sendable {
    var source: Source
    /// The time of the item at the beginning of the stream.
    var time: MediaTime
    /// The time at which the item ends; nil: its own end.
    var end: MediaTime?
    var crossfade: Crossfade
    /// The number of frames of the cross-fade before the stream begins.
    var elapsedFrameCount: Int64 = 0
    /// The length of the whole overlap in frames.
    var frameCount: Int64
  }

  /// The end of a pass in its stream, where another stream follows.
  struct SplicePosition: Sendable {
    var passID: PassID
    var streamFrame: Int64
    /// Whether the following stream begins with the rest of the same pass.
    var continuesPass: Bool
  }

  /// A pass of the plan.
  struct PlannedPass: Sendable {
    var pass: Pass
    var source: Source
  }

  /// The passes that follow the first pass of a generation.
  struct Plan: Sendable {
    /// The number of passes of the generation that had begun when this plan was made.
    var begunCount = 0
    /// The end of the newest of those passes.
    var currentEnd: MediaTime?
    var passes: [PlannedPass] = []
    /// The cross-fade with a pass that may follow; nil: none.
    var crossfade: Crossfade?
    /// Whether the control loop has set the plan. Until then the stream is not ended, because another pass may follow.
    var isSet = true
  }

  /// The end of a pass in the stream of its generation.
  struct PassEnd: Sendable {
    var index: Int
    /// The planned end of the pass. The plan may have changed since.
    var end: MediaTime?
    /// The first frame at or after the exact end.
    var streamFrame: Int64
    /// The number of frames from the first frame of the pass to its end.
    var frameCount: Int64
    /// The audio that was trimmed after the item's end; `none` if the pass ended earlier.
    var trim = EdgeTrim.none
    /// The reason why the pass broke off.
    var error: MediaError?
  }

  /// The beginning of a pass in a cross-fade with the previous pass.
  struct OverlapStart: Sendable {
    /// The frame at which both passes begin to be heard: the end of the previous pass in its stream.
    var streamFrame: Int64
    var frameCount: Int64
  }

  /// The events of the pipeline, in order. `streamFrame` counts in the stream of the generation.
  enum Report: Sendable {
    /// An item was opened; its audio has `sampleRateHz`.
    case loaded(itemID: PlayerItem.ID, AssetProperties, sampleRateHz: Int)
    /// The end of the item's audio has been read: its duration is exact now.
    case durationRefined(itemID: PlayerItem.ID, AssetProperties)
    /// The item could not be opened, or a seek in it failed. The stream has no audio of the item.
    case failed(generation: UInt64, itemID: PlayerItem.ID, MediaError)
    /// The first samples are decoded; `trim` was trimmed before the item's beginning. They contain `overlapFrameCount`
    /// frames of the pass before the splice.
    case prepared(generation: UInt64, Preparation, trim: EdgeTrim, overlapFrameCount: Int64)
    /// A pass of the plan began; `overlap` is nil if it did after the end of the previous one.
    case began(generation: UInt64, Pass, trim: EdgeTrim, overlap: OverlapStart?)
    /// The pass is in the stream completely, except for the frames that a filter still buffers.
    case ended(generation: UInt64, PassEnd)
    /// Audio after the requested end of the pass is already decoded. The pass continues to the item's end.
    case endAlreadyDecoded(generation: UInt64, index: Int)
    /// Audio was written after frame `streamFrame`, at which the stream had been ended.
    case extended(generation: UInt64, streamFrame: Int64)
    /// The last frames of a former stream, which another one follows, have been written.
    case finishedStream(id: UInt64)
    case packetsSkipped(itemID: PlayerItem.ID, time: MediaTime, count: Int, MediaError)
    /// The stream reported its title, which applies from `time`, at about `streamFrame`.
    case streamTitle(generation: UInt64, streamFrame: Int64, itemID: PlayerItem.ID, time: MediaTime, StreamTitle)
    /// The stream reported other metadata, which applies from about `streamFrame`.
    case timedMetadata(generation: UInt64, streamFrame: Int64, itemID: PlayerItem.ID, TimedMetadataGroup)
    /// The gain of the item was written to the stream.
    case gainApplied(generation: UInt64, itemID: PlayerItem.ID, gain: Float)
    /// The file has a fault that does not prevent playback.
    case warning(itemID: PlayerItem.ID, time: MediaTime, MediaError)
    /// The frame of `requestReport(reaching:)` has been written, or the thread sleeps before it is written.
    case reachedAwaitedFrame(generation: UInt64)
    /// The requested amount, or everything, has been decoded: the thread sleeps.
    case suspended(generation: UInt64)
    /// The first `requestCount` requests are done, and all their results have been reported. Only with `reportsIdling`.
    case idle(requestCount: UInt64)
  }

  /// The requests to the decode thread, which a lock guards.
  struct Mailbox {
    /// The newest job. `prepare` replaces it, and the thread dequeues it.
    var job: Job?
    var plan = Plan()
    var planGeneration: UInt64 = 0
    /// Whether something changed since the thread last checked.
    var isDirty = false
    var isClosed = false
    /// The frame whose writing is to be reported, in the stream of `planGeneration`.
    var awaitedFrame: Int64?
    /// The number of frames to decode ahead of the heard frame; nil: until the stream is full.
    var aheadLimit: Int?
    /// Whether the player knows that the stream has free space, and awaits the next report of a suspension.
    var isResumed = false
    /// The reader that `prepare` cancels.
    var reader: AudioTrackReader?
    /// The item that is being opened, and whether it belongs to the plan rather than to a job.
    var opening: (itemID: PlayerItem.ID, opening: AssetOpening, isPlanned: Bool)?
    /// The number of requests to the thread.
    var requestCount: UInt64 = 0

    /// Wakes the thread to read this mailbox.
    mutating func request() {
      isDirty = true
      requestCount += 1
    }
  }

  private let mailbox = ConditionMutex(Mailbox())

  /// - Parameters:
  ///   - reportsIdling: whether to report each time that no work is left, for clocks that wait for decoders.
  ///   - now: the clock for measuring preparations; called on any thread.
  ///   - open: opens an item, on the pipeline's thread; may block.
  init(
    name: String, reportsIdling: Bool, now: @escaping @Sendable () -> HostTime,
    open: @escaping @Sendable (Source) throws(MediaError) -> sending ItemDecoder = {
      source throws(MediaError) in try ItemDecoder(source)
    },
    report: @escaping @Sendable (Report) -> Void
  ) {
    let mailbox = mailbox
    NamedThread.detached(name: "decode-\(name)") {
      DecodeWorker(mailbox: mailbox, reportsIdling: reportsIdling, now: now, open: open, report: report).run()
    }
  }

  /// Discards the current job and begins `job`. At least one `setPlan` call must follow.
  func prepare(_ job: Job) {
    mailbox.update { mailbox in
      mailbox.job = job
      mailbox.awaitedFrame = nil
      mailbox.plan = Plan(
        begunCount: 1, currentEnd: job.request.end, crossfade: job.crossfade, isSet: false)
      mailbox.planGeneration = job.generation
      mailbox.request()
      mailbox.reader?.cancel()
      // Opening the same item is not cancelled: a server may be slow, and the request need not be repeated.
      if let opening = mailbox.opening, opening.itemID != job.source.itemID { opening.opening.cancel() }
    }
  }

  /// Sets the following passes of the current generation.
  func setPlan(_ plan: Plan, generation: UInt64) {
    mailbox.update { mailbox in
      mailbox.plan = plan
      mailbox.planGeneration = generation
      if let opening = mailbox.opening, opening.isPlanned, mailbox.job == nil,
        !plan.passes.contains(where: { $0.pass.itemID == opening.itemID })
      {
        opening.opening.cancel()
      }
      mailbox.request()
    }
  }

  /// Requests one report after frame `frame` of the current generation's stream has been written.
  func requestReport(reaching frame: Int64) {
    mailbox.update { mailbox in
      mailbox.awaitedFrame = frame
      mailbox.request()
    }
  }

  /// Sets the number of frames to decode ahead; nil: until the stream is full.
  func setAheadLimit(_ frameCount: Int?) {
    mailbox.update { mailbox in
      guard mailbox.aheadLimit != frameCount else { return }
      mailbox.aheadLimit = frameCount
      mailbox.request()
    }
  }

  /// Wakes the thread because the stream has free space again. It reports when it sleeps again.
  func wakeForFreeSpace() {
    mailbox.update { mailbox in
      mailbox.isResumed = true
      mailbox.request()
    }
  }

  /// The number of requests so far. The thread has finished them when it reports this number (`Report.idle`).
  var requestCount: UInt64 { mailbox.withState { $0.requestCount } }

  /// Ends the thread and interrupts a blocking read. Does not wait.
  func close() {
    mailbox.update { mailbox in
      mailbox.isClosed = true
      mailbox.reader?.cancel()
      mailbox.opening?.opening.cancel()
    }
  }
}
