/// Initializers that use the shared engine.
extension AudioPlayer {
  /// Creates a player of a file. Blocks until the file has been opened.
  ///
  /// - Throws: the errors of `Asset.load`; `noPlayableTracks`.
  public convenience init(path: String) throws(MediaError) { try self.init(path: path, engine: .shared) }

  /// Creates a player of a `file:`, `http:` or `https:` URL. Blocks until it has been opened.
  ///
  /// - Throws: the errors of `init(path:)` and of `Asset.init(url:)`.
  public convenience init(url: String) throws(MediaError) { try self.init(url: url, engine: .shared) }

  /// Creates a player of a file in memory. Throws the errors of `init(path:)`.
  public convenience init(data: [UInt8]) throws(MediaError) { try self.init(data: data, engine: .shared) }
}
