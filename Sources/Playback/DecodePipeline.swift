import MediaAssets
import MediaCore
import NetworkIO
import RealtimeAudio

/// The decode thread of a player: opens items, decodes them one after another into a `RenderStream`, and tells the
/// engine what it did.
///
/// It works on one generation at a time, from its start on through its plan, as far ahead as the stream holds: that is
/// what look-ahead is measured in, however short the items are. It sleeps when the stream is full (render asks for more
/// when half of it is free), when the plan is done, and when there is nothing to do.
///
/// Threading: `prepare`, `setPlan`, `roomAppeared` and `close` from the control loop; they never block. `report` is
/// called on the pipeline's thread.
final class DecodePipeline: Sendable {
  /// What is to be decoded.
  struct Source: Sendable {
    var itemID: PlayerItem.ID
    var asset: Asset
    /// The part of the asset that the item is; nil: all of it.
    var timeRange: TimeRange?
    var audioMix: AudioMixSlot
    var timePitch: TimePitchSlot
    /// Which of its tracks.
    var mediaSelection = MediaSelectionSlot()
    /// How loud it is to be.
    var level = LevelPolicy()
    /// How opening it is given up, and where is noted what the network does for it.
    var opening = AssetOpening()
    /// Records that the item is being opened, and its beginning decoded.
    var recorder = OpeningRecorder()
  }

  struct Job: Sendable {
    var generation: UInt64
    var source: Source
    var start: PlayerStateMachine.Start
    var stream: RenderStream
    var format: AudioFormat
    /// Where it takes over; nil: from nothing that it would be the rest of.
    var splice: SplicePlace?
  }

  /// The end of a pass in its stream, where another stream takes over.
  struct SplicePlace: Sendable {
    var passID: PassID
    var streamFrame: Int64
  }

  /// A pass that is planned.
  struct PlannedPass: Sendable {
    var pass: Pass
    var source: Source
  }

  struct Plan: Sendable {
    /// How many passes of the generation had begun when this was planned.
    var begunCount = 0
    /// Where the newest of those ends.
    var currentEnd: MediaTime?
    var passes: [PlannedPass] = []
    /// Whether the engine has said so. Until it has, nothing ends the stream: something may be about to follow.
    var isKnown = true
  }

  /// The end of a pass in the stream of its generation.
  struct End: Sendable {
    var index: Int
    /// Where the pass was to end: it may have been told otherwise since.
    var end: MediaTime?
    /// The frame at or behind its exact end.
    var streamFrame: Int64
    /// From its first frame to its end.
    var frameCount: Int64
    /// What was cut off behind the item's end; nothing when the pass ended before.
    var trim = EdgeTrim.none
    /// Why it broke off.
    var error: MediaError?
  }

  /// What happened, in order. `streamFrame` counts in the stream of the generation.
  enum Report: Sendable {
    /// An item was opened; its sound has `sampleRateHz`.
    case loaded(itemID: PlayerItem.ID, AssetProperties, sampleRateHz: Int)
    /// The end of the item's sound has been read: its duration is no estimate any more.
    case refined(itemID: PlayerItem.ID, AssetProperties)
    /// The item could not be opened, or a seek in it not be carried out; nothing of it is in the stream.
    case failed(generation: UInt64, itemID: PlayerItem.ID, MediaError)
    /// The first samples are there; `trim` was cut off before the item's beginning.
    case prepared(generation: UInt64, Preparation, trim: EdgeTrim)
    /// A pass of the plan began.
    case began(generation: UInt64, Pass, trim: EdgeTrim)
    /// All of the pass is in the stream, but for what a filter still holds.
    case ended(generation: UInt64, End)
    /// The pass was to end where it has been decoded beyond already: it goes on to the item's end.
    case overran(generation: UInt64, index: Int)
    /// More was written behind frame `streamFrame`, at which the stream had been ended.
    case extended(generation: UInt64, streamFrame: Int64)
    case packetsSkipped(itemID: PlayerItem.ID, time: MediaTime, count: Int, MediaError)
    /// The stream said what it plays, from `time` on, which is about at `streamFrame`.
    case titled(generation: UInt64, streamFrame: Int64, itemID: PlayerItem.ID, time: MediaTime, StreamTitle)
    /// The stream says something else that holds from about `streamFrame` on.
    case timedMetadata(generation: UInt64, streamFrame: Int64, itemID: PlayerItem.ID, TimedMetadataGroup)
    /// The item is in the stream with this gain.
    case levelled(generation: UInt64, itemID: PlayerItem.ID, gain: Float)
    /// Something is wrong with the file, though it plays.
    case warned(itemID: PlayerItem.ID, time: MediaTime, MediaError)
    /// The frame that `report(reaching:)` asked for has been written, or nothing more comes.
    case keepsUp(generation: UInt64)
    /// As much has been decoded as is wanted, or everything: the thread sleeps.
    case rested(generation: UInt64)
    /// Nothing is left to do of the first `requestCount` requests, and all that came of them has been reported. Only with
    /// `reportsIdling`.
    case idle(requestCount: UInt64)
  }

