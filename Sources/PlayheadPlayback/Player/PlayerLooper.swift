import PlayheadMediaCore
import PlayheadPlayerModel
import Synchronization

/// Plays an item, or a part of it, repeatedly in a queue player; corresponds to AVPlayerLooper.
///
/// <!-- listing: loop-item -->
/// ```swift
/// let looper = try PlayerLooper(player: player, item: item, timeRange: TimeRange(start: .zero, end: .seconds(4)))
/// ```
///
/// Unlike AVPlayerLooper there are no replicas: the player repeats the item itself, without a gap, so later changes of
/// its settings apply to every pass. The item becomes the player's current one, before the entries of the queue.
///
/// Looping ends:
/// - with ``disableLooping()``, or after `count` repeats
/// - when the item leaves the queue, fails, or ends in another way
/// - when a request changes the player's repeat mode or loop
///
/// The previous repeat mode of the player is then restored, unless a request set another one.
///
/// Lifetime: retain the looper while it should loop. Releasing it makes the current pass the last one, as
/// ``disableLooping()`` does.
///
/// Threading: any. Handlers are called on the control loop.
public final class PlayerLooper: Sendable {
  /// The status of a looper; corresponds to AVPlayerLooper.Status.
  public enum Status: Sendable, Hashable {
    /// The item is not open yet.
    case unknown
    /// The item loops, or will loop when the player plays.
    case ready
    /// Final: the item cannot be opened, or does not contain the range.
    case failed(MediaError)
    /// Final: looping was disabled, is complete, or the item left the queue.
    case cancelled
  }

  /// The observable state.
  public struct State: Sendable, Hashable {
    /// The status of the looper.
    public var status = Status.unknown
    /// The number of returns to the beginning; 0 in the first pass.
    public var loopCount = 0
  }

  private struct LockedState {
    var state = State()
    /// The repeat mode of the player before the looper changed it; nil: the looper did not change it.
    var previousRepeatMode: RepeatMode?
    /// The looped range, rounded down to the item's frames; nil: the whole item, or looping has not started.
    var range: TimeRange?
    var eventToken: ObserverToken?
    var stateToken: ObserverToken?
    var handlers: [(token: ObserverToken, handler: @Sendable (State) -> Void)] = []
    var nextToken: ObserverToken = 1

    /// The tokens of the player's observers.
    var tokens: [ObserverToken] { [eventToken, stateToken].compactMap { $0 } }
  }

  /// The player of the looped item.
  public let player: QueuePlayer
  /// The looped item; the same object in every pass.
  public let item: PlayerItem
  /// The looped part; nil: the whole item.
  public let timeRange: TimeRange?
  private let count: Int?
  private let lockedState = Mutex(LockedState())

  /// Loops `item`, which is in no queue or is this player's current item. The rate of the player does not change.
  ///
  /// Problems that appear only when the item is open make the looper fail: a range beyond the item's end; an item
  /// without a duration; an item of another player, or one that waits in this player's queue (`itemInUse`).
  ///
  /// - Parameters:
  ///   - player: The player.
  ///   - item: The item.
  ///   - timeRange: The part to loop, rounded down to whole frames (see `setLoop`). The first pass also begins at its
  ///     start. Nil: the whole item.
  ///   - count: The number of returns to the beginning, at least 1; nil: unlimited.
  /// - Throws: `invalidTime` for a range that is empty, negative or not numeric; `invalidArgument` for a `count` below
  ///   1.
  public init(
    player: QueuePlayer, item: PlayerItem, timeRange: TimeRange? = nil, count: Int? = nil
  ) throws(MediaError) {
    if let timeRange {
      guard timeRange.start.isNumeric, timeRange.end.isNumeric, timeRange.start >= .zero,
        timeRange.start < timeRange.end
      else {
        throw MediaError(.invalidTime, "a loop must start at 0 s or later and end after its start", operation: "looper")
      }
    }
    if let count, count < 1 {
      throw MediaError(.invalidArgument, "loop count must be at least 1 (got \(count))", operation: "looper")
    }
    self.player = player
    self.item = item
    self.timeRange = timeRange
    self.count = count
    let loop = player.control.core.engine.loop
    if loop.isIsolatingCurrentContext() == true { start() } else { loop.execute { self.start() } }
  }

  deinit {
    let core = player.control.core
    let (tokens, previous, isReady) = lockedState.withLock {
      ($0.tokens, $0.previousRepeatMode, $0.state.status == .ready)
    }
    guard !tokens.isEmpty else { return }
    let loopedID = isReady && timeRange != nil ? item.id : nil
    core.engine.loop.execute {
      for token in tokens { core.calls.removeObserver(token) }
      guard !core.isClosed else { return }
      if let previous { Self.endRepeating(in: core, previous: previous) }
      if let loopedID, core.machine.loop?.itemID == loopedID { core.run(core.machine.finishLoop(), cause: .request) }
    }
  }

  /// The status of the looper.
  public var status: Status { lockedState.withLock { $0.state.status } }

  /// The number of returns to the beginning; 0 in the first pass.
  public var loopCount: Int { lockedState.withLock { $0.state.loopCount } }

  /// Makes the current pass the last one. At its end the player's `actionAtItemEnd` applies. No effect if looping has
  /// ended.
  public func disableLooping() {
    let loop = core.engine.loop
    if loop.isIsolatingCurrentContext() == true { disable() } else { loop.execute { self.disable() } }
  }

  /// Calls `handler` with each change, on the engine's control loop. The handler must not block: see
  /// `PlaybackEngine.loop`. ``status`` and ``loopCount`` have the initial values.
  ///
  /// - Returns: The token for ``removeObserver(_:)``.
  public func addStateObserver(_ handler: @escaping @Sendable (State) -> Void) -> ObserverToken {
    lockedState.withLock { lockedState in
      defer { lockedState.nextToken += 1 }
      lockedState.handlers.append((lockedState.nextToken, handler))
      return lockedState.nextToken
    }
  }

