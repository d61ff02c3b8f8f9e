import DequeModule
import Logging
import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The implementation of a player; `Player` and `QueuePlayer` are its public types.
///
/// A `PlayerCore` runs a `PlayerStateMachine`: the machine's actions become jobs of the decode thread and commands for
/// the mixer. Reports of the thread and the mixer become inputs of the machine. Changes are delivered to observers. A
/// `StreamChain` has the streams that the jobs fill and the mixer reads.
///
/// Files: the queue (`PlayerCore+Queue.swift`), rates (`PlayerCore+Rate.swift`), seeks (`PlayerCore+Seeking.swift`),
/// repeats, loops and transitions (`PlayerCore+Transitions.swift`), decoding (`PlayerCore+Decoding.swift`), render
/// events (`PlayerCore+Output.swift`), clock milestones (`PlayerCore+Milestones.swift`), observers
/// (`PlayerCore+Observers.swift`).
///
/// Threading: confined to the engine's control loop.
final class PlayerCore: @unchecked Sendable, OutputClient {
  // `@unchecked Sendable`: confined to the loop. Reports from other threads are moved to the loop first.
  typealias Machine = PlayerStateMachine
  typealias Generation = StreamChain.Generation
  typealias ItemEnd = StreamChain.ItemEnd

  let engine: EngineCore
  let name: String
  let logger: Logger
  var machine: Machine
  var items = ItemTable<PlayerItem>()
  /// This player's claim on `items`, and on items that are reserved for an edit.
  let ownership = QueueOwnership()
  /// The current epoch of claims; see `QueueOwnership`.
  var epoch: UInt64 = 1
  /// The large changes of the queue that another thread computes, one after another.
  var largeChanges = Deque<LargeChange>()
  /// Whether one of `largeChanges` draws the order of the next round.
  var isPreparingNextRound = false
  /// Items that left the queue and are not disconnected from the player yet.
  var departures = Departures()
  #if DEBUG
    /// The largest number of items disconnected in one turn of the loop so far. Read by tests.
    var longestDepartureSlice = 0
  #endif
  /// Played items that have left the queue, up to the length of the history. Other queues may claim them.
  var pastItems: [PlayerItem.ID: PlayerItem] = [:]
  /// The sum of `PlayerItem.descriptionByteCount` over `items`.
  var queuedByteCount = 0

  // Output.
  var timeline: PlayerTimeline
  /// The player's input of the mixer; nil without a device, or if the mixer is full.
  var inputIndex: Int?
  /// The audible, following and prepared streams.
  var chain = StreamChain()
  /// Entries that are being opened to determine their status.
  var loadingIDs: Set<PlayerItem.ID> = []
  /// The entries whose loading the engine prioritizes, in the order that was last passed to it.
  var prioritizedIDs: [PlayerItem.ID] = []
  /// The sample rates of opened items, in Hz.
  var sampleRates: [PlayerItem.ID: Int] = [:]
  /// The output frame up to which all events have been reported to observers.
  var processedFrame: Int64 = -1
  /// The earliest frame of a reported position: the frame of the last committed jump.
  var jumpFrame: Int64 = 0
  /// The position at the loss of the output, until a stream is set on the next output.
  var positionAtOutputLoss: PlayerTimeline.Position?
  var timer: (any ControlTimer)?
  /// The earliest time at which the end of the current item is reported again, while the item is at its end.
  var nextEndTime: HostTime?
  var isSchedulingMilestone = false
  /// Whether only a part of a batch of simultaneous render events has been handled.
  var isHandlingEvents = false
  /// The rate of `play`.
  var defaultRate = PlaybackRate.normal
  /// The rate of the next `play`; nil: `defaultRate`.
  var nextRate: PlaybackRate?
  /// Titles and metadata of streams that have not been heard yet, in the order of their frames.
  var pendingMetadata: [PendingMetadata] = []
  /// The stalled item, and the instant at which the stall began; nil without a stall.
  var currentStall: (itemID: PlayerItem.ID, beganAt: HostTime)?
  var stallAllowance = StallAllowance()
  /// Fails an item that stalls for too long.
  var stallTimer: (any ControlTimer)?
  /// The retries of failed items.
  var retries = Retries()
  /// The position of the last underrun: the stream and its frame.
  var underrunPosition: (streamID: UInt64, frame: Int64)?
  /// The stream whose samples are withheld after an underrun.
  var withheldStream: RenderStream?
  /// The maximum number of frames to decode ahead; nil: the capacity of the stream.
  var aheadLimit: Int64?
  /// The item whose `decodedState` is published.
  var publishedItem: PlayerItem?
  /// Pending prerolls, which wait until the player is ready.
  var prerolls: [Preroll] = []
  /// The observer of settings that all items of the queue share, because there may be many items.
  private(set) lazy var settingsObserver = makeSettingsObserver()
  private(set) lazy var audioObserver = makeAudioObserver()
  /// The state of observing the current item's chapters.
  var chapterWatch: ChapterWatch?
  /// The pitch algorithm of items without a custom one.
  let timePitchSlot = TimePitchSlot()
  /// The audio processors of all items.
  let audioProcessorSlot = AudioProcessorSlot()
  /// The criteria for tracks of items without an explicit choice.
  let mediaSelectionPreferences = MediaSelectionPreferences()

