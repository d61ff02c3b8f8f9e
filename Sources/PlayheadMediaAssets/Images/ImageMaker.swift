// Makes encoded images of a video, in this process or in a worker. The files are the same.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// The settings of the images of one video.
struct ImageTask: Codable {
  /// The video track. Default: nil, the first enabled one.
  var trackID: AssetTrack.ID?
  var settings: ImageSettings
  var format: ImageFileFormat
  /// The sheet on which images are placed; nil when each image becomes a file.
  var sheet: ContactSheet?
}

/// A completed image or sheet.
struct ImageDescription: Codable {
  /// The start time of the video frame that it shows; invalid for a sheet.
  var actualTime: MediaTime
  /// The width in pixels.
  var width: Int
  var height: Int
  /// The size of the file in bytes; 0 for an image on a sheet.
  var byteCount: Int
}

/// Makes encoded images of one video, one after another.
///
/// Threading: one thread at a time, which may block. The asset's interrupt may be used on any thread.
protocol ImageMaker: AnyObject {
  /// The video's range on the asset's timeline, according to the container.
  var timeRange: TimeRange { get }

  /// Makes the image at a time and encodes it; `nextBytes` returns its file.
  ///
  /// - Throws: The errors of `ImageSource.image` and `PixelBuffer.encoded`.
  func makeImage(at time: MediaTime) throws(MediaError) -> ImageDescription

  /// Makes the image at a time and adds it to the task's sheet.
  ///
  /// - Parameter index: The index of the image on the sheet, from 0.
  /// - Throws: The errors of ``ImageSource/image(at:_:)`` and of ``ContactSheetPainter``.
  func addSheetImage(at time: MediaTime, index: Int) throws(MediaError) -> ImageDescription

  /// Encodes the sheet; `nextBytes` returns its file.
  ///
  /// - Throws: The errors of `PixelBuffer.encoded`.
  func finishSheet() throws(MediaError) -> ImageDescription

  /// Returns the next bytes of the file that was encoded last; nil after its end. Each byte is returned once.
  func nextBytes() throws(MediaError) -> [UInt8]?

  /// Removes and returns the first fault since the last call that did not prevent an image; nil if there is none.
  func popFault() throws(MediaError) -> MediaError?
}

/// Opens image makers in this process or in a worker.
enum ImageMakers {
  /// Opens an asset's video. Blocks.
  ///
  /// With isolation, a worker makes and encodes the images of a file. For a composition, workers decode the parts and
  /// make the images, and this process encodes them.
  ///
  /// - Throws: The errors of `VideoTrackReader`; `workerUnavailable`.
  static func open(
    _ asset: Asset, _ task: ImageTask, interrupt: Interrupt, log: NetworkLog? = nil
  ) throws(MediaError) -> any ImageMaker {
    if asset.composition == nil, asset.isolation != .none {
      guard case .bytes(let source) = try MediaFile.openLocation(of: asset, interrupt: interrupt, log: log) else {
        throw VideoTrackReader.unsupportedStream(asset)
      }
      let maker = try IsolatedImageMaker(
        Asset.Isolation.pool(), source: source, displayName: asset.displayPath, task)
      if let source = source.byteSource { asset.noteReading(source) }
      return maker
    }
    return try LocalImageMaker(
      VideoReaders.open(asset, interrupt: interrupt, trackID: task.trackID, log: log), task)
  }
}

/// Makes images in this process, which may be a worker process.
final class LocalImageMaker: ImageMaker {
  /// Limits of the memory for images.
  struct Limits {
    /// Maximum number of pixels of an image.
    var pixelCount: Int
    /// Maximum number of pixels of a sheet.
    var sheetPixelCount: Int
    /// Before an image with more pixels is made, the decoder's memory is released.
    var retainingPixelCount: Int
    /// Maximum number of bytes of a file.
    var byteCount: Int
    /// Maximum number of bytes that `nextBytes` returns.
    var chunkByteCount: Int
    /// Maximum number of bytes of a video frame that a worker converts, in any pixel format.
    var convertedByteCount: Int { 4 * pixelCount }

