import PlayheadMediaCore

/// Reads the decoded frames of one video track: one buffer for each, in the order in which they are shown.
///
/// A range contains every frame that is shown in it. The first frame covers the range's start and is cut to begin
/// there, and the last is cut at the range's end.
///
/// Frames have the orientation of the file unless the settings rotate them. `rotationDegrees` and the pixel aspect
/// ratio in a buffer's format state how to show them. Two buffers are read ahead, and more if they are small.
///
/// With `Asset.Isolation`, a worker process decodes and converts the frames. Large frames have a worker with more
/// memory. A delivered frame then has at most 136 MiB, enough for BGRA of 8192 x 4352 pixels, and 64 MiB if the file is
/// a stream that cannot seek back. Larger frames are `mediaLimitExceeded`.
public final class AssetReaderVideoOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// The track. Default: nil, the first enabled video track.
  public let trackID: AssetTrack.ID?
  /// The format of the frames.
  public let settings: VideoReadSettings

  /// Creates an output that has no reader yet.
  public init(
    trackID: AssetTrack.ID? = nil, settings: VideoReadSettings = VideoReadSettings(),
    supportsRandomAccess: Bool = false
  ) {
    self.trackID = trackID
    self.settings = settings
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) { try settings.check() }

  override func makeSource(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any SampleBufferSource {
    let pixelCount = settings.size.map { $0.width * $0.height } ?? 0
    return try VideoTrackSource(try opening.videoReader(asset, trackID: trackID, pixelCount: pixelCount), settings)
  }
}
