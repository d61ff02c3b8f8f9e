import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel

/// Opens queue entries and waits until they are ready to play. Many entries are opened in slices. After a change of the
/// queue, they are also looked for in slices.
///
/// Threading: confined to the control loop.
final class ReadinessWait: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which the observers that capture it are called.

  /// The number of entries that one loop iteration opens or looks for.
  private static let sliceLength = 128

  private let target: NamedPlayer
  private let loop: any ControlLoop
  private let items: [PlayerItem.ID]
  /// The entries that are not ready.
  private var remaining: Set<PlayerItem.ID>
  private var openedCount = 0
  /// The index in `items` of the entry that is looked for next.
  private var cursor = 0
  /// The number of entries to look for, because the queue has changed.
  private var uncheckedCount = 0
  private var completion: ((MediaError?) -> Void)?
  private var tokens: [ObserverToken] = []
  private var closeHandlerID: UInt64?

  /// Creates a wait for at least one entry. `completion` is called once on the control loop, unless `cancel` is called
  /// first. The call may come during `start`, or while the player changes:
  ///
  /// - with nil when all entries are ready,
  /// - with the error of the first entry that fails,
  /// - with `wait-ended` if an entry leaves the queue before it is ready, or if the player is closed.
  init(
    _ target: NamedPlayer, items: [PlayerItem.ID], loop: any ControlLoop, completion: @escaping (MediaError?) -> Void
  ) {
    self.target = target
    self.loop = loop
    self.items = items
    remaining = Set(items)
    self.completion = completion
  }

  /// Opens the entries and observes them.
  func start() {
    tokens = target.player.onLoop { player in
      [
        player.addEventObserver { [self] event in
          if case .itemChanged(let id, let status, _, _) = event { statusChanged(id, status) }
        },
        player.addStateObserver { [self] change in
          if change.old.queueVersion != change.new.queueVersion { queueChanged() }
        },
      ]
    }
    closeHandlerID = target.addCloseHandler { [self] in
      end(MediaError(.waitEnded, "the player \(target.name) was closed"))
    }
    openSlice()
    queueChanged()
  }

  /// Ends the wait without calling `completion`.
  func cancel() {
    completion = nil
    removeObservers()
  }

  private func statusChanged(_ id: PlayerItem.ID, _ status: ItemStatus) {
    guard remaining.contains(id) else { return }
    switch status {
    case .unknown: return
    case .failed(let error): end(error)
    case .readyToPlay:
      remaining.remove(id)
      if remaining.isEmpty { end(nil) }
    }
  }

  private func openSlice() {
    let slice = items[openedCount..<min(openedCount + Self.sliceLength, items.count)]
    openedCount = slice.endIndex
    target.player.onLoop { $0.load(Array(slice)) }
    for id in slice { statusChanged(id, target.player.onLoop { $0.item(id)?.status } ?? .unknown) }
    guard completion != nil, openedCount < items.count else { return }
    loop.execute { [self] in if completion != nil { openSlice() } }
  }

  private func queueChanged() {
    let isChecking = uncheckedCount > 0
    uncheckedCount = items.count
    if !isChecking { checkSlice() }
  }

  /// Looks for entries in the queue. The search goes around, so that it finds a missing entry even if the queue changes
  /// in each iteration.
  private func checkSlice() {
    for _ in 0..<min(uncheckedCount, Self.sliceLength) {
      let id = items[cursor]
      cursor = (cursor + 1) % items.count
      uncheckedCount -= 1
      guard remaining.contains(id), target.player.onLoop({ $0.item(id) == nil }) else { continue }
      return end(MediaError(.waitEnded, "item \(id) left the queue before it was ready"))
    }
    if uncheckedCount > 0 { loop.execute { [self] in if completion != nil { checkSlice() } } }
  }

  private func end(_ error: MediaError?) {
    guard let completion else { return }
    self.completion = nil
    removeObservers()
    completion(error)
  }

  private func removeObservers() {
    let tokens = tokens
    self.tokens = []
    // A closed player has no observers, so errors are ignored.
    target.player.onLoop { player in for token in tokens { try? player.removeObserver(token) } }
    if let closeHandlerID { target.removeCloseHandler(closeHandlerID) }
    closeHandlerID = nil
  }
}