    /// The limits of every image.
    static let standard = Limits(
      pixelCount: Decoder.maximumPixelCount, sheetPixelCount: ContactSheet.maximumPixelCount,
      retainingPixelCount: .max, byteCount: .max, chunkByteCount: .max)
    /// The limits in a worker process with the default memory.
    ///
    /// Encoding needs two copies in BGRA, 8 bytes per pixel. PNG compression needs up to 9: RGB or a copy of the file,
    /// FFmpeg's buffer, and the file, if it is incompressible. The remaining memory is for decoded video frames, which
    /// are large for a large image, and mostly small for a large sheet.
    static let worker = Limits(
      pixelCount: 16 << 20, sheetPixelCount: 24 << 20, retainingPixelCount: 16 << 20, byteCount: 128 << 20,
      chunkByteCount: 1 << 20)
    /// The limits in a worker process with more memory: the largest video frames of level 6.2 of H.264 and H.265, such
    /// as 8192 x 4352, and sheets of that size.
    static let largeWorker = Limits(
      pixelCount: 34 << 20, sheetPixelCount: 34 << 20, retainingPixelCount: worker.retainingPixelCount,
      byteCount: worker.byteCount, chunkByteCount: worker.chunkByteCount)
  }

  private let source: ImageSource
  private let task: ImageTask
  private let limits: Limits
  private var painter: ContactSheetPainter?
  private var encoded: [UInt8] = []
  private var returnedByteCount = 0

  /// - Throws: The errors of `ImageSource.init`.
  ///
  /// - Parameter limits: The limits in this process; nil for those of the process that reads the video.
  init(_ reader: any VideoReader, _ task: ImageTask, limits: Limits? = nil) throws(MediaError) {
    source = try ImageSource(reader, limits: limits)
    (self.task, self.limits) = (task, limits ?? .standard)
  }

  var timeRange: TimeRange { source.timeRange }

  func makeImage(at time: MediaTime) throws(MediaError) -> ImageDescription {
    let (image, actualTime) = try source.image(at: time, task.settings)
    let (width, height) = (image.width, image.height)
    try encode(consume image)
    return ImageDescription(actualTime: actualTime, width: width, height: height, byteCount: encoded.count)
  }

  func addSheetImage(at time: MediaTime, index: Int) throws(MediaError) -> ImageDescription {
    guard let sheet = task.sheet, (0..<sheet.imageCount).contains(index) else { throw Self.noSheet }
    let (image, actualTime) = try source.image(at: time, task.settings)
    if painter == nil {
      painter = try ContactSheetPainter(
        sheet, imageWidth: image.width, imageHeight: image.height,
        maximumPixelCount: limits.sheetPixelCount)
    }
    try painter?.paint(image, at: index)
    return ImageDescription(actualTime: actualTime, width: image.width, height: image.height, byteCount: 0)
  }

  func finishSheet() throws(MediaError) -> ImageDescription {
    guard let painter = painter.take() else { throw Self.noSheet }
    // No image follows.
    try source.releaseMemory()
    let image = try (consume painter).image()
    let (width, height) = (image.width, image.height)
    try encode(consume image)
    return ImageDescription(actualTime: .invalid, width: width, height: height, byteCount: encoded.count)
  }

  func nextBytes() throws(MediaError) -> [UInt8]? {
    guard returnedByteCount < encoded.count else { return nil }
    if encoded.count <= limits.chunkByteCount {
      defer { encoded = [] }
      return encoded
    }
    let chunk = Array(encoded[returnedByteCount...].prefix(limits.chunkByteCount))
    returnedByteCount += chunk.count
    return chunk
  }

  func popFault() -> MediaError? { source.popFault() }

  private func encode(_ image: consuming PixelBuffer) throws(MediaError) {
    (encoded, returnedByteCount) = ([], 0)
    let bytes = try (consume image).encoded(as: task.format)
    guard bytes.count <= limits.byteCount else {
      throw MediaError(
        .mediaLimitExceeded,
        "the file of an image must have at most \(limits.byteCount) bytes (got \(bytes.count)): reduce its size",
        operation: "image")
    }
    encoded = bytes
  }

  private static var noSheet: MediaError {
    MediaError(.invalidArgument, "the task has no sheet with this image", operation: "image")
  }
}
