import MediaCore
import Synchronization

/// Plays an item, or a part of it, again and again in a queue player. As AVPlayerLooper, but without replicas: the item
/// itself is repeated by the player, without a gap, so that what is set of it later holds in every pass.
///
/// The item becomes the player's current one, in front of what is in the queue. Looping ends by `disableLooping`, after
/// `count` repeats, when the item leaves the queue, when it fails or ends otherwise, and when the player is told to repeat or
/// to loop something else, or nothing; then, unless it was told another, the player has the repeat mode again that it had
/// before.
///
/// Lifetime: keep the looper for as long as it is to loop. One that is let go of lets the present pass be the last, as
/// `disableLooping` does.
///
/// Threading: any. Handlers are called on the control loop.
public final class PlayerLooper: Sendable {
  /// As AVPlayerLooper.Status.
  public enum Status: Sendable, Hashable {
    /// The item is not open yet.
    case unknown
    case ready
    /// Final: the item cannot be opened, or does not have the range.
    case failed(MediaError)
    /// Final: looping was disabled, is over, or the item left the queue.
    case cancelled
  }

  /// What can be watched.
  public struct State: Sendable, Hashable {
    public var status = Status.unknown
    /// How many times playback has gone back to the beginning: 0 in the first pass.
    public var loopCount = 0
  }

  private struct Confined {
    var state = State()
    var isDisabled = false
    /// The repeat mode that the player had before the looper set another; nil: it has set none.
    var formerMode: RepeatMode?
    /// What is looped, cut to the item's frames; nil: all of it, or nothing yet.
    var range: TimeRange?
    var eventToken: ObserverToken?
    var stateToken: ObserverToken?
    var handlers: [(token: Int, handler: @Sendable (State) -> Void)] = []
    var nextToken = 1

    /// Of what watches the player.
    var tokens: [ObserverToken] { [eventToken, stateToken].compactMap { $0 } }
  }

  public let player: QueuePlayer
  /// The item that is looped; the same in every pass.
  public let item: PlayerItem
  /// The part that is looped; nil: all of the item.
  public let timeRange: TimeRange?
  private let count: Int?
  private let confined = Mutex(Confined())

  /// Loops `item`, which is in no queue or is this player's current one, from now on; nothing plays that did not before.
  ///
  /// `timeRange` is from a time of the item to another, cut to whole frames (see `setLoop`); the first pass begins at its
  /// beginning, too. `count` is how many times playback goes back; nil: until it is told otherwise.
  ///
  /// Errors: `invalidTime` for a range that is empty, negative or not numeric; `invalidArgument` for a `count` below 1. What
  /// only shows when the item is open makes the looper fail: a range beyond the item's end, an item without duration, an item
  /// that another player has or that waits in this player's queue (`itemInUse`).
  public init(
    player: QueuePlayer, item: PlayerItem, timeRange: TimeRange? = nil, count: Int? = nil
  ) throws(MediaError) {
    if let timeRange {
      guard timeRange.start.isNumeric, timeRange.end.isNumeric, timeRange.start >= .zero,
        timeRange.start < timeRange.end
      else {
        throw MediaError(.invalidTime, "a loop is from a time of the item to a later one", operation: "looper")
      }
    }
    if let count, count < 1 {
      throw MediaError(.invalidArgument, "a loop goes back once at least, not \(count) times", operation: "looper")
    }
    self.player = player
    self.item = item
    self.timeRange = timeRange
    self.count = count
    let loop = player.control.core.engine.loop
    if loop.isIsolatingCurrentContext() == true { begin() } else { loop.execute { self.begin() } }
  }

  deinit {
    let core = player.control.core
    let (tokens, former, isReady) = confined.withLock { ($0.tokens, $0.formerMode, $0.state.status == .ready) }
    guard !tokens.isEmpty else { return }
    let loopedID = isReady && timeRange != nil ? item.id : nil
    core.engine.loop.execute {
      for token in tokens { core.removeObserver(token) }
      guard !core.isClosed else { return }
      if let former { Self.endRepeating(in: core, former: former) }
      if let loopedID, core.machine.loop?.itemID == loopedID { core.run(core.machine.finishLoop(), cause: .request) }
    }
  }

  /// How far the looper is.
  public var status: Status { confined.withLock { $0.state.status } }

  /// How many times playback has gone back to the beginning: 0 in the first pass.
  public var loopCount: Int { confined.withLock { $0.state.loopCount } }

  /// Lets the present pass be the last. It is played to its end, and then comes what would have come without the looper: the
  /// player's action at an item's end. Without effect when looping is over already.
  public func disableLooping() {
    let loop = core.engine.loop
    if loop.isIsolatingCurrentContext() == true { disable() } else { loop.execute { self.disable() } }
  }

  /// Calls `handler` with each change, on the engine's control loop. The handler must not block: see `PlaybackEngine.loop`.
  /// `status` and `loopCount` are the initial values.
  ///
  /// - Returns: The token for `removeObserver`.
  public func addObserver(_ handler: @escaping @Sendable (State) -> Void) -> Int {
    confined.withLock { confined in
      defer { confined.nextToken += 1 }
      confined.handlers.append((confined.nextToken, handler))
      return confined.nextToken
    }
  }

