import PlayheadMediaCore
import PlayheadPlayback

/// Changes of long queues, which another thread computes.
extension Client {
  /// The number of entries of a queue from which another thread shuffles it and jumps in it.
  static let longQueueLength = 1_024

  /// Whether shuffling the queue of a player, or jumping in it, may take long.
  func isQueueLong(of player: String) -> Bool {
    guard let target = try? server.registry.player(player) else { return false }
    return target.state.itemCount > Self.longQueueLength
  }

  /// Computes a change of a long queue on another thread. Then calls `completion`.
  func perform(
    _ operation: QueueOperation, ifVersion version: Int?, on target: NamedPlayer,
    completion: @escaping @Sendable (Result<Void, MediaError>) -> Void
  ) {
    target.player.onLoop { player in
      player.perform(operation, adding: QueueReservation()) { () throws(MediaError) in
        try self.checkVersion(version, of: target)
      } completion: { result in
        completion(result.map { _ in })
      }
    }
  }
}
