// Images of a file, written into files: made on a thread of their own with low priority, one export after another.
import MediaCore
import RealtimeAudio
import Synchronization
import WholeFiles

/// Writes images of a video into files, or a sheet of many into one. None has its name before all are made.
///
/// With `Asset.Isolation` a worker decodes the video and encodes the images; this process writes the files. An image has at most 16 Mi
/// pixels then, and a sheet 24 Mi. Threading: any.
public final class ImageExport: Sendable {
  /// What is written.
  public struct Request: Sendable {
    /// What is on them.
    public enum Content: Sendable {
      /// An image for each time, and the file that it goes into.
      case images([(time: MediaTime, file: WholeFile)])
      /// One image of many; of no times: equally far from each other.
      case sheet(ContactSheet, times: [MediaTime], file: WholeFile)
    }

    /// Requests an image for each time, in a file of its own.
    ///
    /// - Parameters:
    ///   - paths: The times and the paths of the files; relative paths count from the working directory.
    ///   - replacesFiles: Whether existing files are replaced. Default: they are an error.
    public static func images(
      _ paths: [(time: MediaTime, path: String)], settings: ImageSettings = ImageSettings(), form: ImageForm = .png,
      replacesFiles: Bool = false
    ) -> Request {
      let files = paths.map { (time: $0.time, file: WholeFile(path: $0.path, replaces: replacesFiles)) }
      return Request(.images(files), settings: settings, form: form)
    }

    /// Requests one image of many. Without times, the images are equally distant from each other.
    public static func sheet(
      _ sheet: ContactSheet, times: [MediaTime] = [], path: String, settings: ImageSettings = ImageSettings(),
      form: ImageForm = .png, replacesFile: Bool = false
    ) -> Request {
      let file = WholeFile(path: path, replaces: replacesFile)
      return Request(.sheet(sheet, times: times, file: file), settings: settings, form: form)
    }

    public var content: Content
    public var settings: ImageSettings
    public var form: ImageForm
    /// Nil: the first video track that is enabled.
    public var trackID: AssetTrack.ID?

    /// Images as PNG, near their times, unless said.
    public init(_ content: Content, settings: ImageSettings = ImageSettings(), form: ImageForm = .png) {
      (self.content, self.settings, self.form) = (content, settings, form)
    }
  }

  /// What was written.
  public struct Result: Sendable {
    /// Each image: the time that was asked for, and when the picture begins that it shows.
    public struct Image: Sendable, Hashable {
      public let requestedTime: MediaTime
      public let actualTime: MediaTime
      /// In pixels; on a sheet, of the image.
      public let width: Int
      public let height: Int
    }

    public let images: [Image]
    /// Of the sheet, or the first image's.
    public let width: Int
    public let height: Int
    /// What was found to be wrong with the file though it was read; nil: nothing.
    public let fault: MediaError?
  }

  /// Images that one export makes at most.
  public static let maximumImageCount = 100

  private static let workers = AssetWorkers(
    limits: WorkPlaces.Limits(placeCount: 1, threadCount: 8), isWatched: true, threadName: "images", niceness: 10)

  private let asset: Asset
  private let request: Request
  private let opening = AssetOpening()
  private let run = WorkRun<Result>("image")

  /// An export that has not begun. No I/O.
  public init(_ asset: Asset, _ request: Request) { (self.asset, self.request) = (asset, request) }

  /// Begins, once. Both closures are called on a thread that makes images, the second one once, or by who cancels, or the thread that looks
  /// at the time.
  ///
  /// `progress` is told what part of the images is made, from 0 to 1: when the file is open, behind each, and when all are written.
  /// Errors: those of `AssetImageGenerator.image` and `ContactSheet.picture`; `fileExists`, `outsideRoots`, `writeFailed`; `invalidTime` for a
  /// sheet without times of a video whose length is not known; `openingTimedOut`; `cancelled`.
  public func start(
    progress: @escaping @Sendable (Double?) -> Void = { _ in },
    completion: @escaping @Sendable (Swift.Result<Result, MediaError>) -> Void
  ) {
    run.start(
      on: Self.workers, forNanoseconds: asset.openingNanoseconds, name: asset.displayPath, completion: completion
    ) { [self] job throws(MediaError) in try make(job, progress) }
  }

