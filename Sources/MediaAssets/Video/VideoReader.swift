import LibAV
import MediaCore
import NetworkIO

/// What reads the pictures of a track, in order, from any time on: a file's, or a composition's. See `VideoTrackReader`, whose functions
/// these are.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` from any.
protocol VideoReader: AnyObject, Sendable {
  var track: AssetTrack { get }
  /// Of all of the asset; indefinite when not known.
  var assetDuration: MediaTime { get }
  var displayPath: String { get }
  /// The picture that a seek has reached, or that was given last.
  var shown: VideoShot? { get }

  func next() throws(MediaError) -> VideoShot?
  func seek(to time: MediaTime) throws(MediaError)
  func seekToKey(near time: MediaTime, latest: MediaTime) throws(MediaError) -> VideoShot?
  func indexedKeyTimes(around time: MediaTime) -> (before: MediaTime?, after: MediaTime?)
  func takeFault() -> MediaError?
  func cancel()
  func resetCancellation()
}

/// Which reader an asset needs.
enum VideoReaders {
  /// Opens an asset's video. Blocks. Errors: those of `VideoTrackReader`.
  ///
  /// - Parameter trackID: nil: the first video track that is enabled.
  static func open(
    _ asset: Asset, interrupt: Interrupt, trackID: AssetTrack.ID?, log: NetworkLog?
  ) throws(MediaError) -> any VideoReader {
    if let composition = asset.composition {
      return try CompositionVideoReader(composition, interrupt: interrupt, trackID: trackID, log: log)
    }
    return try VideoTrackReader(asset: asset, interrupt: interrupt, trackID: trackID, log: log)
  }
}