  /// Removes an observer.
  ///
  /// - Throws: `noSuchObserver`.
  public func removeObserver(_ token: ObserverToken) throws(MediaError) {
    let wasRemoved = lockedState.withLock { lockedState in
      let count = lockedState.handlers.count
      lockedState.handlers.removeAll { $0.token == token }
      return lockedState.handlers.count < count
    }
    guard wasRemoved else {
      throw MediaError(.noSuchObserver, "unknown observer \(token)", operation: "looper")
    }
  }

  // MARK: - Control loop

  private var core: PlayerCore { player.control.core }

  private func start() {
    let id = item.id
    do throws(MediaError) {
      if core.items[id] == nil {
        try core.edit([.insert([item], at: .index(0))])
      } else if core.machine.entries.first?.id != id {
        throw MediaError(.itemInUse, "item \(id) is already in the queue", operation: "looper")
      }
    } catch {
      return end(.failed(error))
    }
    let event = core.calls.addEventObserver { [weak self] in self?.handle($0) }
    let state = core.calls.addStateObserver { [weak self] in self?.handle($0) }
    lockedState.withLock {
      $0.eventToken = event
      $0.stateToken = state
    }
    core.loading.load(id)
    startIfReady()
  }

  /// Starts to loop once the item is open.
  private func startIfReady() {
    guard status == .unknown else { return }
    switch item.status {
    case .unknown: return
    case .failed(let error): end(.failed(error))
    case .readyToPlay:
      do throws(MediaError) { try startLooping() } catch { return end(.failed(error)) }
      change { $0.status = .ready }
    }
  }

  private func startLooping() throws(MediaError) {
    // The duration of a stream is unknown until it ends.
    guard item.duration.isNumeric, item.duration > .zero else {
      throw MediaError(.invalidTime, "an item without a duration cannot be looped", operation: "looper")
    }
    guard let timeRange else {
      let previous = core.machine.repeatMode
      lockedState.withLock { $0.previousRepeatMode = previous }
      return try core.setRepeatMode(.one, count: count, modeAfterwards: previous)
    }
    try core.setLoop(timeRange, count: count, itemID: item.id)
    let range = core.machine.loop.map { TimeRange(start: $0.start, end: $0.end) }
    lockedState.withLock { $0.range = range }
    if core.currentTime() < timeRange.start || core.currentTime() >= timeRange.end {
      let seek = PlayerSeeks.Options(itemID: item.id)
      try core.seeks.seek(to: timeRange.start, seek) { _ in }
    }
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    case .itemChanged(item.id, _, _, _): startIfReady()
    case .transition(let transition) where transition.fromItemID == item.id && transition.toItemID == item.id:
      guard status == .ready else { return }
      change { $0.loopCount += 1 }
      guard let count, loopCount >= count else { return }
      // The last pass has begun: the repeat count of the player ends it.
      end(.cancelled)
    case .playedToEnd(item.id, _), .failedToPlayToEnd(item.id, _, _):
      // While a part is looped, the item's end is not reached. An item that the player stopped at, or played past, does
      // not repeat.
      let isOver = timeRange != nil || core.machine.endedItemID == item.id || core.machine.hasPassedEnd
      if status == .ready, isOver { endAutomatically() }
    default: break
    }
  }

  private func handle(_ change: PlayerChange) {
    guard status == .ready || status == .unknown else { return }
    if change.new.currentItemID != item.id { return endAutomatically() }
    // A request changed the player. The end of counted repeats by playback is detected by a `transition` event instead.
    guard status == .ready, change.cause == .request else { return }
    let range = lockedState.withLock { $0.range }
    let isOver =
      timeRange == nil
      ? change.old.repeatMode == .one && change.new.repeatMode != .one
      : change.old.loop?.range == range && change.new.loop?.range != range
    if isOver { endAutomatically() }
  }

  /// Ends looping for a reason other than `disableLooping`.
  private func endAutomatically() {
    if status == .ready, timeRange == nil { endRepeating() }
    end(.cancelled)
  }

  private func disable() {
    switch status {
    case .failed, .cancelled: return
    case .unknown: break
    case .ready:
      if timeRange == nil {
        endRepeating()
      } else {
        // Fails if the loop has already ended, which needs no action.
        try? core.finishLoop(itemID: item.id)
      }
    }
    end(.cancelled)
  }

  /// Restores the previous repeat mode. A mode that a request set meanwhile stays.
  private func endRepeating() {
    let previous = lockedState.withLock { lockedState in
      defer { lockedState.previousRepeatMode = nil }
      return lockedState.previousRepeatMode
    }
    if let previous { Self.endRepeating(in: core, previous: previous) }
  }

  private static func endRepeating(in core: PlayerCore, previous: RepeatMode) {
    guard core.machine.repeatMode == .one, previous != .one else { return }
    core.run(core.machine.setRepeatMode(previous), cause: .request)
  }

  private func end(_ status: Status) {
    let tokens = lockedState.withLock { lockedState in
      defer { (lockedState.eventToken, lockedState.stateToken) = (nil, nil) }
      return lockedState.tokens
    }
    for token in tokens { core.calls.removeObserver(token) }
    change { $0.status = status }
  }

  private func change(_ body: (inout State) -> Void) {
    let (state, handlers) = lockedState.withLock { lockedState in
      body(&lockedState.state)
      return (lockedState.state, lockedState.handlers)
    }
    for (_, handler) in handlers { handler(state) }
  }
}
