import MediaAssets
import MediaCore
import RealtimeAudio

/// The decode thread of a player: opens items, decodes them one after another into a `RenderStream`, and tells the
/// engine what it did.
///
/// It works on one generation at a time, from its start on through its plan, as far ahead as the stream holds. It
/// sleeps when the stream is full (render asks for more), when the plan is done, and when there is nothing to do.
///
/// Threading: `prepare`, `setPlan`, `roomAppeared` and `close` from the control loop; they never block. `report` is
/// called on the pipeline's thread.
final class DecodePipeline: Sendable {
  /// What is to be decoded.
  struct Source: Sendable {
    var itemID: PlayerItem.ID
    var asset: Asset
  }

  struct Job: Sendable {
    var generation: UInt64
    var source: Source
    var start: PlayerStateMachine.Start
    var stream: RenderStream
    var format: AudioFormat
  }

  struct Plan: Sendable {
    /// How many items of the generation had begun when this was planned.
    var begunCount = 0
    var sources: [Source] = []
    var endsInSilence = false
  }

  /// What happened, in order. `streamFrame` counts in the stream of the generation.
  enum Report: Sendable {
    case loaded(itemID: PlayerItem.ID, AssetProperties)
    /// The end of the item's sound has been read: its duration is no estimate any more.
    case refined(itemID: PlayerItem.ID, AssetProperties)
    /// The item could not be opened, or a seek in it not be carried out; nothing of it is in the stream.
    case failed(generation: UInt64, itemID: PlayerItem.ID, MediaError)
    /// The first samples are there, and begin at `time`.
    case prepared(generation: UInt64, time: MediaTime)
    /// An item of the plan began.
    case began(generation: UInt64, itemID: PlayerItem.ID)
    /// All of the item is in the stream; `error` when it broke off.
    case ended(generation: UInt64, itemID: PlayerItem.ID, streamFrame: Int64, MediaError?)
    /// More was written behind frame `streamFrame`, at which the stream had been ended.
    case extended(generation: UInt64, streamFrame: Int64)
    case packetsSkipped(itemID: PlayerItem.ID, time: MediaTime, count: Int, MediaError)
    /// Something is wrong with the file, though it plays.
    case warned(itemID: PlayerItem.ID, time: MediaTime, MediaError)
    /// Samples were written. Only with `reportsProgress`.
    case progressed
  }

  struct Mailbox {
    /// The newest job; replaced by `prepare`, taken by the thread.
    var job: Job?
    var plan = Plan()
    var planGeneration: UInt64 = 0
    /// Something changed since the thread last looked.
    var isDirty = false
    var isClosed = false
    /// What a `prepare` interrupts.
    var reader: AudioTrackReader?
  }

  private let mailbox = WakeSignal(Mailbox())

  /// `reportsProgress`: tell about every piece that was written, for clocks that wait for decoders.
  init(name: String, reportsProgress: Bool, report: @escaping @Sendable (Report) -> Void) {
    let mailbox = mailbox
    NamedThread.detached(name: "decode-\(name)") {
      DecodeWorker(mailbox: mailbox, reportsProgress: reportsProgress, report: report).run()
    }
  }

  /// Drops what is being decoded and begins `job`, whose plan is empty.
  func prepare(_ job: Job) {
    mailbox.update { mailbox in
      mailbox.job = job
      mailbox.plan = Plan()
      mailbox.planGeneration = job.generation
      mailbox.isDirty = true
      mailbox.reader?.cancel()
    }
  }

  /// Says what follows in the present generation.
  func setPlan(_ plan: Plan, generation: UInt64) {
    mailbox.update { mailbox in
      mailbox.plan = plan
      mailbox.planGeneration = generation
      mailbox.isDirty = true
    }
  }

  /// There is room in the stream again.
  func roomAppeared() { mailbox.update { $0.isDirty = true } }

  /// Ends the thread; a read that blocks is interrupted. Does not wait.
  func close() {
    mailbox.update { mailbox in
      mailbox.isClosed = true
      mailbox.reader?.cancel()
    }
  }
}
