import DequeModule
import Logging
import MediaAssets
import MediaCore
import RealtimeAudio

/// Runs a `PlayerStateMachine`: its actions become jobs for the decode thread and commands for the mixer; what those
/// report becomes its inputs; what changes is told to observers. `Player` and `QueuePlayer` are its public faces.
///
/// Where the parts are: the queue in `PlayerCore+Queue.swift`, rates in `PlayerCore+Rate.swift`, seeks in `PlayerCore+Seeking.swift`,
/// what follows what in `PlayerCore+Following.swift`, decoding in `PlayerCore+Decoding.swift`, what the output says in
/// `PlayerCore+Output.swift`, what its clock brings in `PlayerCore+Milestones.swift`, observers in
/// `PlayerCore+Observers.swift`.
///
/// Threading: confined to the engine's control loop.
final class PlayerCore: @unchecked Sendable, OutputClient {
  // `@unchecked Sendable`: confined to the loop; reports from other threads hop onto it first.
  typealias Machine = PlayerStateMachine

  let engine: EngineCore
  let name: String
  let logger: Logger
  var machine: Machine
  var items = ItemTable<PlayerItem>()
  /// Items that are claimed for an edit that is being prepared (`reserve`), and are in no queue yet.
  var reserved = ItemTable<PlayerItem>()
  /// The claim on both, and the epoch in which items are claimed now.
  let ownership = QueueOwnership()
  var epoch: UInt64 = 1
  /// Whether what is reserved may have been claimed in an earlier epoch.
  var needsNewClaims = false
  /// Items that left the queue and are still to be disconnected from the player.
  var departures = Departures()
  /// The largest number of items that one turn of the loop has disconnected so far. Read by tests.
  var longestDepartureSlice = 0
  /// Items that were played and have left the queue, as far back as one can go. They are free for other queues.
  var pastItems: [PlayerItem.ID: PlayerItem] = [:]
  /// The sum of `PlayerItem.descriptionByteCount` over `items`.
  var queuedByteCount = 0

  // The output's side.
  var timeline: PlayerTimeline
  var inputIndex: Int?
  /// The stream of the newest generation, and of the one that sounds.
  var preparing: Generation?
  var sounding: Generation?
  /// What the mixer still reads, while `sounding` is to take over from it.
  var outgoing: Generation?
  /// What is to follow `sounding`, each after an item: handed to the mixer once the take-over before it is heard.
  var waiting: [(generation: Generation, pass: PassID)] = []
  /// Ends of passes in streams that sound or will, in order.
  var ends: [ItemEnd] = []
  /// An end that has been heard, until what follows it is.
  var seam: OpenSeam?
  /// The end that was told last, or is being told.
  var toldEnd: ItemEnd?
  /// Entries that are being opened to find out their state.
  var loading: Set<PlayerItem.ID> = []
  /// What of them was last said to be needed first.
  var preferredIDs: [PlayerItem.ID] = []
  /// The rates of items that have been opened, in Hz.
  var sampleRates: [PlayerItem.ID: Int] = [:]
  /// Everything up to this output frame has been told to observers.
  var processedFrame: Int64 = -1
  /// The position is not reported from before this frame: a jump that was committed counts as done.
  var jumpFrame: Int64 = 0
  /// Where the player is while there is no device.
  var parkedPosition: PlayerTimeline.Position?
  var timer: (any ControlTimer)?
  /// When the current item, which stands at its end, may end again.
  var nextEndTime: HostTime?
  var isAiming = false
  /// Some of the events that happened together have been handled, and not yet all.
  var isHandlingEvents = false
  /// What `play` plays at, and what the next one does instead.
  var defaultRate = PlaybackRate.normal
  var nextRate: PlaybackRate?
  /// What streams said that they play, and was not heard yet; in the order of their frames.
  var titles: [PendingTitle] = []
  /// When what is stalled did.
  var stalledAt: (itemID: PlayerItem.ID, HostTime)?
  var stallAllowance = StallAllowance()
  /// Ends an item that stalls for too long.
  var stallTimer: (any ControlTimer)?
  /// Where samples ran out last: the stream, and its frame.
  var starvedPlace: (streamID: UInt64, frame: Int64)?
  /// The stream that is held at such a place.
  var heldStream: RenderStream?
  /// How far ahead the decode thread was told to decode, in frames; nil: as far as the stream holds.
  var aheadLimit: Int64?
  /// The item that was told what of it is decoded.
  var loadedItem: PlayerItem?
  /// What waits until the player is ready to be heard.
  var prerolls: [Preroll] = []
  /// What all items of the queue call when they are changed: made once, for there may be many.
  private(set) lazy var settingsObserver = makeSettingsObserver()
  private(set) lazy var soundObserver = makeSoundObserver()
  /// What is watched of the current item's chapters.
  var chapterWatch: ChapterWatch?
  /// What items without an algorithm of their own are played with.
  let timePitchSlot = TimePitchSlot()
  /// Which of several tracks items present of which nothing was chosen.
  let mediaSelectionPreferences = MediaSelectionPreferences()