  /// Ends an observer. Errors: `noSuchObserver`.
  public func removeObserver(_ token: Int) throws(MediaError) {
    let isThere = confined.withLock { confined in
      let count = confined.handlers.count
      confined.handlers.removeAll { $0.token == token }
      return confined.handlers.count < count
    }
    guard isThere else {
      throw MediaError(.noSuchObserver, "there is no observer \(token)", operation: "looper")
    }
  }

  // MARK: - On the loop

  private var core: PlayerCore { player.control.core }

  private func begin() {
    let id = item.id
    do throws(MediaError) {
      if core.items[id] == nil {
        try core.edit([.insert([item], at: .index(0))])
      } else if core.machine.entries.first?.id != id {
        throw MediaError(.itemInUse, "item \(id) waits in the queue already", operation: "looper")
      }
    } catch {
      return end(.failed(error))
    }
    let event = core.addEventObserver { [weak self] in self?.handle($0) }
    let state = core.addStateObserver { [weak self] in self?.handle($0) }
    confined.withLock {
      $0.eventToken = event
      $0.stateToken = state
    }
    core.load(id)
    settle()
  }

  /// Loops once the item is open.
  private func settle() {
    guard status == .unknown else { return }
    switch item.status {
    case .unknown: return
    case .failed(let error): end(.failed(error))
    case .readyToPlay:
      do throws(MediaError) { try loopNow() } catch { return end(.failed(error)) }
      change { $0.status = .ready }
    }
  }

  private func loopNow() throws(MediaError) {
    // That of a stream is not known before it is over.
    guard item.duration.isNumeric, item.duration > .zero else {
      throw MediaError(.invalidTime, "an item without duration cannot be looped", operation: "looper")
    }
    guard let timeRange else {
      let former = core.machine.repeatMode
      confined.withLock { $0.formerMode = former }
      return try core.setRepeatMode(.one, count: count, modeAfterwards: former)
    }
    try core.setLoop(timeRange, count: count, itemID: item.id)
    let range = core.machine.loop.map { TimeRange(start: $0.start, end: $0.end) }
    confined.withLock { $0.range = range }
    if core.currentTime() < timeRange.start || core.currentTime() >= timeRange.end {
      let seek = PlayerCore.Seek(itemID: item.id)
      try core.seek(to: timeRange.start, seek) { _ in }
    }
  }

  private func handle(_ event: PlayerEvent) {
    switch event {
    case .itemChanged(item.id, _, _, _): settle()
    case .seam(let seam) where seam.fromItemID == item.id && seam.toItemID == item.id:
      guard status == .ready else { return }
      change { $0.loopCount += 1 }
      guard let count, loopCount >= count else { return }
      // The last pass has begun, and the player knows that it is the last.
      end(.cancelled)
    case .playedToEnd(item.id, _), .failedToPlayToEnd(item.id, _, _):
      // A part that is looped does not come to the item's end; and who stands there, or is behind it, does not repeat.
      let isOver = timeRange != nil || core.machine.endedItem == item.id || core.machine.hasPassedEnd
      if status == .ready, isOver { endForItself() }
    default: break
    }
  }

  private func handle(_ change: PlayerChange) {
    guard status == .ready || status == .unknown else { return }
    if change.new.currentItemID != item.id { return endForItself() }
    // The player was told something else; by playing it comes to the end of what is counted, which a seam tells.
    guard status == .ready, change.cause == .request else { return }
    let range = confined.withLock { $0.range }
    let isOver =
      timeRange == nil
      ? change.old.repeatMode == .one && change.new.repeatMode != .one
      : change.old.loop?.range == range && change.new.loop?.range != range
    if isOver { endForItself() }
  }

  /// Looping is over otherwise than by `disableLooping`.
  private func endForItself() {
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
        // Where the loop is over already there is nothing to finish.
        try? core.finishLoop(itemID: item.id)
      }
    }
    end(.cancelled)
  }

  /// The item is not repeated by the looper any more; what the queue has been told meanwhile stays.
  private func endRepeating() {
    let former = confined.withLock { confined in
      defer { confined.formerMode = nil }
      return confined.formerMode
    }
    if let former { Self.endRepeating(in: core, former: former) }
  }

  private static func endRepeating(in core: PlayerCore, former: RepeatMode) {
    guard core.machine.repeatMode == .one, former != .one else { return }
    core.run(core.machine.setRepeatMode(former), cause: .request)
  }

  private func end(_ status: Status) {
    let tokens = confined.withLock { confined in
      defer { (confined.eventToken, confined.stateToken) = (nil, nil) }
      return confined.tokens
    }
    for token in tokens { core.removeObserver(token) }
    change { $0.status = status }
  }

  private func change(_ body: (inout State) -> Void) {
    let (state, handlers) = confined.withLock { confined in
      body(&confined.state)
      return (confined.state, confined.handlers)
    }
    for (_, handler) in handlers { handler(state) }
  }
}
