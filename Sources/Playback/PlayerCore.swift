import DequeModule
import Logging
import MediaCore
import RealtimeAudio

/// Runs a `PlayerStateMachine`: its actions become jobs for the decode thread and commands for the mixer; what those
/// report becomes its inputs; what changes is told to observers. `Player` and `QueuePlayer` are its public faces.
///
/// Where the parts are: queue and transport here, decoding in `PlayerCore+Decoding.swift`, what the output says and
/// what the clock brings in `PlayerCore+Output.swift`, observers in `PlayerCore+Observers.swift`.
///
/// Threading: confined to the engine's control loop.
final class PlayerCore: @unchecked Sendable, OutputClient {
  // `@unchecked Sendable`: confined to the loop; reports from other threads hop onto it first.
  typealias Machine = PlayerStateMachine

  let engine: PlaybackEngine
  let name: String
  let logger: Logger
  var machine: Machine
  var items: [PlayerItem.ID: PlayerItem] = [:]

  // The output's side.
  var timeline: PlayerTimeline
  var inputIndex: Int?
  /// The stream of the newest generation, and of the one that sounds.
  var preparing: Generation?
  var sounding: Generation?
  /// What the mixer still reads, while `sounding` is to take over from it.
  var outgoing: Generation?
  /// What is to follow `sounding`, each after an item: handed to the mixer once the take-over before it is heard.
  var waiting: [(generation: Generation, item: PlayerItem.ID)] = []
  /// Ends of items in streams that sound or will, in order.
  var ends: [ItemEnd] = []
  /// Everything up to this output frame has been told to observers.
  var processedFrame: Int64 = -1
  /// The position is not reported from before this frame: a jump that was committed counts as done.
  var jumpFrame: Int64 = 0
  /// Where the player is while there is no device.
  var parkedPosition: PlayerTimeline.Position?
  var timer: (any ControlTimer)?
  var isAiming = false
  /// A rewind took back the starvation that was told, unless it is told again.
  var isStarvationVoid = false

  // Sound.
  var volume: Float = 1
  var isMuted = false

  // Observers.
  var timeObservers = TimeObserverTable()
  var stateObservers: [(token: ObserverToken, handler: @Sendable (PlayerChange) -> Void)] = []
  var eventObservers: [(token: ObserverToken, handler: @Sendable (PlayerEvent) -> Void)] = []
  var publishedState = PlayerState()
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
  var isClosed = false
  private(set) var pipelineStorage: DecodePipeline?

  /// A stream and the generation that fills it.
  struct Generation {
    var number: UInt64
    var stream: RenderStream
    /// Where the first frame lies in the item; known once prepared.
    var startTime = MediaTime.zero
    /// It carries out a seek: the current time jumps.
    var isSeek = false
  }

  struct ItemEnd {
    var streamID: UInt64
    var streamFrame: Int64
    var itemID: PlayerItem.ID
    var error: MediaError?
  }

  struct PendingSeek {
    var itemID: PlayerItem.ID
    var requested: MediaTime
    var completion: @Sendable (SeekResult) -> Void
  }

  init(engine: PlaybackEngine, name: String, canAdvance: Bool) {
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
    if output.core != nil { outputDidStart() }
  }

  var output: Output { engine.output }

  /// Whether nothing is under way that virtual time would have to wait for.
  var isSettled: Bool {
    // A stream that ended is about to be continued when something is planned.
    let isContinuing = !machine.plan.items.isEmpty || machine.plan.endsInSilence
    let newest = waiting.last?.generation ?? sounding
    return machine.isSettled && !(isContinuing && newest?.stream.endFrame != nil)
  }

  /// The decode thread; started when it is first needed.
  var pipeline: DecodePipeline {
    if let pipelineStorage { return pipelineStorage }
    let loop = engine.loop
    let made = DecodePipeline(name: name, reportsProgress: engine.isVirtual) { [weak self] report in
      guard let self else { return }
      loop.execute { self.handle(report) }
    }
    pipelineStorage = made
    return made
  }

  /// Ends the player: its sound stops, its observers hear no more.
  func close() {
    guard !isClosed else { return }
    run(machine.replaceAll([Machine.Entry]()), cause: .request)
    isClosed = true
    timer?.cancel()
    pipelineStorage?.close()
    releaseItems(Array(items.values))
    if let inputIndex {
      output.detachInput(inputIndex)
      output.commit()
    }
    inputIndex = nil
    stateObservers = []
    eventObservers = []
    timeObservers = TimeObserverTable()
    for end in streamEnds.values { end() }
    streamEnds = [:]
    engine.unregister(self)
  }

