import MediaCore
import Playback

/// Waits until some queue entries are ready to play, and has them opened for that.
///
/// Threading: confined to the control loop.
final class ReadinessWait: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, where the observers that carry it are called.
  private let target: NamedPlayer
  private var remaining: Set<PlayerItem.ID>
  private let items: [PlayerItem.ID]
  private var completion: ((MediaError?) -> Void)?
  private var tokens: [ObserverToken] = []
  private var closeHandler: UInt64?

  /// `completion` is called once, on the loop, perhaps amid a change of the player: with nil when all are ready, else with
  /// the error of the first that failed, or with `wait-ended` when one left the queue before.
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

  /// Ends the wait without calling anybody.
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
    guard let gone = target.player.onLoop({ player in remaining.first { player.item($0) == nil } }) else { return }
    end(MediaError(.waitEnded, "item \(gone) left the queue before it was ready"))
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
    // A player that was closed has none any more.
    target.player.onLoop { player in for token in tokens { try? player.removeObserver(token) } }
    if let closeHandler { target.removeCloseHandler(closeHandler) }
    closeHandler = nil
  }
}
