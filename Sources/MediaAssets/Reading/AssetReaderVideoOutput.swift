import MediaCore

/// The pictures of one video track, decoded: a buffer for each, in the order in which they are shown.
///
/// A range gives every picture that is shown in it: the first is the one that covers its start, and is cut to begin there, as the last is
/// cut to end with it. Pictures are as they lie in the file unless the settings turn them; `rotationDegrees` and the shape of a
/// pixel in a buffer's format say how they are to be shown. Two buffers are read ahead, and more where they are small.
public final class AssetReaderVideoOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// The track; nil: the first video track that is enabled.
  public let trackID: AssetTrack.ID?
  /// What the pictures are read as.
  public let settings: VideoReadSettings

  /// An output that has no reader yet.
  public init(
    trackID: AssetTrack.ID? = nil, settings: VideoReadSettings = VideoReadSettings(),
    supportsRandomAccess: Bool = false
  ) {
    self.trackID = trackID
    self.settings = settings
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) { try settings.check() }

  override func makePass(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any ReadPass {
    try VideoPass(try opening.videoReader(asset, trackID: trackID), settings)
  }
}