  // Sound.
  var volume: Float = 1
  var isMuted = false
  var pan: Float = 0
  var replayGain = ReplayGainSettings()
  var meters = MeterTable()
  /// The output frame before which the player is silent though its rate is not 0; `Int64.max` while it is not known.
  var heldFrame: Int64?
  /// The start that is under way, alone or with other players.
  var startGroup: StartGroup?
  /// The change of rate that is under way with other players.
  var rateGroup: RateGroup?
  /// The output frame at which what is prepared now is to take over, together with others; nil: it is not.
  var sharedFrame: Int64?
  /// What the change that is prepared now leaves of the error of the one before.
  var nextStartError = MediaTime.zero
  /// Whether the mixer measures this player.
  var isMetered = false

  // Observers.
  /// Those of times, and what they are told when.
  var observers = ObserverSchedule()
  var stateObservers: [(token: ObserverToken, handler: @Sendable (PlayerChange) -> Void)] = []
  var eventObservers: [(token: ObserverToken, handler: @Sendable (PlayerEvent) -> Void)] = []
  var publishedState = PlayerState()
  /// Who keeps what the player is.
  var changeObserver: (@Sendable ([PlayerItem]) -> Void)?
  /// Who keeps where items were left, or that they ended.
  var placeObserver: (@Sendable (PlayerItem, MediaTime, Bool) -> Void)?
  /// What observers and seekers are still to be told, in order.
  var deliveries = Deque<Delivery>()
  var isDelivering = false
  /// While the machine's actions run nobody is called, for who is called may call back.
  var isRunningActions = false
  var newestToken: ObserverToken = 0
  /// Observers that were removed while something was on its way to them.
  var removedTokens: Set<ObserverToken> = []
  /// What ends the asynchronous streams.
  var streamEnds: [ObserverToken: @Sendable () -> Void] = [:]
  var seeks: [Machine.SeekToken: PendingSeek] = [:]
  var nextSeekToken: Machine.SeekToken = 1
  /// Where the time of the last start or seek went.
  var startTrace: StartTrace?
  var isClosed = false
  private(set) var pipelineStorage: DecodePipeline?
  /// How many requests the decode thread is known to be done with. On virtual time.
  var idleRequestCount: UInt64 = 0

  /// A stream and the generation that fills it.
  struct Generation {
    var number: UInt64
    var stream: RenderStream
    /// Why the current time jumps when it is heard; nil: it does not.
    var jumpCause: TimeJumpCause?
    /// It is what sounds, decoded anew: it goes on where that is.
    var isContinuation = false
    /// By how much it is off where the changes of rate should have brought it, there being no frame at that very time.
    var startError = MediaTime.zero
    /// The output frame at which it is to take over together with other players' generations.
    var sharedFrame: Int64?
    /// What was cut off before the beginnings of its passes, by their index; none where there is none.
    var startTrims: [Int: EdgeTrim] = [:]
    /// The gains that its stream has for items, or that the mixer was told to give them.
    var levels: [PlayerItem.ID: Float] = [:]
    /// How its beginning came about.
    var trace: StartTrace
    /// Frames per second of the item that it begins with; known once prepared.
    var sourceRateHz: Int?
  }

  struct ItemEnd {
    var streamID: UInt64
    var streamFrame: Int64
    var passID: PassID
    var itemID: PlayerItem.ID
    var error: MediaError?
    /// What was cut off behind the item's end.
    var trim = EdgeTrim.none
  }

  struct OpenSeam {
    var end: ItemEnd
    var toItemID: PlayerItem.ID
    var outputFrame: Int64
  }

  init(engine: EngineCore, name: String, canAdvance: Bool) {
    self.engine = engine
    self.name = name
    var logger = engine.logger
    logger[metadataKey: "player"] = "\(name)"
    self.logger = logger
    machine = Machine(canAdvance: canAdvance)
    timeline = PlayerTimeline(sampleRateHz: 48_000)
    publishedState.actionAtItemEnd = machine.actionAtItemEnd
    // On the loop at once, elsewhere before anything that its user asks of it.
    if engine.loop.isIsolatingCurrentContext() == true {
      attach()
    } else {
      engine.loop.execute { self.attach() }
    }
  }

  private func attach() {
    engine.register(self)
    machine.holdReason = engine.session.holdReason
    if output.core != nil { outputDidStart() }
    if output.state.status == .unresponsive { outputDidStall(true) }
  }

  var output: Output { engine.output }

  /// Whether nothing is under way that virtual time would have to wait for.
  ///
  /// The decode thread is waited for until it has nothing left to do, and not only until there is enough to be heard: how far
  /// it has come shows (an exact duration, a full buffer, what a loop has to cut off), and is the same each time only then.
  var isSettled: Bool {
    if let pipelineStorage, pipelineStorage.requestCount != idleRequestCount { return false }
    // A stream that ended is about to be continued when something is planned.
    let isContinuing = !machine.plan.passes.isEmpty
    let newest = waiting.last?.generation ?? sounding
    return machine.isSettled && !(isContinuing && newest?.stream.endFrame != nil)
  }