  // Gains.
  var volume: Float = 1
  var isMuted = false
  var pan: Float = 0
  /// The fade of the volume whose end has not been heard.
  var fade: Fade?
  var newestFadeID: UInt64 = 0
  var replayGain = ReplayGainSettings()
  var meters = MeterTable()
  /// The output frame of a pending start: the player is silent until this frame, although its rate is not 0.
  /// `Int64.max` while the frame is unknown; nil without a pending start.
  var pendingStartFrame: Int64?
  /// The pending start, of this player or together with other players.
  var startGroup: StartGroup?
  /// The pending change of rate together with other players.
  var rateGroup: RateGroup?
  /// The output frame at which the generation in preparation replaces the current one, together with other players;
  /// nil: not together.
  var sharedFrame: Int64?
  /// The rounding error that the rate change in preparation inherits from the previous one.
  var nextStartError = MediaTime.zero
  /// Whether the mixer measures this player.
  var isMetered = false

  // Observers.
  /// The observers of times, and their next calls.
  var observers = ObserverSchedule()
  var stateObservers: [(token: ObserverToken, handler: @Sendable (PlayerChange) -> Void)] = []
  var eventObservers: [(token: ObserverToken, handler: @Sendable (PlayerEvent) -> Void)] = []
  var publishedState = PlayerState()
  /// Called when state that is persisted has changed.
  var changeObserver: (@Sendable ([PlayerItem]) -> Void)?
  /// Called with the position at which an item was left, and whether it ended; for persistence.
  var positionObserver: (@Sendable (PlayerItem, MediaTime, Bool) -> Void)?
  /// Pending calls of observers and completions, in order.
  var deliveries = Deque<Delivery>()
  var isDelivering = false
  /// Blocks deliveries while the machine's actions run, because handlers may call back.
  var isRunningActions = false
  var newestToken: ObserverToken = 0
  /// Observers that were removed while deliveries were pending.
  var removedTokens: Set<ObserverToken> = []
  /// Closures that finish the asynchronous streams.
  var streamFinishers: [ObserverToken: @Sendable () -> Void] = [:]
  var seeks: [Machine.SeekToken: PendingSeek] = [:]
  var nextSeekToken: Machine.SeekToken = 1
  /// The range that is played; nil: none.
  var rangePlayback: RangePlayback?
  var newestRangeID: UInt64 = 0
  /// The timing of the last start or seek.
  var startTrace: StartTrace?
  var isClosed = false
  private(set) var pipelineStorage: DecodePipeline?
  /// The number of requests that the decode thread has completed, as last reported. Only with virtual time.
  var idleRequestCount: UInt64 = 0

