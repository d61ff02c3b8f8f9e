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
/// Each part with separate state is a `PlayerFeature` in the folder `Features`. The files of this folder concern the
/// streams and the machine: the queue (`PlayerCore+Queue.swift`), rates (`PlayerCore+Rate.swift`), repeats, loops and
/// transitions (`PlayerCore+Transitions.swift`), decoding (`PlayerCore+Decoding.swift`), changes of the decoded audio
/// (`PlayerCore+Continuation.swift`), early playback (`PlayerCore+Waiting.swift`), render events and the position
/// (`PlayerCore+Output.swift`), and events for observers (`PlayerCore+Events.swift`).
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
  /// The audible, following and prepared streams.
  var chain = StreamChain()
  private(set) lazy var decodeThread = DecodeThread(self)
  private(set) var isClosed = false

  /// The cross-fade that began with the current item; nil if its audio began in another way.
  var heardOverlap: HeardOverlap?

  // The output.
  var timeline: PlayerTimeline
  /// The player's input of the mixer; nil without a device, or if the mixer is full.
  var inputIndex: Int?
  var positionLimits = PositionLimits()
  var rates = RateSettings()

  // Features (see `features`), and objects with a part of them.
  private(set) lazy var items = QueueItems(self)
  private(set) lazy var itemSettings = ItemSettings(self)
  private(set) lazy var loading = QueueLoading(self)
  private(set) lazy var persistence = PlayerPersistence(self)
  private(set) lazy var seeks = PlayerSeeks(self)
  private(set) lazy var prerolls = PlayerPrerolls(self)
  private(set) lazy var decodedRanges = DecodedRanges(self)
  private(set) lazy var stalls = PlayerStalls(self)
  private(set) lazy var retries = ItemRetries(self)
  private(set) lazy var volume = PlayerVolume(self)
  private(set) lazy var replayGain = PlayerReplayGain(self)
  private(set) lazy var metadata = StreamMetadata(self)
  private(set) lazy var chapters = PlayerChapters(self)
  private(set) lazy var meters = PlayerMeters(self)
  private(set) lazy var silence = PlayerSilenceMonitor(self)
  private(set) lazy var timeObservers = TimeObservers(self)
  private(set) lazy var milestones = PlayerMilestones(self)
  private(set) lazy var jointChanges = JointChanges(self)
  private(set) lazy var calls = ObserverCalls(self)

  /// All features, in the order in which they are called. The order matters in these cases:
  /// - The position to resume at is read before completions of other features are called, which may change it.
  /// - Items that left the queue are released before the next ones are opened.
  /// - Of two milestones at one frame, the end of a fade comes first, because a player that pauses at an item's end has
  ///   not heard that end. Milestones of the item's time precede stalls, metadata and meters.
  /// - Retries are scheduled after milestones: of two timers for one time, the earlier one fires first.
  /// - A joint change ends after the end of a fade, whose observer may have begun that change.
  /// - Calls of observers end last.
  private(set) lazy var features: [any PlayerFeature] = [
    persistence, volume, seeks.range, milestones.itemTime, stalls, replayGain, metadata, decodeThread, items, loading,
    decodedRanges, chapters, prerolls, items.largeChanges, meters, silence, milestones, retries, timeObservers,
    seeks.latency, jointChanges, calls,
  ]

  init(engine: EngineCore, name: String, canAdvance: Bool) {
    self.engine = engine
    self.name = name
    var logger = engine.logger
    logger[metadataKey: "player"] = "\(name)"
    self.logger = logger
    machine = Machine(canAdvance: canAdvance)
    timeline = PlayerTimeline(sampleRateHz: 48_000)
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

  /// The mixer, and the player's input of it; nil without a device, or if the mixer is full.
  var mixerInput: (core: RenderCore, input: Int)? {
    guard let inputIndex, let core = output.core else { return nil }
    return (core, inputIndex)
  }

  /// Whether virtual time may pass: the player has no pending work.
  ///
  /// Virtual time waits until the decode thread is idle, not only until enough audio is decoded. The progress of that
  /// thread is observable: an exact duration, a full buffer, the audio that a loop cuts off. These events are only
  /// deterministic when the thread is idle.
  var isSettled: Bool {
    guard decodeThread.isIdle, items.largeChanges.isEmpty else { return false }
    // A stream that ended is about to be continued if passes are planned.
    let isContinuing = !machine.plan.passes.isEmpty
    return machine.isSettled && !(isContinuing && chain.newest?.stream.endFrame != nil)
  }

  var pipeline: DecodePipeline { decodeThread.pipeline }

  /// Closes the player. It becomes silent, and its observers are not called any more.
  func close() {
    guard !isClosed else { return }
    for feature in features { feature.playerWillClose() }
    run(machine.close(), cause: .closed)
    isClosed = true
    if let inputIndex {
      output.detachInput(inputIndex)
      output.postCommands()
    }
    inputIndex = nil
    for feature in features { feature.playerDidClose() }
    engine.unregister(self)
  }

  // MARK: - Actions

  /// Runs the machine's actions, publishes the changes, and schedules the next milestone.
  func run(_ actions: [Machine.Action], cause: ChangeCause) {
    perform(cause == .request ? actions + machine.allowOpening() : actions, cause: cause)
  }

  /// Runs actions like `run`, but does not end `PlayerRestoration.defersOpening`.
  func perform(_ actions: [Machine.Action], cause: ChangeCause) {
    calls.collect {
      var needsPost = false
      for action in actions { run(action, needsPost: &needsPost) }
      for feature in features where feature.prepareCommands() { needsPost = true }
      if needsPost { output.postCommands() }
      for feature in features { feature.update() }
    }
    if calls.publishedState.itemCount == 0, !machine.entries.isEmpty { engine.firstItemWasAdded(to: self) }
    publish(cause)
    for feature in features { feature.stateDidPublish() }
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
    case .completeSeek(let token, let outcome): seeks.complete(token, outcome)
    case .completeRange(let outcome): seeks.range.complete(outcome)
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
    seeks.start(to: .time(.zero), PlayerSeeks.Options(jumpCause: .stop), in: current) { _ in }
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
    state.defaultRate = rates.default.value
    state.timebaseRate = timebaseRate
    state.volume = volume.gain
    state.isFading = volume.isFading
    state.isMuted = volume.isMuted
    state.pan = volume.pan
    state.replayGain = replayGain.settings
    state.silenceDetection = silence.detection
    state.actionAtItemEnd = machine.actionAtItemEnd
    state.audioTimePitchAlgorithm = itemSettings.timePitchSlot.value
    let preferences = itemSettings.mediaSelectionPreferences.values
    state.mediaSelectionCriteria = preferences.criteria
    state.appliesMediaSelectionCriteriaAutomatically = preferences.areApplied
    state.repeatMode = machine.repeatMode
    state.crossfade = machine.intent.crossfade
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
