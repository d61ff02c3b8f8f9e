import Isolation
import LibAV
import MediaCore

/// Makes images of a video in a worker process.
extension AssetWorkerFunctions {
  /// Opens the video of an asset. This process parses the file.
  ///
  /// A header may declare a size that no frame has. Therefore the worker first decodes a key frame, and reports that
  /// the images need more memory only if the frame also needs it.
  ///
  /// - Throws: The errors of `VideoTrackReader`; `mediaLimitExceeded`, before anything is decoded, for images that are
  ///   too large for any worker.
  mutating func openVideo(_ asset: Asset, _ parameters: VideoParameters) throws(MediaError) -> VideoDescription {
    let task = parameters.task
    let reader = try VideoTrackReader(asset: asset, interrupt: Interrupt(), trackID: task.trackID)
    let format = reader.format
    let plan = ImageRenderer.plan(
      width: format.width, height: format.height, pixelAspectRatio: nil, format: format, settings: task.settings)
    try Self.check(plan, width: format.width, height: format.height, task.sheet, .largeWorker)
    if !parameters.isLarge, Self.needsLargeWorker(plan, width: format.width, height: format.height, task.sheet),
      let videoFrame = try reader.decodeKeyFrame()
    {
      let (width, height) = (videoFrame.properties.width, videoFrame.properties.height)
      if Self.needsLargeWorker(
        ImageRenderer.plan(of: videoFrame, task.settings), width: width, height: height, task.sheet)
      {
        return VideoDescription(timeRange: reader.timeRange, needsLargeWorker: true)
      }
    }
    let maker = try LocalImageMaker(reader, task, limits: parameters.isLarge ? .largeWorker : .worker)
    imageMaker = maker
    return VideoDescription(timeRange: maker.timeRange, needsLargeWorker: false)
  }

  /// Checks the size of an image, and of the sheet with such images.
  ///
  /// - Parameters:
  ///   - width: The width of the decoded video frame.
  ///   - height: The height of the decoded video frame.
  /// - Throws: `mediaLimitExceeded`.
  private static func check(
    _ plan: ImageRenderer.Plan, width: Int, height: Int, _ sheet: ContactSheet?, _ limits: LocalImageMaker.Limits
  ) throws(MediaError) {
    let pixelCount = plan.pixelCount(width: width, height: height)
    guard pixelCount <= limits.pixelCount else {
      throw ImageSource.tooLarge(pixelCount, maximumPixelCount: limits.pixelCount)
    }
    guard let sheet else { return }
    let size = plan.imageSize
    _ = try ContactSheetPainter.size(sheet, size.width, size.height, maximumPixelCount: limits.sheetPixelCount)
  }

  /// Returns whether an image, its sheet or the decoded video frames exceed the memory of a worker with the default
  /// limits.
  private static func needsLargeWorker(
    _ plan: ImageRenderer.Plan, width: Int, height: Int, _ sheet: ContactSheet?
  ) -> Bool {
    if width * height > LocalImageMaker.Limits.worker.pixelCount { return true }
    do throws(MediaError) { try check(plan, width: width, height: height, sheet, .worker) } catch { return true }
    return false
  }

  /// Performs a function on the open video.
  func performOnVideo(_ function: AssetWorkerFunction, _ parameters: [UInt8]) throws(MediaError) -> [UInt8] {
    guard let imageMaker else { throw Self.malformed }
    switch function {
    case .makeImage:
      return MessageEncoder.bytes(of: try imageMaker.makeImage(at: try Self.decoded(MediaTime.self, parameters)))
    case .addSheetImage:
      let image = try Self.decoded(SheetImageParameters.self, parameters)
      return MessageEncoder.bytes(of: try imageMaker.addSheetImage(at: image.time, index: image.index))
    case .finishSheet: return MessageEncoder.bytes(of: try imageMaker.finishSheet())
    case .readImage: return MessageEncoder.bytes(of: try imageMaker.nextBytes() ?? [])
    case .popImageFault: return MessageEncoder.bytes(of: ImageFault(error: imageMaker.popFault()))
    default: throw Self.malformed
    }
  }
}
