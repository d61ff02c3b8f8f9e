import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import Synchronization

/// Opens one asset. Can be cancelled while it blocks, for example on a slow server.
///
/// Threading: call `inspect`, or `load` and then `reader` for each track, on a worker thread. `cancel` is safe on any
/// thread and does not block.
package final class AssetOpening: Sendable {
  private let interrupt = Interrupt()
  private let job = Mutex<AssetWorkers.Job?>(nil)
  private let log: NetworkLog?

  /// - Parameter log: the log of network activity; nil: the asset's log.
  package init(log: NetworkLog? = nil) { self.log = log }

  /// Makes running and later calls throw `cancelled`. A `body` of `run` that has not started will not start.
  package func cancel() {
    interrupt.cancel()
    job.withLock { $0 }?.cancel()
  }

  /// Runs `body`, which may block, once on a thread of the asset's workers; not at all if this opening is cancelled.
  /// Does not block.
  ///
  /// - Parameters:
  ///   - asset: The asset.
  ///   - body: The work, on a worker thread.
  ///   - timedOut: called with `openingTimedOut` if `body` exceeds the time limit of opening the asset, or cannot start
  ///     within it. The opening is cancelled before the call. It is called on another thread and must not block.
  package func run(
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

  /// Returns an image of the asset's tags. Blocks.
  ///
  /// - Parameters:
  ///   - index: the index of the image; nil: the preferred image.
  ///   - asset: The asset to open.
  /// - Throws: the errors of `Asset.loadArtwork`; `cancelled`.
  package func artwork(_ index: Int?, of asset: Asset) throws(MediaError) -> (index: Int, Artwork) {
    try asset.loadArtwork(index, interrupt: interrupt)
  }

  /// Returns the asset's tags. Blocks. Throws the errors of `Asset.load`, and `cancelled`.
  func metadata(of asset: Asset) throws(MediaError) -> AssetMetadata { try asset.loadMetadata(interrupt: interrupt) }

  /// Reads the asset's tags for ``Asset/titles`` without opening the asset, and keeps only the titles. Blocks.
  ///
  /// The memory for titles is part of the budget for tags of all assets: titles use at most half of it (32 MiB).
  ///
  /// - Returns: whether there are new titles. False in these cases:
  ///   - The titles are known.
  ///   - The file has no titles. ``Asset/titles`` is then empty.
  ///   - The file cannot be read. ``Asset/titles`` is then empty.
  ///   - The budget is exhausted. ``Asset/titles`` is then empty.
  ///   - The operation was cancelled. ``Asset/titles`` stays nil.
  ///   - The encoding of the tags was changed meanwhile. ``Asset/titles`` stays nil.
  package func readTitles(of asset: Asset) -> Bool { asset.readTitles(interrupt: interrupt) }

  /// The result of ``AssetOpening/updateTitles(of:)``.
  package struct TitleUpdate: Sendable, Hashable {
    /// Whether ``Asset/titles`` has other titles than before.
    package var hasNewTitles = false
    /// Whether ``Asset/titles`` or ``Asset/titlesVersion`` changed.
    package var mustBeSaved = false
  }

  /// Reads the titles of a local file as ``readTitles(of:)``. Also reads restored titles again if the file has changed
  /// since, and determines ``Asset/titlesVersion``. Blocks.
  ///
  /// Restored titles of a file that cannot be examined stay.
  package func updateTitles(of asset: Asset) -> TitleUpdate { asset.updateTitles(interrupt: interrupt) }

  /// Determines the asset's properties for a caller that does not read it. Blocks.
  ///
  /// - Throws: the errors of `Asset.load`; `cancelled`.
  package func inspect(_ asset: Asset) throws(MediaError) -> AssetProperties {
    try asset.load(interrupt: interrupt, log: log)
  }

  /// Returns all loudness tags of the asset, also those that loading may have skipped; nil if the
  /// asset is not loaded. Blocks.
  ///
  /// - Throws: the errors of reading files; `cancelled`. After an error a later call reads the tags again.
  package func loudnessTags(of asset: Asset) throws(MediaError) -> LoudnessTags? {
    try asset.completeLoudnessTags(interrupt: interrupt)
  }

  /// Determines the asset's properties, and keeps an opened byte source for `reader`. Blocks.
  ///
  /// - Throws: the errors of `Asset.load`; `cancelled`.
  package func load(_ asset: Asset) throws(MediaError) -> AssetProperties {
    try asset.load(interrupt: interrupt, keepsOpen: true, log: log)
  }

  /// Opens the asset's audio. Blocks.
  ///
  /// - Parameters:
  ///   - asset: The asset to open.
  ///   - trackID: the track to read; nil: the track of `AssetProperties.audioTrackID`.
  ///   - encoding: the sample encoding that the `AudioTrackReader` delivers.
  ///   - keepsFile: whether a local file stays open for further readers until `Asset.dropFile`.
  ///   - isPlayback: whether a player plays the audio, which decides where the audio is decoded (`Asset.Isolation`).
  /// - Throws: the errors of `AudioTrackReader`; `cancelled`.
  package func reader(
    _ asset: Asset, trackID: AssetTrack.ID?, encoding: PCMEncoding = .float32, keepsFile: Bool = false,
    isPlayback: Bool = false
  ) throws(MediaError) -> AudioTrackReader {
    defer { finish(asset) }
    return try AudioTrackReader(
      asset: asset, interrupt: interrupt, kinds: .regularFiles, trackID: trackID, encoding: encoding, log: log,
      keepsFile: keepsFile, isPlayback: isPlayback)
  }

  /// Opens the asset's video, in a worker process if the asset's isolation uses one. Blocks.
  ///
  /// - Parameters:
  ///   - trackID: the track; nil: the first enabled video track.
  ///   - pixelCount: the number of pixels of the largest image to which frames are enlarged; 0 if they are not.
  /// - Throws: the errors of `VideoTrackReader`; `workerUnavailable`; `cancelled`.
  func videoReader(
    _ asset: Asset, trackID: AssetTrack.ID?, pixelCount: Int = 0
  ) throws(MediaError) -> any VideoReader {
    defer { finish(asset) }
    return try VideoReaders.open(asset, interrupt: interrupt, trackID: trackID, log: log, pixelCount: pixelCount)
  }

  /// Opens the asset's video to create images, in a worker process if the asset's isolation uses one. Blocks.
  ///
  /// - Throws: the errors of `VideoTrackReader`; `workerUnavailable`; `mediaLimitExceeded` for images that are too
  ///   large for a worker; `cancelled`.
  func imageMaker(_ asset: Asset, _ task: ImageTask) throws(MediaError) -> any ImageMaker {
    defer { finish(asset) }
    return try ImageMakers.open(asset, task, interrupt: interrupt, log: log)
  }

  /// Opens a track's stored samples, in a worker process if the asset's isolation uses one. Blocks.
  ///
  /// - Parameter isCounted: whether the positions of the samples are counted in audio frames.
  /// - Throws: the errors of `StoredSampleSources.open`.
  func storedSamples(
    _ asset: Asset, trackID: AssetTrack.ID, isCounted: Bool
  ) throws(MediaError) -> any StoredSampleSource {
    try StoredSampleSources.open(asset, trackID: trackID, isCounted: isCounted, interrupt: interrupt, log: log)
  }

  /// Ends this opening: releases the byte source that was kept open.
  package func finish(_ asset: Asset) { asset.closeKeptSource() }
}
