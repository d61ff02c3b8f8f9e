// Images that a worker process makes. The worker has a `LocalImageMaker`; this process gets encoded files in chunks, and checks every
// number that the worker reports.
import Isolation
import LibAV
import MediaCore

/// Makes images of a file's video in a worker.
///
/// After the source's interrupt was used, calls throw `cancelled`.
final class IsolatedImageMaker: ImageMaker {
  private let lease: WorkerLease
  private let displayName: String
  let timeRange: TimeRange
  /// Bytes of the file that was encoded last that have not been returned.
  private var remainingByteCount = 0

  /// Opens the video of a file in a worker. Blocks. Errors: those of `VideoTrackReader`; `mediaLimitExceeded` for images that are larger
  /// than a worker makes; `cancelled`.
  ///
  /// - Parameter source: read for the worker from now on; its interrupt cancels what the worker does.
  init(
    _ lease: WorkerLease, source: FileSource, displayName: String, _ task: ImageTask
  ) throws(MediaError) {
    timeRange = try lease.open(
      source, displayName: displayName, AssetWorkerFunction.openVideo.rawValue, task, as: TimeRange.self)
    (self.lease, self.displayName) = (lease, displayName)
  }

  deinit {
    // The worker closes the file before it waits for the next one.
    _ = try? lease.run(AssetWorkerFunction.closeVideo.rawValue, true, as: Bool.self)
  }

  func makeImage(at time: MediaTime) throws(MediaError) -> MadeImage {
    let image = try perform(.makeImage, time)
    remainingByteCount = image.byteCount
    return image
  }

  func placeImage(at time: MediaTime, index: Int) throws(MediaError) -> MadeImage {
    try perform(.placeImage, SheetImageParameters(time: time, index: index))
  }

  func finishSheet() throws(MediaError) -> MadeImage {
    let sheet = try perform(.finishSheet, true)
    remainingByteCount = sheet.byteCount
    return sheet
  }

  func nextBytes() throws(MediaError) -> [UInt8]? {
    guard remainingByteCount > 0 else { return nil }
    let bytes = try lease.run(AssetWorkerFunction.readImage.rawValue, true, as: [UInt8].self)
    // All chunks but the last are full: a worker that a file controls cannot send an endless number of short ones.
    guard bytes.count == min(remainingByteCount, LocalImageMaker.Limits.worker.chunkByteCount) else { throw damaged }
    remainingByteCount -= bytes.count
    return bytes
  }

  func takeFault() throws(MediaError) -> MediaError? {
    try lease.run(AssetWorkerFunction.takeImageFault.rawValue, true, as: ImageFault.self).error
  }

  private func perform(
    _ function: AssetWorkerFunction, _ parameters: some Encodable
  ) throws(MediaError) -> MadeImage {
    remainingByteCount = 0
    let image = try lease.run(function.rawValue, parameters, as: MadeImage.self)
    guard image.isPlausible else { throw damaged }
    return image
  }

  private var damaged: MediaError {
    MediaError(.damagedFile, "the file is damaged: \(displayName)", operation: "worker")
  }
}

extension MadeImage {
  /// Whether a worker can have made it.
  fileprivate var isPlausible: Bool {
    PixelBuffer.supportedSizes.contains(width) && PixelBuffer.supportedSizes.contains(height)
      && (0...LocalImageMaker.Limits.worker.byteCount).contains(byteCount)
  }
}
