import LibAV
import MediaCore

/// Reads ranges of one video track as frames in the requested format.
///
/// Threading: one thread at a time, which may block.
final class VideoPass: ReadPass, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the reader's interrupt.

  private let reader: any VideoReader
  private let settings: VideoReadSettings
  private let converter: ImageConverter
  private var range = TimeRange(start: .zero, duration: .positiveInfinity)
  /// Whether no frame of this range has been delivered.
  private var isFresh = true
  private var isFirstRange = true

  init(_ reader: any VideoReader, _ settings: VideoReadSettings) throws(MediaError) {
    self.reader = reader
    self.settings = settings
    do throws(AVFailure) { converter = try ImageConverter() } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// The caller shows one frame while the next one is read.
  var leastAheadCount: Int { 2 }

  func begin(_ range: TimeRange) throws(MediaError) {
    guard range.start.isNumeric else {
      throw MediaError(.invalidTime, "cannot read from \(range.start)", operation: "read")
    }
    self.range = range
    isFresh = true
    try reader.seek(to: range.start)
  }

  func read() throws(MediaError) -> SampleBuffer? {
    guard !range.isEmpty else { return nil }
    while let shot = try reader.next(), shot.time < range.end {
      // A frame that ends at or before the range's start is not shown.
      guard shot.end > range.start || shot.time >= range.start else { continue }
      return try buffer(shot)
    }
    return nil
  }

  func popFault() -> MediaError? { reader.popFault() }

  func cancel() { reader.cancel() }

  private func buffer(_ shot: VideoFrame) throws(MediaError) -> SampleBuffer {
    let time = shot.time < range.start ? range.start : shot.time
    let end = range.end < shot.end ? range.end : shot.end
    defer { (isFresh, isFirstRange) = (false, false) }
    return try SampleBuffer(
      pixels: try pixels(shot), like: format(of: shot), presentationTime: time, duration: max(.zero, end - time),
      attachments: .init(isDiscontinuity: isFresh && !isFirstRange))
  }

  /// Returns the number of quarter turns by which a frame is rotated here.
  private func quarterTurns(_ shot: VideoFrame) -> Int {
    settings.appliesPreferredTrackTransform ? shot.format.rotationDegrees / 90 : 0
  }

  /// Returns the size of a frame before it is rotated; nil if it is not scaled.
  private func size(_ shot: VideoFrame) -> VideoReadSettings.Size? {
    guard let size = settings.size, !quarterTurns(shot).isMultiple(of: 2) else { return settings.size }
    return .init(width: size.height, height: size.width)
  }

  private func pixels(_ shot: VideoFrame) throws(MediaError) -> PixelBuffer {
    do throws(AVFailure) {
      let size = size(shot)
      return try converter.convert(shot.frame, to: settings.pixelFormat, width: size?.width, height: size?.height)
        .turned(quarterTurns: quarterTurns(shot))
    } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// Returns the description of a frame.
  private func format(of shot: VideoFrame) -> FormatDescription.Video {
    var format = shot.format
    format.bitRate = nil
    format.color = ImageConverter.color(of: shot.frame, as: settings.pixelFormat)
    format.pixelAspectRatio = format.pixelAspectRatio ?? shot.properties.pixelAspectRatio
    if let size = size(shot), size.width != shot.properties.width || size.height != shot.properties.height {
      let own = (shot.properties.width, shot.properties.height)
      format.pixelAspectRatio = format.pixelAspectRatio.stretched(from: own, to: (size.width, size.height))
      format.cleanAperture = format.cleanAperture?.stretched(from: own, to: (size.width, size.height))
    }
    return settings.appliesPreferredTrackTransform ? format.upright : format
  }
}

extension FormatDescription.Video.PixelAspectRatio? {
  /// Returns the pixel aspect ratio of a frame that is scaled to another size and keeps its appearance.
  func stretched(
    from source: (width: Int, height: Int), to target: (width: Int, height: Int)
  ) -> FormatDescription.Video.PixelAspectRatio? {
    let (own, overflow) = (self?.horizontal ?? 1).multipliedReportingOverflow(by: source.width * target.height)
    let (other, isTooMuch) = (self?.vertical ?? 1).multipliedReportingOverflow(by: source.height * target.width)
    guard !overflow, !isTooMuch, own > 0, other > 0 else { return self }
    var (left, right) = (own, other)
    while right != 0 { (left, right) = (right, left % right) }
    return .init(horizontal: own / left, vertical: other / left)
  }
}

extension FormatDescription.Video.CleanAperture {
  /// Returns the same part of a frame that is scaled to another size.
  func stretched(from source: (width: Int, height: Int), to target: (width: Int, height: Int)) -> Self {
    func scaled(_ value: Int, _ from: Int, _ to: Int) -> Int {
      Int((Double(value) * Double(to) / Double(from)).rounded())
    }
    return Self(
      width: max(1, scaled(width, source.width, target.width)),
      height: max(1, scaled(height, source.height, target.height)),
      horizontalOffset: scaled(horizontalOffset, source.width, target.width),
      verticalOffset: scaled(verticalOffset, source.height, target.height))
  }
}
