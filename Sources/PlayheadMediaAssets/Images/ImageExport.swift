// Writes images of a video to files, on separate low-priority threads, one export after another.
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWholeFiles
import Synchronization

/// Writes images of a video to files, or a contact sheet to one file. All files get their names after the last image
/// has been made.
///
/// <!-- listing: export-images -->
/// ```swift
/// let images = [(time: MediaTime.seconds(60), path: "/films/one.png")]
/// ImageExport(Asset(path: "/films/one.mkv"), .images(images)).start { result in print(result) }
/// ```
///
/// With `Asset.Isolation`, a worker process decodes the video and encodes the images, and this process writes the
/// files. An image or a sheet then has at most 34 Mi pixels (8192 x 4352), enough for video frames of 8K.
/// Large frames and large images have a worker with more memory. For a composition, workers decode the parts and make
/// the images, and this process encodes them.
///
/// Threading: any thread.
public final class ImageExport: Sendable {
  /// The images to write.
  public struct Request: Sendable {
    /// The content of the files.
    package enum Content: Sendable {
      /// One image for each time, each with its file.
      case images([(time: MediaTime, file: WholeFile)])
      /// A contact sheet. Without times, its images are equally distant.
      case sheet(ContactSheet, times: [MediaTime], file: WholeFile)
    }

    /// Requests an image for each time, each in a separate file.
    ///
    /// - Parameters:
    ///   - paths: The times and the paths of the files; relative paths count from the working directory.
    ///   - settings: The size and the accuracy of the images.
    ///   - format: The format of the files.
    ///   - replacesFiles: Whether existing files are replaced. Default: they are an error.
    public static func images(
      _ paths: [(time: MediaTime, path: String)], settings: ImageSettings = ImageSettings(),
      format: ImageFileFormat = .png, replacesFiles: Bool = false
    ) -> Request {
      let files = paths.map { (time: $0.time, file: WholeFile(path: $0.path, replaces: replacesFiles)) }
      return Request(.images(files), settings: settings, format: format)
    }

    /// Requests a contact sheet. Without times, its images are equally distant.
    public static func sheet(
      _ sheet: ContactSheet, times: [MediaTime] = [], path: String, settings: ImageSettings = ImageSettings(),
      format: ImageFileFormat = .png, replacesFile: Bool = false
    ) -> Request {
      let file = WholeFile(path: path, replaces: replacesFile)
      return Request(.sheet(sheet, times: times, file: file), settings: settings, format: format)
    }

    /// The images of the export: single images or a contact sheet.
    package var content: Content
    /// The size and the accuracy of the images.
    public var settings: ImageSettings
    /// The format of the files. Default: PNG.
    public var format: ImageFileFormat
    /// The video track. Default: nil, the first enabled one.
    public var trackID: AssetTrack.ID?

    /// Creates a request, by default for PNG images near their times.
    package init(_ content: Content, settings: ImageSettings = ImageSettings(), format: ImageFileFormat = .png) {
      (self.content, self.settings, self.format) = (content, settings, format)
    }
  }

  /// The result of an export.
  public struct Result: Sendable {
    /// An image: the requested time, and the start time of the video frame that it shows.
    public struct Image: Sendable, Hashable {
      /// The requested time.
      public let requestedTime: MediaTime
      /// The start time of the video frame that the image shows.
      public let actualTime: MediaTime
      /// The size in pixels; on a sheet, that of the image.
      public let width: Int
      /// The height in pixels; on a sheet, that of the image.
      public let height: Int
    }

    /// The images, in the order of their times in the request.
    public let images: [Image]
    /// The size of the sheet, or of the first image.
    public let width: Int
    /// The height of the sheet, or of the first image.
    public let height: Int
    /// The first fault of the file that did not stop reading; nil if there is none.
    public let fault: MediaError?
  }

  /// Maximum number of images in one export.
  public static let maximumImageCount = 100

  private static let workers = AssetWorkers(
    limits: WorkSlots.Limits(slotCount: 1, threadCount: 8), isWatched: true, threadName: "images", niceness: 10)

  private let asset: Asset
  private let request: Request
  private let opening = AssetOpening()
  private let run = WorkRun<Result>("image")

  /// Creates an export that has not started. Performs no I/O.
  public init(_ asset: Asset, _ request: Request) { (self.asset, self.request) = (asset, request) }

