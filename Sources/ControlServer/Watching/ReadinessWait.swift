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
  private var closeHandler: UInt64?

  /// Creates a wait. `completion` is called once on the control loop, possibly while the player changes:
  ///
  /// - with nil when all entries are ready,
  /// - with the error of the first entry that fails,
  /// - with `wait-ended` if an entry leaves the queue before it is ready.
  init(_ target: NamedPlayer, items: [PlayerItem.ID], completion: @escaping (MediaError?) -> Void) {
    self.target = target
    self.items = items
    remaining = Set(items)
    self.completion = completion
  }

  func start() {
    tokens = target.player.onLoop { player in
      [
        player.addEventObserver { [self] event in
          if case .itemChanged(let id, let status, _, _) = event { changed(id, status) }
        },
        player.addStateObserver { [self] change in
          if change.old.queueVersion != change.new.queueVersion { queueChanged() }
        },
      ]
    }
    closeHandler = target.onClose { [self] in
      end(MediaError(.waitEnded, "the player \(target.name) was closed"))
    }
    target.player.onLoop { $0.load(items) }
    for id in items { changed(id, target.player.onLoop { $0.item(id)?.status } ?? .unknown) }
    queueChanged()
  }

  /// Ends the wait without calling `completion`.
  func cancel() {
    completion = nil
    stopWatching()
  }

  private func changed(_ id: PlayerItem.ID, _ status: ItemStatus) {
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
    stopWatching()
    completion(error)
  }

  private func stopWatching() {
    let tokens = tokens
    self.tokens = []
    // A closed player has no observers, so errors are ignored.
    target.player.onLoop { player in for token in tokens { try? player.removeObserver(token) } }
    if let closeHandler { target.removeCloseHandler(closeHandler) }
    closeHandler = nil
  }
}
