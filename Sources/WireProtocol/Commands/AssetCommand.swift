import MediaCore

/// Commands about files that a connection opens without playing them. Asset ids are local to the connection.
public enum AssetCommand: Sendable, Hashable {
  /// Creates an asset. Reads nothing yet. With `precise`, loading determines the exact duration.
  case open(FilePath, precise: Bool, charset: TextCharset? = nil, network: NetworkOptions = NetworkOptions())
  /// Loads values. At least one key.
  case load(asset: Int, WireList<AssetValueKey>)
  /// Cancels the load operations that read these keys. With no keys, cancels all.
  case cancel(asset: Int, WireList<AssetValueKey>)
  case status(asset: Int)
  case tracks(asset: Int)
  /// The selectable tracks, by group.
  case selection(asset: Int)
  /// The chapters from index `offset` on.
  case chapters(asset: Int, offset: Int, languages: WireList<String> = [])
  /// The asset's tags.
  case metadata(asset: Int, MetadataQuery)
  /// The artwork in the asset's tags.
  case artwork(asset: Int, ArtworkQuery)
  case close(asset: Int)
  /// Measures the loudness of files. At least one file.
  case scan(Scan)
  /// Computes a waveform of a file.
  case waveform(Waveform)
  /// Exports files to a new file.
  case export(Export)
  /// Writes images of a file's video.
  case image(Image)
  /// Lists files and folders.
  case folder(FolderQuery)
  /// Cancels one scan of the connection. Nil: all scans.
  case cancelScan(Int?)

  /// The files of a loudness scan, and the use of its result.
  public struct Scan: Sendable, Hashable {
    public var paths: WireList<FilePath>
    /// Whether the loudness of all files together is measured, too.
    public var measuresAlbum: Bool
    /// The player whose entries of these files use the measured gains. Nil: none.
    public var player: String?
    /// Options for the requests to files that are URLs.
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

/// A part of the files and folders in a folder.
public struct FolderQuery: Sendable, Hashable {
  /// The folder. Nil: the folders below which files may be read.
  public var path: FilePath?
  /// The last name of the previous part. Nil: the first part.
  public var after: [UInt8]?
  /// The maximum number of rows, at least 1.
  public var limit: Int

  public init(_ path: FilePath?, after: [UInt8]? = nil, limit: Int = WireLimits.standard.listCount) {
    self.path = path
    self.after = after
    self.limit = limit
  }
}

/// The values of an asset that can be loaded.
public enum AssetValueKey: String, Sendable, Hashable, CaseIterable {
  case tracks, duration, playable, readable, composable, hasProtectedContent, chapters, preferredRate, preferredVolume
  case providesPreciseDuration
  case metadata, commonMetadata, availableMetadataFormats
}
