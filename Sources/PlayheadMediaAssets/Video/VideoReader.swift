import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the frames of a video track of a file or a composition in order, from any time. `VideoTrackReader` documents
/// the functions.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
protocol VideoReader: AnyObject, Sendable {
  /// The range of the track, according to the container.
  var timeRange: TimeRange { get }
  /// The duration of the entire asset; indefinite if unknown.
  var assetDuration: MediaTime { get }
  var displayPath: String { get }
  /// The frame that a seek has reached, or that was returned last.
  var currentFrame: VideoFrame? { get }
  /// The limits of images of the frames.
  var imageLimits: LocalImageMaker.Limits { get }
  /// Whether the worker process that reads the video has ended, so that all further calls fail.
  var isLost: Bool { get }

  func next() throws(MediaError) -> VideoFrame?
  func seek(to time: MediaTime) throws(MediaError)
  func seekToKey(near time: MediaTime, latest: MediaTime) throws(MediaError) -> VideoFrame?
  func indexedKeyTimes(around time: MediaTime) -> (before: MediaTime?, after: MediaTime?)
  func popFault() -> MediaError?
  /// Releases as much memory as possible. The next seek is slower.
  func releaseMemory() throws(MediaError)
  func cancel()
  func resetCancellation()
}

extension VideoReader {
  var imageLimits: LocalImageMaker.Limits { .standard }
  var isLost: Bool { false }
}

/// Opens the reader that an asset needs.
enum VideoReaders {
  /// Opens an asset's video. Blocks.
  ///
  /// With isolation, a worker opens and decodes the video. Each part of a composition has the isolation of its asset.
  ///
  /// - Parameters:
  ///   - trackID: The track; nil for the first enabled video track.
  ///   - pixelCount: The number of pixels of the largest image to which frames are enlarged; 0 if they are not.
  ///   - pool: The workers; nil for those of this process.
  /// - Throws: The errors of `VideoTrackReader`; with isolation also `workerUnavailable`, and `damagedFile` if the
  ///   worker crashes.
  static func open(
    _ asset: Asset, interrupt: Interrupt, trackID: AssetTrack.ID?, log: NetworkLog?, pixelCount: Int = 0,
    pool: WorkerPool? = nil
  ) throws(MediaError) -> any VideoReader {
    if let composition = asset.composition {
      return try CompositionVideoReader(
        composition, interrupt: interrupt, trackID: trackID, log: log, pixelCount: pixelCount, pool: pool)
    }
    if asset.isolation != .none {
      guard case .bytes(let source) = try MediaFile.openLocation(of: asset, interrupt: interrupt, log: log) else {
        throw VideoTrackReader.unsupportedStream(asset)
      }
      let pool = if let pool { pool } else { try Asset.Isolation.pool() }
      let reader = try IsolatedVideoReader(
        pool, source: source, displayName: asset.displayPath, trackID: trackID, pixelCount: pixelCount)
      if let source = source.byteSource { asset.noteReading(source) }
      return reader
    }
    return try VideoTrackReader(asset: asset, interrupt: interrupt, trackID: trackID, log: log)
  }
}
