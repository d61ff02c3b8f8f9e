import MediaCore

/// Commands about files that a connection has opened to look at; ids are its own.
public enum AssetCommand: Sendable, Hashable {
  /// Nothing is read yet. With `precise` the duration is found out exactly.
  case open(FilePath, precise: Bool, charset: TextCharset? = nil, network: NetworkOptions = NetworkOptions())
  /// Loads values; at least one key.
  case load(asset: Int, WireList<AssetValueKey>)
  /// Gives up loading what these keys are read with; of all where none is named.
  case cancel(asset: Int, WireList<AssetValueKey>)
  case status(asset: Int)
  case tracks(asset: Int)
  /// What there is to choose from among its tracks.
  case selection(asset: Int)
  /// From the one with this index on.
  case chapters(asset: Int, offset: Int, languages: WireList<String> = [])
  /// What its tags say.
  case metadata(asset: Int, MetadataQuery)
  /// The pictures in them.
  case artwork(asset: Int, ArtworkQuery)
  case close(asset: Int)
  /// Measures how loud files are; at least one.
  case scan(Scan)
  /// Finds out what a file looks like.
  case waveform(Waveform)
  /// Makes a file of others.
  case export(Export)
  /// Writes images of a file's video.
  case image(Image)
  /// Ends one scan of the connection, or all.
  case cancelScan(Int?)

  /// What is measured, and what becomes of it.
  public struct Scan: Sendable, Hashable {
    public var paths: WireList<FilePath>
    /// How loud they are as one, too.
    public var measuresAlbum: Bool
    /// The player whose entries of these files are played by the result; nil: none.
    public var player: String?
    /// How those are asked for that are addresses.
    public var network: NetworkOptions

    public init(
      _ paths: WireList<FilePath>, measuresAlbum: Bool = false, player: String? = nil,
      network: NetworkOptions = NetworkOptions()
    ) {
      self.paths = paths
      self.measuresAlbum = measuresAlbum
      self.player = player
      self.network = network
    }
  }
}

/// What can be loaded of an asset.
public enum AssetValueKey: String, Sendable, Hashable, CaseIterable {
  case tracks, duration, playable, readable, composable, hasProtectedContent, chapters, preferredRate, preferredVolume
  case providesPreciseDuration
  case metadata, commonMetadata, availableMetadataFormats
}