  // MARK: - Running actions

  /// Runs what the machine answered, publishes what changed, and looks at what comes next.
  func run(_ actions: [Machine.Action], cause: ChangeCause) {
    var needsCommit = false
    isRunningActions = true
    for action in actions { run(action, needsCommit: &needsCommit) }
    if needsCommit { output.commit() }
    releaseRemovedItems()
    loadUpcoming()
    isRunningActions = false
    publish(cause)
    aimTimer()
  }

  private func run(_ action: Machine.Action, needsCommit: inout Bool) {
    switch action {
    case .prepare(let generation, let start): prepare(generation, start)
    case .commit(let generation):
      commit(generation)
      needsCommit = true
    case .splice(let generation, let item):
      splice(generation, after: item)
      needsCommit = true
    case .truncate(let item): if truncate(after: item) { needsCommit = true }
    case .dropStream:
      dropStream()
      needsCommit = true
    case .setPlan(let plan): send(plan)
    case .setRunning(let isRunning):
      if let inputIndex {
        output.core?.setRunning(isRunning, input: inputIndex)
        needsCommit = true
      }
    case .completeSeek(let token, let finished): completeSeek(token, finished: finished)
    case .emit(let emission): emit(emission)
    }
  }

  // MARK: - Transport

  func play() { run(machine.setRate(1), cause: .request) }

  func pause() { run(machine.setRate(0), cause: .request) }

  func setRate(_ rate: Double) throws(MediaError) {
    guard rate == 0 || rate == 1 else {
      throw MediaError(.unsupportedRate, "rate \(rate) is not supported: 0 pauses, 1 plays", operation: "rate")
    }
    run(machine.setRate(rate), cause: .request)
  }

  func stop() {
    pause()
    guard let current = machine.entries.first, current.status.error == nil else { return }
    if currentTime() == .zero, machine.preparedStart == nil, seeks.isEmpty { return }
    beginSeek(to: .zero, before: .zero, after: .zero, itemID: current.id) { _ in }
  }

  func setActionAtItemEnd(_ action: ActionAtItemEnd) throws(MediaError) {
    if action == .advance, !machine.canAdvance {
      throw MediaError(.invalidArgument, "advance needs a queue; this player has one item", operation: "end-action")
    }
    run(machine.setActionAtItemEnd(action), cause: .request)
  }

  func setVolume(_ newVolume: Float) throws(MediaError) {
    guard newVolume >= 0, newVolume <= 1 else {
      throw MediaError(.invalidArgument, "volume is from 0 to 1, not \(newVolume)", operation: "volume")
    }
    volume = newVolume
    applyGain()
  }

  func setMuted(_ muted: Bool) {
    isMuted = muted
    applyGain()
  }

  /// What sounds moves to the new gain over 5 ms, so that the change does not click.
  private func applyGain() {
    if let inputIndex, let core = output.core {
      let rampFrameCount = machine.timeControlStatus == .playing ? core.format.sampleRateHz / 200 : 0
      core.setGain(isMuted ? 0 : volume, rampFrameCount: Int64(rampFrameCount), input: inputIndex)
      output.commit()
    }
    publish(.request)
  }

  // MARK: - Seeking

  func seek(
    to time: MediaTime, before: MediaTime, after: MediaTime, itemID: PlayerItem.ID?,
    completion: @escaping @Sendable (SeekResult) -> Void
  ) throws(MediaError) {
    guard time.isNumeric || time.isPositiveInfinity || time.isNegativeInfinity else {
      throw MediaError(.invalidTime, "cannot seek to a time that is \(time)", operation: "seek")
    }
    for tolerance in [before, after] where !(tolerance.isPositiveInfinity || tolerance.isNumeric && tolerance >= .zero)
    {
      throw MediaError(.invalidTime, "a tolerance is 0 or more, not \(tolerance)", operation: "seek")
    }
    guard let current = machine.entries.first else {
      throw MediaError(.noCurrentItem, "there is no current item to seek in", operation: "seek")
    }
    if let itemID, itemID != current.id {
      throw MediaError(
        .noSuchItem, "item \(itemID) is not the current item, which is \(current.id)", operation: "seek")
    }
    if let error = current.status.error { throw error }
    beginSeek(to: clamp(time, current), before: before, after: after, itemID: current.id, completion: completion)
  }

