import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Makes images of a video in a worker process.
extension AssetWorkerFunctions {
  /// Opens the video of an asset. This process parses the file.
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
    if !parameters.isLarge, Self.needsLargeWorker(reader, task) {
      return VideoDescription(timeRange: reader.timeRange, needsLargeWorker: true)
    }
    let maker = try LocalImageMaker(reader, task, limits: parameters.isLarge ? .largeWorker : .worker)
    imageMaker = maker
    return VideoDescription(timeRange: maker.timeRange, needsLargeWorker: false)
  }

  /// Checks the size of an image, and of the sheet with such images. Returns the number of pixels of the sheet; 0
  /// without one.
  ///
  /// - Parameters:
  ///   - width: The width of the decoded video frame.
  ///   - height: The height of the decoded video frame.
  /// - Throws: `mediaLimitExceeded`.
  @discardableResult
  private static func check(
    _ plan: ImageRenderer.Plan, width: Int, height: Int, _ sheet: ContactSheet?, _ limits: LocalImageMaker.Limits
  ) throws(MediaError) -> Int {
    let pixelCount = plan.pixelCount(width: width, height: height)
    guard pixelCount <= limits.pixelCount else {
      throw ImageSource.tooLarge(pixelCount, maximumPixelCount: limits.pixelCount)
    }
    guard let sheet else { return 0 }
    let size = plan.imageSize
    let sheetSize = try ContactSheetPainter.size(
      sheet, size.width, size.height, maximumPixelCount: limits.sheetPixelCount)
    return sheetSize.width * sheetSize.height
  }

  /// Returns whether an image, its sheet and the decoded video frames may exceed the memory of a worker with the
  /// default limits.
  private static func needsLargeWorker(_ reader: VideoTrackReader, _ task: ImageTask) -> Bool {
    reader.needsLargeWorker(task.settings) { plan, width, height in
      guard let sheetPixelCount = try? check(plan, width: width, height: height, task.sheet, .worker) else {
        return nil
      }
      let pixelCount = plan.pixelCount(width: width, height: height)
      // The frames are released before a sheet is encoded. `Limits.worker` lists the bytes of each pixel.
      return task.sheet == nil ? 17 * pixelCount : 8 * pixelCount + 4 * sheetPixelCount
    }
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
