/// Players on the engine that the program shares.
extension AudioPlayer {
  /// A player of a file. Blocks until the file has been opened. Errors: those of `Asset.load`; `noPlayableTracks`.
  public convenience init(path: String) throws(MediaError) { try self.init(path: path, engine: .shared) }

  /// A player of what a `file:`, `http:` or `https:` URL names. Errors likewise, and those of `Asset.init(url:)`.
  public convenience init(url: String) throws(MediaError) { try self.init(url: url, engine: .shared) }

  /// A player of a file's bytes in memory. Errors likewise.
  public convenience init(data: [UInt8]) throws(MediaError) { try self.init(data: data, engine: .shared) }
}