  /// Ends it: who waits is told at once, and nothing is written any more. Nothing once it is over, or the files get their names. Does not
  /// block.
  public func cancel() { run.cancel() }

  // MARK: - On a thread

  private func make(
    _ job: AssetWorkers.Job, _ progress: (Double?) -> Void
  ) throws(MediaError) -> Result {
    try run.holds { [opening] in opening.cancel() }
    try request.settings.check()
    switch request.content {
    case .images(let wanted):
      guard !wanted.isEmpty, wanted.count <= Self.maximumImageCount else {
        throw MediaError(
          .invalidArgument, "from 1 to \(Self.maximumImageCount) images are made at once, not \(wanted.count)",
          operation: "image")
      }
      for (_, file) in wanted { try file.check() }
    case .sheet(let sheet, _, let file):
      try sheet.check()
      try file.check()
    }
    _ = try opening.load(asset)
    let maker = try opening.imageMaker(asset, request.task)
    job.goesOn()
    progress(0)
    let result =
      switch request.content {
      case .images(let wanted): try write(wanted, maker, progress)
      case .sheet(let sheet, let times, let file): try write(sheet, times, file, maker, progress)
      }
    progress(1)
    return result
  }

  /// Each file is written when its image is made, and all have their names at the end.
  private func write(
    _ wanted: [(time: MediaTime, file: WholeFile)], _ maker: any ImageMaker, _ progress: (Double?) -> Void
  ) throws(MediaError) -> Result {
    var images: [Result.Image] = []
    var files: [UnfinishedFile] = []
    for (time, file) in wanted {
      try run.check()
      let image = try maker.makeImage(at: time)
      files.append(try unfinished(file, maker))
      images.append(.init(image, requestedTime: time))
      Self.tell(progress, images.count, of: wanted.count)
    }
    // Nothing fails any more once files have their names.
    let fault = try maker.takeFault()
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
        .invalidTime, "it is not known how long the video is: say the times of the sheet's images", operation: "image")
    }
    var images: [Result.Image] = []
    for (index, time) in times.enumerated() {
      try run.check()
      images.append(.init(try maker.placeImage(at: time, index: index), requestedTime: time))
      Self.tell(progress, images.count, of: times.count)
    }
    let size = try maker.finishSheet()
    let files = [try unfinished(file, maker)]
    let fault = try maker.takeFault()
    try commit(files)
    return Result(images: images, width: size.width, height: size.height, fault: fault)
  }

  /// Of the last one it is told when all have their names.
  private static func tell(_ progress: (Double?) -> Void, _ count: Int, of whole: Int) {
    if count < whole { progress(Double(count) / Double(whole)) }
  }

  /// Writes the file that was encoded last.
  private func unfinished(_ file: WholeFile, _ maker: any ImageMaker) throws(MediaError) -> UnfinishedFile {
    let unfinished = try file.begin()
    while let bytes = try maker.nextBytes() { try unfinished.append(bytes) }
    return unfinished
  }

  /// Gives all of them their names, which is not undone by who cancels.
  private func commit(_ files: [UnfinishedFile]) throws(MediaError) {
    guard run.settle() else { throw run.cancelled }
    for file in files { try file.commit() }
  }
}

extension ImageExport.Request {
  /// What a maker of images needs of it.
  fileprivate var task: ImageTask {
    let sheet: ContactSheet? = if case .sheet(let sheet, _, _) = content { sheet } else { nil }
    return ImageTask(trackID: trackID, settings: settings, form: form, sheet: sheet)
  }
}

extension ImageExport.Result.Image {
  fileprivate init(_ image: MadeImage, requestedTime: MediaTime) {
    self.init(
      requestedTime: requestedTime, actualTime: image.actualTime, width: image.width, height: image.height)
  }
}
