import Isolation
import LibAV
import MediaCore

/// Makes images of a video in a worker process.
extension AssetWorkerFunctions {
  /// Opens the video of an asset. This process parses the file.
  ///
  /// - Throws: The errors of `VideoTrackReader`; `mediaLimitExceeded`, before anything is decoded, for images that are
  ///   too large for a worker.
  static func openVideo(_ asset: Asset, _ task: ImageTask) throws(MediaError) -> LocalImageMaker {
    let reader = try VideoTrackReader(asset: asset, interrupt: Interrupt(), trackID: task.trackID)
    let format = reader.format
    let limits = LocalImageMaker.Limits.worker
    let plan = ImageRenderer.plan(
      width: format.width, height: format.height, pixelAspectRatio: nil, format: format, settings: task.settings)
    let pixelCount = plan.pixelCount(width: format.width, height: format.height)
    guard pixelCount <= limits.pixelCount else {
      throw ImageSource.tooLarge(pixelCount, maximumPixelCount: limits.pixelCount)
    }
    return try LocalImageMaker(reader, task, limits: limits)
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