  /// The decode thread; started when it is first needed.
  var pipeline: DecodePipeline {
    if let pipelineStorage { return pipelineStorage }
    let loop = engine.loop
    let now: @Sendable () -> HostTime = { loop.now }
    let made = DecodePipeline(
      name: name, reportsIdling: engine.isVirtual, now: now, open: engine.openDecoder
    ) { [weak self] report in
      guard let self else { return }
      loop.execute { self.handle(report) }
    }
    pipelineStorage = made
    return made
  }

  /// Ends the player: its sound stops, its observers hear no more.
  func close() {
    guard !isClosed else { return }
    leaveStartGroup()
    rateGroup?.leave(self)
    let place = currentPlace
    run(machine.close(), cause: .closed)
    tellIfLeft(place)
    isClosed = true
    endPrerolls()
    timer?.cancel()
    stallTimer?.cancel()
    pipelineStorage?.close()
    departAll()
    pastItems = [:]
    if let inputIndex {
      output.detachInput(inputIndex)
      output.commit()
    }
    inputIndex = nil
    stateObservers = []
    eventObservers = []
    meters = MeterTable()
    end(observers.table.removeAll())
    observers = ObserverSchedule()
    for end in streamEnds.values { end() }
    streamEnds = [:]
    engine.unregister(self)
  }

  // MARK: - Running actions

  /// Runs what the machine answered, publishes what changed, and looks at what comes next.
  func run(_ actions: [Machine.Action], cause: ChangeCause) {
    perform(cause == .request ? actions + machine.releaseOpening() : actions, cause: cause)
  }

  /// The same, and what is not opened because of `PlayerRestoration.holdsOpening` stays so.
  func perform(_ actions: [Machine.Action], cause: ChangeCause) {
    var needsCommit = false
    isRunningActions = true
    for action in actions { run(action, needsCommit: &needsCommit) }
    if holdOrRelease() { needsCommit = true }
    if settleLevels() { needsCommit = true }
    noteStallEnd()
    settleTitles()
    if needsCommit { output.commit() }
    releaseRemovedItems()
    noteBegun()
    loadUpcoming()
    limitDecoding()
    publishLoaded()
    isRunningActions = false
    if publishedState.itemCount == 0, !machine.entries.isEmpty { engine.beganToHaveItems(self) }
    publish(cause)
    watchChapters()
    settlePrerolls()
    aimTimer()
    startGroup?.scheduleCheck()
    rateGroup?.scheduleCheck()
  }

  private func run(_ action: Machine.Action, needsCommit: inout Bool) {
    switch action {
    case .prepare(let generation, let start): prepare(generation, start)
    case .commit(let generation):
      commit(generation)
      needsCommit = true
    case .splice(let generation, let pass):
      splice(generation, after: pass)
      needsCommit = true
    case .truncate(let pass): if truncate(after: pass) { needsCommit = true }
    case .shorten(let pass, let time): if shorten(pass, at: time) { needsCommit = true }
    case .split(let pass, let frame): if split(pass, atStreamFrame: frame) { needsCommit = true }
    case .dropStream:
      dropStream()
      needsCommit = true
    case .setPlan(let plan): send(plan)
    case .setRunning:
      applyRunning()
      needsCommit = true
    case .completeSeek(let token, let outcome): completeSeek(token, outcome)
    case .emit(let emission): emit(emission)
    }
  }

  // MARK: - Transport

  func stop() {
    pause()
    guard let current = machine.entries.first, current.status.error == nil else { return }
    if currentTime() == .zero, machine.preparedStart == nil, seeks.isEmpty { return }
    // A stream has no beginning to go back to.
    if items[current.id]?.isSeekable == false { return }
    beginSeek(to: .time(.zero), Seek(jumpCause: .stop), in: current) { _ in }
  }

  func setActionAtItemEnd(_ action: ActionAtItemEnd) throws(MediaError) {
    if action == .advance, !machine.canAdvance {
      throw MediaError(.invalidArgument, "advance needs a queue; this player has one item", operation: "end-action")
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
        isFinishing: $0.endsItem)
    }
    state.itemCount = machine.entries.count
    state.queueVersion = machine.queueVersion
    state.shuffleSeed = machine.shuffle?.seed
    state.itemFailurePolicy = machine.failurePolicy
    state.error = machine.error
    state.isAtItemEnd = machine.hasItemEnded && !machine.decodedSpeed.isReverse
    state.isAtItemBeginning = machine.hasItemEnded && machine.decodedSpeed.isReverse
    if let current = machine.entries.first {
      state.currentItemID = current.id
      state.itemStatus = current.status
      state.itemDuration = current.duration
      state.itemProvidesPreciseDuration = items[current.id]?.providesPreciseDuration ?? false
      let buffer = machine.buffer
      state.isPlaybackLikelyToKeepUp = buffer.isLikelyToKeepUp
      state.isPlaybackBufferFull = buffer.isFull
      state.isPlaybackBufferEmpty = buffer.isEmpty
    }
    return state
  }
}
