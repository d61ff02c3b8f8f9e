import MediaAssets
import MediaCore
import WholeFiles
import WireProtocol

/// The image command. Other threads create and write the images. The reply comes when all images are written.
extension Connection {
  /// Starts the export of images. Replies when the images are written, or when the export was cancelled.
  func start(_ command: AssetCommand.Image, _ request: AnyWaitingRequest) throws(MediaError) {
    let images = try self.request(command)
    let asset = server.registry.makeAsset(
      command.path, server.registry.httpOptions(command.network), precise: false, for: peer?.userID)
    let export = ImageExport(asset, images)
    startOperation(request, on: command.path) {
      export.cancel()
    } start: {
      export.start(progress: $0, completion: $1)
    } reply: { id, result throws(MediaError) in
      Self.reply(result, id, command)
    }
  }

  private func request(_ command: AssetCommand.Image) throws(MediaError) -> ImageExport.Request {
    var settings = ImageSettings()
    (settings.maximumWidth, settings.maximumHeight) = (command.width, command.height)
    (settings.toleranceBefore, settings.toleranceAfter) = (command.before, command.after)
    settings.appliesPreferredTrackTransform = command.isUpright
    let format: ImageFileFormat =
      switch command.format {
      case .png: .png
      case .jpeg(let quality): .jpeg(quality: quality)
      }
    guard let requestedSheet = command.sheet else {
      var images: [(time: MediaTime, file: WholeFile)] = []
      for (index, time) in command.times.enumerated() { images.append((time, try file(command, number: index + 1))) }
      return ImageExport.Request(.images(images), settings: settings, format: format)
    }
    var sheet = ContactSheet(columns: requestedSheet.columns, rows: requestedSheet.rows)
    if let gap = requestedSheet.gap { sheet.gap = gap }
    return ImageExport.Request(
      .sheet(sheet, times: Array(command.times), file: try file(command, number: 1)), settings: settings, format: format
    )
  }

  private func file(_ command: AssetCommand.Image, number: Int) throws(MediaError) -> WholeFile {
    try server.registry.outputFile(command.file(number), replaces: command.replaces, for: peer?.userID)
  }

  private static func reply(_ result: ImageExport.Result, _ id: Int, _ command: AssetCommand.Image) -> Reply {
    var fields: Fields = [
      "scan": .int(id), "path": .path(command.path.redacted), "count": .int(result.images.count),
      "width": .int(result.width), "height": .int(result.height),
    ]
    if command.sheet != nil { fields.append("file", .path(command.file)) }
    if let fault = result.fault {
      fields.append("fault", .string(fault.code.name))
      fields.append("message", .string(fault.message))
    }
    let rows = result.images.enumerated().map { index, image in
      var row: Fields = [
        "image": .int(index + 1), "requested": .time(image.requestedTime), "time": .time(image.actualTime),
        "width": .int(image.width), "height": .int(image.height),
      ]
      if command.sheet == nil { row.append("file", .path(command.file(index + 1))) }
      return row
    }
    return .ok(fields, rows: rows)
  }
}