  struct Mailbox {
    /// The newest job; replaced by `prepare`, taken by the thread.
    var job: Job?
    var plan = Plan()
    var planGeneration: UInt64 = 0
    /// Something changed since the thread last looked.
    var isDirty = false
    var isClosed = false
    /// The frame whose being written is to be reported, in the stream of `planGeneration`.
    var awaitedFrame: Int64?
    /// How many frames ahead of those that have been heard are decoded; nil: as many as the stream holds.
    var aheadLimit: Int?
    /// What a `prepare` interrupts.
    var reader: AudioTrackReader?
    /// What is being opened, and whether it is for the plan, not for a job.
    var opening: (itemID: PlayerItem.ID, opening: AssetOpening, isPlanned: Bool)?
    /// How often the thread has been told something.
    var requestCount: UInt64 = 0

    /// Has the thread look at what is said here.
    mutating func request() {
      isDirty = true
      requestCount += 1
    }
  }

  private let mailbox = WakeSignal(Mailbox())

  /// - Parameters:
  ///   - reportsIdling: tell whenever nothing is left to do, for clocks that wait for decoders.
  ///   - now: the clock by which preparations are measured, from any thread.
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

  /// Drops what is being decoded and begins `job`. What follows is said by `setPlan`, which must come once at least.
  func prepare(_ job: Job) {
    mailbox.update { mailbox in
      mailbox.job = job
      mailbox.awaitedFrame = nil
      mailbox.plan = Plan(begunCount: 1, currentEnd: job.start.end, isKnown: false)
      mailbox.planGeneration = job.generation
      mailbox.request()
      mailbox.reader?.cancel()
      // A server may be slow to answer. The same item is not asked for anew.
      if let opening = mailbox.opening, opening.itemID != job.source.itemID { opening.opening.cancel() }
    }
  }

  /// Says what follows in the present generation.
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

  /// Asks for one report once frame `frame` of the present generation's stream has been written.
  func report(reaching frame: Int64) {
    mailbox.update { mailbox in
      mailbox.awaitedFrame = frame
      mailbox.request()
    }
  }

  /// Decodes so many frames ahead; nil: as many as the stream holds.
  func setAheadLimit(_ frameCount: Int?) {
    mailbox.update { mailbox in
      guard mailbox.aheadLimit != frameCount else { return }
      mailbox.aheadLimit = frameCount
      mailbox.request()
    }
  }

  /// There is room in the stream again.
  func roomAppeared() { mailbox.update { $0.request() } }

  /// How many requests there have been; the thread has come to their end when it reports so many (`Report.idle`).
  var requestCount: UInt64 { mailbox.withState { $0.requestCount } }

  /// Ends the thread; a read that blocks is interrupted. Does not wait.
  func close() {
    mailbox.update { mailbox in
      mailbox.isClosed = true
      mailbox.reader?.cancel()
      mailbox.opening?.opening.cancel()
    }
  }
}
