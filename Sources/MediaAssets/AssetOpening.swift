import LibAV
import MediaCore
import NetworkIO
import Synchronization

/// One opening of an asset, which can be cancelled while it blocks: a server may take its time.
///
/// Threading: `inspect`, or `load` and then `reader` for each track that is read, on a worker thread; `cancel` from any, does not block.
public final class AssetOpening: Sendable {
  private let interrupt = Interrupt()
  private let job = Mutex<AssetWorkers.Job?>(nil)
  private let log: NetworkLog?

  /// - Parameter log: what the network does for it is noted there; nil: in the asset's.
  public init(log: NetworkLog? = nil) { self.log = log }

  /// Makes what runs, and what is called then, throw `cancelled`; what `run` has not begun does not begin.
  public func cancel() {
    interrupt.cancel()
    job.withLock { $0 }?.cancel()
  }

  /// Runs `body`, which may block, on one of the asset's threads, once; not at all when this is cancelled. Does not block.
  ///
  /// - Parameter timedOut: called, and this cancelled, when it takes longer than opening the asset may, or cannot begin for so
  ///   long: with `openingTimedOut`. On another thread; must not block.
  public func run(
    for asset: Asset, _ body: @escaping @Sendable () -> Void, timedOut: @escaping @Sendable (MediaError) -> Void
  ) {
    let work = asset.workers.run(forNanoseconds: asset.openingNanoseconds) { _ in
      body()
    } timedOut: { [self] reason in
      cancel()
      timedOut(reason.error(asset.displayPath))
    }
    job.withLock { $0 = work }
    if interrupt.isCancelled { work.cancel() }
  }

  /// A picture of the asset's tags. Blocks. Errors: those of `Asset.loadArtwork`; `cancelled`.
  ///
  /// - Parameter index: nil: the picture to show.
  public func artwork(_ index: Int?, of asset: Asset) throws(MediaError) -> (index: Int, Artwork) {
    try asset.loadArtwork(index, interrupt: interrupt)
  }

  /// What the asset's tags say. Blocks. Errors: those of `Asset.load`; `cancelled`.
  func metadata(of asset: Asset) throws(MediaError) -> AssetMetadata { try asset.loadMetadata(interrupt: interrupt) }

  /// Finds out what the asset is, for who does not read it. Blocks. Errors: those of `Asset.load`; `cancelled`.
  public func inspect(_ asset: Asset) throws(MediaError) -> AssetProperties {
    try asset.load(interrupt: interrupt, log: log)
  }

  /// All that the tags of an asset say of how loud it is to be, which loading it may have left out; nil when it is not loaded. Blocks.
  ///
  /// Errors, which leave it to be found out: those of reading files; `cancelled`.
  public func levelTags(of asset: Asset) throws(MediaError) -> LevelTags? {
    try asset.completeLevelTags(interrupt: interrupt)
  }

  /// Finds out what the asset is; what had to be opened for that is kept for `reader`. Blocks.
  ///
  /// Errors: those of `Asset.load`; `cancelled`.
  public func load(_ asset: Asset) throws(MediaError) -> AssetProperties {
    try asset.load(interrupt: interrupt, keepsOpen: true, log: log)
  }

  /// Opens the asset's sound. Blocks.
  ///
  /// - Parameters:
  ///   - trackID: the track to read; nil: the one that the file would have played.
  ///   - encoding: what is read, as `AudioTrackReader` takes it.
  ///   - isPlayback: whether a player plays it, which decides where it is decoded (`Asset.Isolation`).
  ///   - keepsFile: whether a local file stays open for further readers until `Asset.dropFile`.
  ///
  /// Errors: those of `AudioTrackReader`; `cancelled`.
  public func reader(
    _ asset: Asset, trackID: AssetTrack.ID?, encoding: PCMEncoding = .float32, keepsFile: Bool = false,
    isPlayback: Bool = false
  ) throws(MediaError) -> AudioTrackReader {
    defer { finish(asset) }
    return try AudioTrackReader(
      asset: asset, interrupt: interrupt, kinds: .regularFiles, trackID: trackID, encoding: encoding, log: log,
      keepsFile: keepsFile, isPlayback: isPlayback)
  }

  /// Opens the asset's video. Blocks. Errors: those of `VideoTrackReader`; `cancelled`.
  ///
  /// - Parameter trackID: nil: the first video track that is enabled.
  func videoReader(_ asset: Asset, trackID: AssetTrack.ID?) throws(MediaError) -> any VideoReader {
    defer { finish(asset) }
    return try VideoReaders.open(asset, interrupt: interrupt, trackID: trackID, log: log)
  }

  /// Opens the asset's video to make images of it, in a worker where the asset's isolation has one. Blocks.
  ///
  /// Errors: those of `VideoTrackReader`; `workerUnavailable`; `mediaLimitExceeded` for images that are too large for a worker; `cancelled`.
  func imageMaker(_ asset: Asset, _ task: ImageTask) throws(MediaError) -> any ImageMaker {
    defer { finish(asset) }
    return try ImageMakers.open(asset, task, interrupt: interrupt, log: log)
  }

  /// Opens the asset's container, for who reads its packets. Blocks.
  ///
  /// Errors: those of `Asset.load` that concern the file and its container; `invalidArgument` for what has no packets of its own: a
  /// stream in segments; `cancelled`.
  func container(_ asset: Asset) throws(MediaError) -> (demuxer: Demuxer, byteCount: Int64, interrupt: Interrupt) {
    guard case .file(let demuxer, let byteCount) = try MediaFile.open(asset, interrupt: interrupt, log: log) else {
      throw MediaError(
        .invalidArgument, "only the samples of a file are read as they are stored: \(asset.displayPath)",
        operation: "read")
    }
    return (demuxer, byteCount, interrupt)
  }

  /// Nothing more is opened: what was kept is let go.
  public func finish(_ asset: Asset) { asset.dropKept() }
}