  private func clamp(_ time: MediaTime, _ entry: Machine.Entry) -> MediaTime {
    let lower = max(time, .zero)
    // Behind an estimate there may be more.
    guard entry.duration.isNumeric, items[entry.id]?.providesPreciseDuration == true else { return lower }
    return min(lower, entry.duration)
  }

  private func beginSeek(
    to time: MediaTime, before: MediaTime, after: MediaTime, itemID: PlayerItem.ID,
    completion: @escaping @Sendable (SeekResult) -> Void
  ) {
    let token = nextSeekToken
    nextSeekToken += 1
    seeks[token] = PendingSeek(itemID: itemID, requested: time, completion: completion)
    run(machine.seek(token, to: time, before: before, after: after), cause: .request)
  }

  func cancelPendingSeeks() { run(machine.cancelPendingSeek(), cause: .request) }

  private func completeSeek(_ token: Machine.SeekToken, finished: Bool) {
    guard let seek = seeks.removeValue(forKey: token) else { return }
    let isThere = machine.entries.first?.id == seek.itemID
    enqueue(
      .completion(
        seek.completion,
        SeekResult(
          finished: finished, itemID: seek.itemID, requested: seek.requested,
          time: isThere ? currentTime() : seek.requested)))
  }

  // MARK: - Queue

  /// Takes items for this player; all or none.
  private func claim(_ newItems: [PlayerItem]) throws(MediaError) {
    guard !isClosed else { throw MediaError(.invalidState, "the player is closed", operation: "insert") }
    var claimed: [PlayerItem] = []
    for item in newItems {
      guard items[item.id] == nil, item.claim(by: self) else {
        for item in claimed { release(item) }
        throw MediaError(.itemInUse, "item \(item.id) is in a queue already", operation: "insert")
      }
      claimed.append(item)
      items[item.id] = item
    }
  }

  private func release(_ item: PlayerItem) {
    items[item.id] = nil
    item.release()
  }

  private func releaseItems(_ released: [PlayerItem]) { for item in released { release(item) } }

  func insert(_ newItems: [PlayerItem], at index: Int) throws(MediaError) {
    try claim(newItems)
    run(machine.insert(newItems.map(entry), at: index), cause: .request)
  }

  func replaceAll(with newItems: [PlayerItem]) throws(MediaError) {
    let kept = items
    // An item may stay in the queue that it is in.
    let fresh = newItems.filter { kept[$0.id] == nil }
    guard Set(newItems.map(\.id)).count == newItems.count else {
      throw MediaError(.itemInUse, "an item cannot stand twice in a queue", operation: "load")
    }
    try claim(fresh)
    run(machine.replaceAll(newItems.map(entry)), cause: .request)
  }

  /// An item may have been opened in a queue before.
  private func entry(_ item: PlayerItem) -> Machine.Entry {
    Machine.Entry(id: item.id, status: item.status, duration: item.duration)
  }

  func remove(_ ids: [PlayerItem.ID]) throws(MediaError) {
    for id in ids where items[id] == nil {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "remove")
    }
    run(machine.remove(Set(ids)), cause: .request)
  }

  func removeAll() { run(machine.replaceAll([Machine.Entry]()), cause: .request) }

  func advance() { run(machine.advance(), cause: .request) }

  func index(of id: PlayerItem.ID) throws(MediaError) -> Int {
    guard let index = machine.entries.firstIndex(where: { $0.id == id }) else {
      throw MediaError(.noSuchItem, "there is no item \(id) in the queue", operation: "insert")
    }
    return index
  }

  /// Items that the machine let go are free for other queues, before anybody is told.
  private func releaseRemovedItems() { releaseItems(machine.takeRemoved().compactMap { items[$0] }) }

  // MARK: - State

  var currentItem: PlayerItem? { machine.entries.first.flatMap { items[$0.id] } }

  var state: PlayerState {
    var state = PlayerState()
    state.timeControlStatus = machine.timeControlStatus
    state.reasonForWaitingToPlay = machine.reasonForWaitingToPlay
    state.rate = machine.rate
    state.volume = volume
    state.isMuted = isMuted
    state.actionAtItemEnd = machine.actionAtItemEnd
    state.itemCount = machine.entries.count
    state.queueVersion = machine.queueVersion
    if let current = machine.entries.first {
      state.currentItemID = current.id
      state.itemStatus = current.status
      state.itemDuration = current.duration
      state.itemProvidesPreciseDuration = items[current.id]?.providesPreciseDuration ?? false
    }
    return state
  }
}