  /// Starts the export. Call once. The closures are called on an exporting thread. If the export is cancelled or times
  /// out, `completion` is called on the cancelling thread or on the watchdog thread.
  ///
  /// - Parameters:
  ///   - progress: Called with the fraction of completed images, from 0 to 1: when the file is open, after each image,
  ///     and when all files are written.
  ///   - completion: Called once. Errors:
  ///     - those of `AssetImageGenerator.image(at:)` and ``ContactSheet/image(of:)``
  ///     - `fileExists`, `outsideRoots`, `writeFailed`
  ///     - `invalidTime` for a sheet without times of a video with an unknown duration
  ///     - `openingTimedOut`, `cancelled`
  public func start(
    progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Swift.Result<Result, MediaError>) -> Void
  ) {
    run.start(
      on: Self.workers, forNanoseconds: asset.openingNanoseconds, name: asset.displayPath, completion: completion
    ) { [self] job throws(MediaError) in try make(job, progress) }
  }

  /// Starts the export and returns its result. Call once. Cancelling the task cancels the export.
  ///
  /// - Parameter progress: See ``start(progress:completion:)``.
  /// - Throws: The errors of ``start(progress:completion:)``.
  public func result(
    progress: @escaping @Sendable (Double?) -> Void = { _ in }
  ) async throws(MediaError) -> Result {
    try await run.outcome { start(progress: progress, completion: $0) }
  }

  /// Cancels the export. The completion is called immediately, and no file is written any more. Has no effect after the
  /// export has ended, or while the files get their names. Does not block.
  public func cancel() { run.cancel() }

  // MARK: - Exporting

  private func make(
    _ job: AssetWorkers.Job, _ progress: (Double?) -> Void
  ) throws(MediaError) -> Result {
    try run.addCancellation { [opening] in opening.cancel() }
    try request.settings.check()
    switch request.content {
    case .images(let requestedImages):
      guard !requestedImages.isEmpty, requestedImages.count <= Self.maximumImageCount else {
        throw MediaError(
          .invalidArgument,
          "the number of images must be between 1 and \(Self.maximumImageCount) (got \(requestedImages.count))",
          operation: "image")
      }
      for (_, file) in requestedImages { try file.check() }
    case .sheet(let sheet, _, let file):
      try sheet.check()
      try file.check()
    }
    _ = try opening.load(asset)
    let maker = try opening.imageMaker(asset, request.task)
    job.reportProgress()
    progress(0)
    let result =
      switch request.content {
      case .images(let requestedImages): try write(requestedImages, maker, progress)
      case .sheet(let sheet, let times, let file): try write(sheet, times, file, maker, progress)
      }
    progress(1)
    return result
  }

  /// Writes each file when its image is made. All files get their names at the end.
  private func write(
    _ requestedImages: [(time: MediaTime, file: WholeFile)], _ maker: any ImageMaker, _ progress: (Double?) -> Void
  ) throws(MediaError) -> Result {
    var images: [Result.Image] = []
    var files: [UnfinishedFile] = []
    for (time, file) in requestedImages {
      try run.check()
      let image = try maker.makeImage(at: time)
      files.append(try unfinished(file, maker))
      images.append(.init(image, requestedTime: time))
      Self.report(progress, images.count, of: requestedImages.count)
    }
    // The fault is read before the files get their names, because nothing may fail afterwards.
    let fault = try maker.popFault()
    try commit(files)
    return Result(images: images, width: images.first?.width ?? 0, height: images.first?.height ?? 0, fault: fault)
  }

  private func write(
    _ sheet: ContactSheet, _ times: [MediaTime], _ file: WholeFile, _ maker: any ImageMaker,
    _ progress: (Double?) -> Void
  ) throws(MediaError) -> Result {
    let times = times.isEmpty ? sheet.times(in: maker.timeRange) : Array(times.prefix(sheet.imageCount))
    guard !times.isEmpty else {
      throw MediaError(
        .invalidTime, "the duration of the video is unknown: specify the times of the sheet's images",
        operation: "image")
    }
    var images: [Result.Image] = []
    for (index, time) in times.enumerated() {
      try run.check()
      images.append(.init(try maker.addSheetImage(at: time, index: index), requestedTime: time))
      Self.report(progress, images.count, of: times.count)
    }
    let size = try maker.finishSheet()
    let files = [try unfinished(file, maker)]
    let fault = try maker.popFault()
    try commit(files)
    return Result(images: images, width: size.width, height: size.height, fault: fault)
  }

  /// Reports the progress, except for the last image, which is reported when all files have their names.
  private static func report(_ progress: (Double?) -> Void, _ count: Int, of total: Int) {
    if count < total { progress(Double(count) / Double(total)) }
  }

  /// Writes the image or sheet that was encoded last to an unfinished file.
  private func unfinished(_ file: WholeFile, _ maker: any ImageMaker) throws(MediaError) -> UnfinishedFile {
    let unfinished = try file.create()
    while let bytes = try maker.nextBytes() { try unfinished.append(bytes) }
    return unfinished
  }

  /// Gives all files their names. From then on the export cannot be cancelled.
  private func commit(_ files: [UnfinishedFile]) throws(MediaError) {
    guard run.disableCancellation() else { throw run.cancelled }
    for file in files { try file.commit() }
  }
}

extension ImageExport.Request {
  /// The task of the image maker.
  fileprivate var task: ImageTask {
    let sheet: ContactSheet? = if case .sheet(let sheet, _, _) = content { sheet } else { nil }
    return ImageTask(trackID: trackID, settings: settings, format: format, sheet: sheet)
  }
}

extension ImageExport.Result.Image {
  fileprivate init(_ image: ImageDescription, requestedTime: MediaTime) {
    self.init(
      requestedTime: requestedTime, actualTime: image.actualTime, width: image.width, height: image.height)
  }
}
