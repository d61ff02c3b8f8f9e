import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWholeFiles
import PlayheadWireProtocol

extension ImageCommand: WaitingHandler {
  /// Replies when the images are written, or when the export was cancelled.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (registry, userID) = (context.server.registry, context.client.peer?.userID)
    let images = try arguments.images()
    // First the files: if one is rejected, a passed descriptor of the media stays available.
    let exportRequest = try exportRequest(images) { number throws(MediaError) in
      try registry.outputFile(images.file(number), replaces: images.replaces, for: userID)
    }
    let asset = registry.makeAsset(images.path, registry.httpOptions(images.network), precise: false, for: userID)
    let export = ImageExport(asset, exportRequest)
    context.client.startOperation(request, form: context.form, on: images.path) {
      export.cancel()
    } start: {
      export.start(progress: $0, completion: $1)
    } reply: { number, result throws(MediaError) in
      Reply(result, scan: number, images)
    }
  }

  private static func exportRequest(
    _ request: ImageRequest, file: (_ number: Int) throws(MediaError) -> WholeFile
  ) throws(MediaError) -> ImageExport.Request {
    var settings = ImageSettings()
    (settings.maximumWidth, settings.maximumHeight) = (request.width, request.height)
    (settings.toleranceBefore, settings.toleranceAfter) = (request.before, request.after)
    settings.appliesPreferredTrackTransform = request.isUpright
    let format: ImageFileFormat =
      switch request.format {
      case .png: .png
      case .jpeg(let quality): .jpeg(quality: quality)
      }
    guard let requestedSheet = request.sheet else {
      var images: [(time: MediaTime, file: WholeFile)] = []
      for (index, time) in request.times.enumerated() { images.append((time, try file(index + 1))) }
      return ImageExport.Request(.images(images), settings: settings, format: format)
    }
    var sheet = ContactSheet(columns: requestedSheet.columns, rows: requestedSheet.rows)
    if let gap = requestedSheet.gap { sheet.gap = gap }
    return ImageExport.Request(
      .sheet(sheet, times: Array(request.times), file: try file(1)), settings: settings, format: format
    )
  }
}

extension ImageCommand.Reply {
  fileprivate init(_ result: ImageExport.Result, scan: Int, _ request: ImageRequest) {
    let hasSheet = request.sheet != nil
    self.init(
      scan: scan, path: request.path.redacted, width: result.width, height: result.height,
      file: hasSheet ? request.file : nil, fault: result.fault,
      rows: result.images.enumerated().map { index, image in
        ImageCommand.Row(
          image: index + 1, requested: image.requestedTime, time: image.actualTime, width: image.width,
          height: image.height, file: hasSheet ? nil : request.file(index + 1))
      })
  }
}
