import PlayheadMediaCore

/// Reads several video tracks as one composed video, as AVAssetReaderVideoCompositionOutput.
///
/// There is a frame at every multiple of `frameDuration` up to the end of the asset. If this end is unknown, frames end
/// with the last instruction. A range contains every frame that is shown in it, as for ``AssetReaderVideoOutput``.
public final class AssetReaderVideoCompositionOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// The composition that is rendered.
  public let videoComposition: VideoComposition
  /// The pixel format of the frames.
  public let pixelFormat: PixelFormat

  /// Creates an output that has no reader yet.
  public init(
    videoComposition: VideoComposition, pixelFormat: PixelFormat = .bgra, supportsRandomAccess: Bool = false
  ) {
    self.videoComposition = videoComposition
    self.pixelFormat = pixelFormat
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) { try videoComposition.check() }

  override func makeSource(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any SampleBufferSource {
    var readers: [AssetTrack.ID: any VideoReader] = [:]
    for id in videoComposition.trackIDs.sorted() { readers[id] = try opening.videoReader(asset, trackID: id) }
    let end =
      properties.duration.isNumeric
      ? properties.duration : videoComposition.instructions.last?.timeRange.end ?? .zero
    guard end.isNumeric else {
      throw MediaError(
        .invalidTime, "neither the file nor the last instruction has an end: \(asset.displayPath)",
        operation: "read")
    }
    return try VideoCompositionSource(
      videoComposition, pixelFormat, readers, end: end, displayPath: asset.displayPath)
  }
}