  init(engine: EngineCore, name: String, canAdvance: Bool) {
    self.engine = engine
    self.name = name
    var logger = engine.logger
    logger[metadataKey: "player"] = "\(name)"
    self.logger = logger
    machine = Machine(canAdvance: canAdvance)
    timeline = PlayerTimeline(sampleRateHz: 48_000)
    publishedState.actionAtItemEnd = machine.actionAtItemEnd
    // On the loop the player is attached at once. On another thread the job is enqueued before the caller can use the
    // player.
    if engine.loop.isIsolatingCurrentContext() == true {
      attach()
    } else {
      engine.loop.execute { self.attach() }
    }
  }

  private func attach() {
    engine.register(self)
    machine.setSessionWaitingReason(engine.session.waitingReason)
    if output.core != nil { outputDidStart() }
    if output.state.status == .unresponsive { outputDidStall(true) }
  }

  var output: Output { engine.output }

  /// Whether virtual time may pass: the player has no pending work.
  ///
  /// Virtual time waits until the decode thread is idle, not only until enough audio is decoded. The progress of that
  /// thread is observable: an exact duration, a full buffer, the audio that a loop cuts off. These events are only
  /// deterministic when the thread is idle.
  var isSettled: Bool {
    if let pipelineStorage, pipelineStorage.requestCount != idleRequestCount { return false }
    guard largeChanges.isEmpty else { return false }
    // A stream that ended is about to be continued if passes are planned.
    let isContinuing = !machine.plan.passes.isEmpty
    return machine.isSettled && !(isContinuing && chain.newest?.stream.endFrame != nil)
  }

  /// The decode thread, started on first use.
  var pipeline: DecodePipeline {
    if let pipelineStorage { return pipelineStorage }
    let loop = engine.loop
    let now: @Sendable () -> HostTime = { loop.now }
    let newPipeline = DecodePipeline(
      name: name, reportsIdling: engine.isVirtual, now: now, open: engine.openDecoder
    ) { [weak self] report in
      guard let self else { return }
      loop.execute { self.handle(report) }
    }
    pipelineStorage = newPipeline
    return newPipeline
  }

  /// Closes the player. It becomes silent, and its observers are not called any more.
  func close() {
    guard !isClosed else { return }
    leaveStartGroup()
    rateGroup?.leave(self)
    let resumePosition = currentResumePosition
    endFade(.closed)
    completeRange(.closed)
    run(machine.close(), cause: .closed)
    reportIfLeft(resumePosition)
    isClosed = true
    endPrerolls()
    timer?.cancel()
    stallTimer?.cancel()
    cancelRetryTimer()
    pipelineStorage?.close()
    releaseAllItems()
    pastItems = [:]
    if let inputIndex {
      output.detachInput(inputIndex)
      output.postCommands()
    }
    inputIndex = nil
    stateObservers = []
    eventObservers = []
    meters = MeterTable()
    callEndHandlers(observers.table.removeAll())
    observers = ObserverSchedule()
    for finish in streamFinishers.values { finish() }
    streamFinishers = [:]
    engine.unregister(self)
  }

  // MARK: - Actions

  /// Runs the machine's actions, publishes the changes, and schedules the next milestone.
  func run(_ actions: [Machine.Action], cause: ChangeCause) {
    perform(cause == .request ? actions + machine.allowOpening() : actions, cause: cause)
  }

  /// Runs actions like `run`, but does not end `PlayerRestoration.defersOpening`.
  func perform(_ actions: [Machine.Action], cause: ChangeCause) {
    var needsPost = false
    isRunningActions = true
    for action in actions { run(action, needsPost: &needsPost) }
    if withholdOrRelease() { needsPost = true }
    if updateGains() { needsPost = true }
    endStallIfOver()
    discardUnusedMetadata()
    if needsPost { output.postCommands() }
    releaseRemovedItems()
    clearResumeTimeAfterStart()
    loadUpcoming()
    limitDecoding()
    publishDecodedState()
    isRunningActions = false
    if publishedState.itemCount == 0, !machine.entries.isEmpty { engine.firstItemWasAdded(to: self) }
    publish(cause)
    watchChapters()
    completeReadyPrerolls()
    prepareNextRound()
    scheduleNextMilestone()
    scheduleRetry()
    startGroup?.scheduleCheck()
    rateGroup?.scheduleCheck()
  }

