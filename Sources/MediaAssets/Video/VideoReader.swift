import LibAV
import MediaCore
import NetworkIO

/// Reads the frames of a video track of a file or a composition in order, from any time. `VideoTrackReader` documents
/// the functions.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
protocol VideoReader: AnyObject, Sendable {
  var track: AssetTrack { get }
  /// The duration of the entire asset; indefinite if unknown.
  var assetDuration: MediaTime { get }
  var displayPath: String { get }
  /// The frame that a seek has reached, or that was returned last.
  var currentFrame: VideoFrame? { get }

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

/// Opens the reader that an asset needs.
enum VideoReaders {
  /// Opens an asset's video. Blocks.
  ///
  /// - Parameter trackID: The track; nil for the first enabled video track.
  /// - Throws: The errors of `VideoTrackReader`.
  static func open(
    _ asset: Asset, interrupt: Interrupt, trackID: AssetTrack.ID?, log: NetworkLog?
  ) throws(MediaError) -> any VideoReader {
    if let composition = asset.composition {
      return try CompositionVideoReader(composition, interrupt: interrupt, trackID: trackID, log: log)
    }
    return try VideoTrackReader(asset: asset, interrupt: interrupt, trackID: trackID, log: log)
  }
}
