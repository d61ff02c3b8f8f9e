import PlayheadMediaCore
import PlayheadPlayback

/// Initializers that use the shared engine.
extension Player {
  /// Makes a player on the output of the shared engine.
  public init(name: String = "main") { self.init(engine: .shared, name: name) }

  /// Makes a player of an item, on the output of the shared engine.
  ///
  /// - Throws: `itemInUse`.
  public init(playerItem: PlayerItem) async throws(MediaError) {
    try await self.init(engine: .shared, playerItem: playerItem)
  }

  /// Makes a player of the resource at a `file:`, `http:` or `https:` URL, on the output of the shared engine.
  ///
  /// - Throws: the errors of `Asset.init(url:)`.
  public init(url: String) async throws(MediaError) { try await self.init(engine: .shared, url: url) }
}

extension QueuePlayer {
  /// Makes a player on the output of the shared engine.
  public init(name: String = "main") { self.init(engine: .shared, name: name) }

  /// Makes a player with a queue, on the output of the shared engine.
  ///
  /// - Throws: `itemInUse`.
  public init(items: [PlayerItem]) async throws(MediaError) { try await self.init(engine: .shared, items: items) }
}