  private func run(_ action: Machine.Action, needsPost: inout Bool) {
    switch action {
    case .prepare(let generation, let start): prepare(generation, start)
    case .commit(let generation):
      commit(generation)
      needsPost = true
    case .splice(let generation, let pass):
      splice(generation, after: pass)
      needsPost = true
    case .truncate(let pass): if truncate(after: pass) { needsPost = true }
    case .shorten(let pass, let time): if shorten(pass, at: time) { needsPost = true }
    case .split(let pass, let frame): if split(pass, atStreamFrame: frame) { needsPost = true }
    case .dropStream:
      dropStream()
      needsPost = true
    case .setPlan(let plan): send(plan)
    case .setRunning:
      applyRunning()
      needsPost = true
    case .completeSeek(let token, let outcome): completeSeek(token, outcome)
    case .completeRange(let outcome): completeRange(outcome)
    case .emit(let emission): emit(emission)
    }
  }

  // MARK: - Transport

  /// Pauses, and seeks to the beginning of the current item.
  func stop(_ cause: ChangeCause = .request) {
    changeRate(to: 0, cause: cause)
    guard let current = machine.entries.first, current.status.error == nil else { return }
    if currentTime() == .zero, machine.requestInPreparation == nil, seeks.isEmpty { return }
    // Streams cannot seek to their beginning.
    if items[current.id]?.isSeekable == false { return }
    startSeek(to: .time(.zero), SeekOptions(jumpCause: .stop), in: current) { _ in }
  }

  /// Checks that the player is not closed.
  ///
  /// - Throws: `invalidState`.
  func checkOpen(_ operation: String) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: operation) }
  }

  func setActionAtItemEnd(_ action: ActionAtItemEnd) throws(MediaError) {
    if action.advances, !machine.canAdvance {
      throw MediaError(
        .invalidArgument, "\(action.rawValue) needs a queue; this player has one item",
        operation: "setActionAtItemEnd")
    }
    run(machine.setActionAtItemEnd(action), cause: .request)
  }

  // MARK: - State

  var currentItem: PlayerItem? { machine.entries.first.flatMap { items[$0.id] } }

  var state: PlayerState {
    var state = PlayerState()
    state.timeControlStatus = machine.timeControlStatus
    state.reasonForWaitingToPlay = machine.reasonForWaitingToPlay
    state.rate = machine.rate
    state.automaticallyWaitsToMinimizeStalling = machine.automaticallyWaits
    state.defaultRate = defaultRate.value
    state.timebaseRate = timebaseRate
    state.volume = volume
    state.isFading = isFading
    state.isMuted = isMuted
    state.pan = pan
    state.replayGain = replayGain
    state.actionAtItemEnd = machine.actionAtItemEnd
    state.audioTimePitchAlgorithm = timePitchSlot.value
    let preferences = mediaSelectionPreferences.values
    state.mediaSelectionCriteria = preferences.criteria
    state.appliesMediaSelectionCriteriaAutomatically = preferences.areApplied
    state.repeatMode = machine.repeatMode
    state.loop = machine.loop.map {
      PlayerLoop(
        range: TimeRange(start: $0.start, end: $0.end), remainingCount: $0.remaining, loopCount: $0.count,
        isFinishing: $0.isFinishing)
    }
    state.itemCount = machine.entries.count
    state.queueVersion = machine.queue.version
    state.shuffleSeed = machine.queue.shuffle?.seed
    state.itemFailurePolicy = machine.failurePolicy
    state.error = machine.error
    state.isAtItemEnd = machine.hasItemEnded && !machine.decodedRate.isReverse
    state.isAtItemBeginning = machine.hasItemEnded && machine.decodedRate.isReverse
    if let current = machine.entries.first {
      state.currentItemID = current.id
      state.itemStatus = current.status
      state.itemDuration = current.duration
      state.itemProvidesPreciseDuration = items[current.id]?.providesPreciseDuration ?? false
      let buffer = machine.bufferState
      state.isPlaybackLikelyToKeepUp = buffer.isLikelyToKeepUp
      state.isPlaybackBufferFull = buffer.isFull
      state.isPlaybackBufferEmpty = buffer.isEmpty
    }
    return state
  }
}
