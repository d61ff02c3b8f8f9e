import MediaCore

/// Several video tracks, laid over one another: as AVAssetReaderVideoCompositionOutput.
///
/// There is a picture at every multiple of `frameDuration`, up to the end of the asset, or that of the last instruction where the asset's is not
/// known. A range gives every picture that is shown in it, as `AssetReaderVideoOutput` does.
public final class AssetReaderVideoCompositionOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// What is done.
  public let videoComposition: VideoComposition
  /// How the pixels of the pictures lie.
  public let pixelFormat: PixelFormat

  /// An output that has no reader yet.
  public init(
    videoComposition: VideoComposition, pixelFormat: PixelFormat = .bgra, supportsRandomAccess: Bool = false
  ) {
    self.videoComposition = videoComposition
    self.pixelFormat = pixelFormat
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) { try videoComposition.check() }

  override func makePass(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any ReadPass {
    var readers: [AssetTrack.ID: any VideoReader] = [:]
    for id in videoComposition.trackIDs.sorted() { readers[id] = try opening.videoReader(asset, trackID: id) }
    let end =
      properties.duration.isNumeric
      ? properties.duration : videoComposition.instructions.last?.timeRange.end ?? .zero
    guard end.isNumeric else {
      throw MediaError(
        .invalidTime, "neither the file nor the last instruction tells when it ends: \(asset.displayPath)",
        operation: "read")
    }
    return try VideoCompositionPass(
      videoComposition, pixelFormat, readers, end: end, displayPath: asset.displayPath)
  }
}
