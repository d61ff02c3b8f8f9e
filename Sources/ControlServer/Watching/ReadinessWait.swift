import MediaCore
import Playback
import PlayerModel

/// Opens queue entries and waits until they are ready to play.
///
/// Threading: confined to the control loop.
final class ReadinessWait: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which the observers that capture it are called.
  private let target: NamedPlayer
  private var remaining: Set<PlayerItem.ID>
  private let items: [PlayerItem.ID]
  private var completion: ((MediaError?) -> Void)?
  private var tokens: [ObserverToken] = []
  private var closeHandlerID: UInt64?

  /// Creates a wait. `completion` is called once on the control loop, unless `cancel` is called first. The call may
  /// come during `start`, or while the player changes:
  ///
  /// - with nil when all entries are ready,
  /// - with the error of the first entry that fails,
  /// - with `wait-ended` if an entry leaves the queue before it is ready, or if the player is closed.
  init(_ target: NamedPlayer, items: [PlayerItem.ID], completion: @escaping (MediaError?) -> Void) {
    self.target = target
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
    target.player.onLoop { $0.load(items) }
    for id in items { statusChanged(id, target.player.onLoop { $0.item(id)?.status } ?? .unknown) }
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

  private func queueChanged() {
    guard let missing = target.player.onLoop({ player in remaining.first { player.item($0) == nil } }) else { return }
    end(MediaError(.waitEnded, "item \(missing) left the queue before it was ready"))
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
