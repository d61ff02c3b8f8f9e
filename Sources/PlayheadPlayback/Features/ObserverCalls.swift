import DequeModule
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel

/// The calls of a player's observers and completions, in order.
///
/// A handler may call the player: resulting calls follow the pending ones, for all observers. While the machine's
/// actions are performed, calls are only collected, because the player's state is not consistent.
final class ObserverCalls: PlayerFeature {
  private enum Content {
    case change(PlayerChange)
    case event(PlayerEvent)
    /// A call of one handler, with the delay after the reported sample was heard, in nanoseconds.
    case call((_ lateNanoseconds: Int64) -> Void)
  }

  /// A pending call.
  private struct Call {
    var content: Content
    /// The newest observer when the call was added. Later observers do not get it, because their initial state includes
    /// its change.
    var newestToken: ObserverToken
    /// The time at which the reported sample was heard; nil if the call was not due at a sample.
    var heardAt: HostTime?
  }

  private unowned let player: PlayerCore
  private var stateObservers: [(token: ObserverToken, handler: @Sendable (PlayerChange) -> Void)] = []
  private var eventObservers: [(token: ObserverToken, handler: @Sendable (PlayerEvent) -> Void)] = []
  /// Closures that finish the asynchronous streams.
  private var streamFinishers: [ObserverToken: @Sendable () -> Void] = [:]
  /// The state that observers know.
  private(set) var publishedState = PlayerState()
  private var pending = Deque<Call>()
  private var isDelivering = false
  private var isCollecting = false
  private var newestToken: ObserverToken = 0
  /// Observers that were removed while calls were made.
  private var removedTokens: Set<ObserverToken> = []

  init(_ player: PlayerCore) {
    self.player = player
    publishedState.actionAtItemEnd = player.machine.actionAtItemEnd
  }

  var hasEventObservers: Bool { !eventObservers.isEmpty }

  // MARK: - Observers

  func addStateObserver(_ handler: @escaping @Sendable (PlayerChange) -> Void) -> ObserverToken {
    newestToken = player.engine.makeToken()
    stateObservers.append((newestToken, handler))
    return newestToken
  }

  func addEventObserver(_ handler: @escaping @Sendable (PlayerEvent) -> Void) -> ObserverToken {
    newestToken = player.engine.makeToken()
    eventObservers.append((newestToken, handler))
    return newestToken
  }

  /// Removes a state or event observer. Returns false if there is no such observer.
  @discardableResult
  func removeObserver(_ token: ObserverToken) -> Bool {
    if player.isClosed { return false }
    let count = stateObservers.count + eventObservers.count
    stateObservers.removeAll { $0.token == token }
    eventObservers.removeAll { $0.token == token }
    streamFinishers[token] = nil
    guard stateObservers.count + eventObservers.count < count else { return false }
    if isDelivering { removedTokens.insert(token) }
    return true
  }

  /// Calls `finish` when the player is closed before the observer is removed; at once if it is already closed.
  func addStreamFinisher(for token: ObserverToken, _ finish: @escaping @Sendable () -> Void) {
    if player.isClosed { return finish() }
    streamFinishers[token] = finish
  }

  func playerDidClose() {
    stateObservers = []
    eventObservers = []
    for finish in streamFinishers.values { finish() }
    streamFinishers = [:]
  }

  // MARK: - Calls

  /// Adds the call of the state observers for a change.
  func addChange(_ state: PlayerState, cause: ChangeCause, timebaseAnchor: TimebaseAnchor?) {
    let change = PlayerChange(old: publishedState, new: state, cause: cause, timebaseAnchor: timebaseAnchor)
    pending.append(Call(content: .change(change), newestToken: newestToken))
    publishedState = state
  }

  /// Calls the event observers.
  func send(_ event: PlayerEvent) {
    pending.append(Call(content: .event(event), newestToken: newestToken))
    deliver()
  }

  /// Makes a call after the pending ones.
  ///
  /// - Parameters:
  ///   - heardAt: The time at which the reported sample is heard; nil if the call is not due at a sample.
  ///   - isDeferred: Whether the call waits for the next delivery.
  func add(
    heardAt: HostTime? = nil, isDeferred: Bool = false, _ call: @escaping (_ lateNanoseconds: Int64) -> Void
  ) {
    pending.append(Call(content: .call(call), newestToken: newestToken, heardAt: heardAt))
    if !isDeferred { deliver() }
  }

  /// Only collects calls until `body` has ended.
  func collect(during body: () -> Void) {
    isCollecting = true
    body()
    isCollecting = false
  }

  /// Makes the pending calls in order.
  func deliver() {
    guard !isDelivering, !isCollecting else { return }
    isDelivering = true
    while let call = pending.popFirst() {
      switch call.content {
      case .change(let change):
        for observer in stateObservers where isDue(observer.token, call) { observer.handler(change) }
      case .event(let event):
        for observer in eventObservers where isDue(observer.token, call) { observer.handler(event) }
      case .call(let handler): handler(lateness(of: call))
      }
    }
    isDelivering = false
    removedTokens = []
  }

  /// How long ago the reported sample was heard. Measured at the call, because earlier handlers may take long.
  private func lateness(of call: Call) -> Int64 {
    call.heardAt.map { max(0, player.engine.loop.now.nanoseconds(since: $0)) } ?? 0
  }

  private func isDue(_ token: ObserverToken, _ call: Call) -> Bool {
    token <= call.newestToken && !removedTokens.contains(token) && !player.isClosed
  }
}
