// Makes images in a worker process, which has a `LocalImageMaker`. This process receives encoded files in chunks, and
// checks every number that the worker reports.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Makes images of a file's video in a worker process.
///
/// After the source's interrupt has been cancelled, calls throw `cancelled`.
final class IsolatedImageMaker: ImageMaker {
  private let lease: WorkerLease
  let timeRange: TimeRange
  /// The number of bytes of the file encoded last that have not been returned.
  private var remainingByteCount = 0

  /// Opens the video of a file in a worker. If it has too little memory for the frames and the images, another worker
  /// with more memory opens the video. Blocks.
  ///
  /// - Parameter source: The file. The worker requests its bytes. Its interrupt cancels the worker's functions.
  /// - Throws: The errors of `VideoTrackReader`; `mediaLimitExceeded` for images that are too large for a worker;
  ///   `workerUnavailable`; `cancelled`.
  init(
    _ pool: WorkerPool, source: FileSource, displayName: String, _ task: ImageTask
  ) throws(MediaError) {
    func open(_ lease: WorkerLease, isLarge: Bool) throws(MediaError) -> VideoDescription {
      try lease.open(
        source, displayName: displayName, AssetWorkerFunction.openVideo.rawValue,
        VideoParameters(task: task, isLarge: isLarge), as: VideoDescription.self)
    }
    var lease = try pool.lease()
    var video = try open(lease, isLarge: false)
    if video.needsLargeWorker {
      lease = try pool.lease(limits: .large)
      video = try open(lease, isLarge: true)
    }
    (self.lease, timeRange) = (lease, video.timeRange)
  }

  deinit {
    lease.closeFiles(AssetWorkerFunction.closeVideo.rawValue)
  }

  func makeImage(at time: MediaTime) throws(MediaError) -> ImageDescription {
    let image = try perform(.makeImage, time)
    remainingByteCount = image.byteCount
    return image
  }

  func addSheetImage(at time: MediaTime, index: Int) throws(MediaError) -> ImageDescription {
    try perform(.addSheetImage, SheetImageParameters(time: time, index: index))
  }

  func finishSheet() throws(MediaError) -> ImageDescription {
    let sheet = try perform(.finishSheet, true)
    remainingByteCount = sheet.byteCount
    return sheet
  }

  func nextBytes() throws(MediaError) -> [UInt8]? {
    guard remainingByteCount > 0 else { return nil }
    let bytes = try lease.run(AssetWorkerFunction.readImage.rawValue, true, as: [UInt8].self)
    // All chunks except the last must be full, so that a worker controlled by a file cannot send an endless number of
    // short ones.
    guard bytes.count == min(remainingByteCount, LocalImageMaker.Limits.worker.chunkByteCount) else {
      throw lease.rejectResult()
    }
    remainingByteCount -= bytes.count
    return bytes
  }

  func popFault() throws(MediaError) -> MediaError? {
    try lease.run(AssetWorkerFunction.popImageFault.rawValue, true, as: ImageFault.self).error
  }

  private func perform(
    _ function: AssetWorkerFunction, _ parameters: some Encodable
  ) throws(MediaError) -> ImageDescription {
    remainingByteCount = 0
    let image = try lease.run(function.rawValue, parameters, as: ImageDescription.self)
    guard image.isPlausible else { throw lease.rejectResult() }
    return image
  }
}

extension ImageDescription {
  /// Whether a worker can have made the image.
  fileprivate var isPlausible: Bool {
    PixelBuffer.supportedSizes.contains(width) && PixelBuffer.supportedSizes.contains(height)
      && (0...LocalImageMaker.Limits.worker.byteCount).contains(byteCount)
  }
}
