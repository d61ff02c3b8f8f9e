import PlayheadLibAV
import PlayheadMediaCore

/// Reads ranges of one video track as frames in the requested format.
///
/// Threading: one thread at a time, which may block.
final class VideoTrackSource: SampleBufferSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the reader's interrupt.

  private let reader: any VideoReader
  private let settings: VideoReadSettings
  private let converter: VideoFrameConverter
  private var range = TimeRange(start: .zero, duration: .positiveInfinity)
  /// Whether no frame of this range has been delivered.
  private var isFirstBuffer = true
  private var isFirstRange = true

  init(_ reader: any VideoReader, _ settings: VideoReadSettings) throws(MediaError) {
    self.reader = reader
    self.settings = settings
    do throws(AVFailure) { converter = try VideoFrameConverter() } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// The caller shows one frame while the next one is read.
  var minimumReadAheadCount: Int { 2 }

  func start(_ range: TimeRange) throws(MediaError) {
    guard range.start.isNumeric else {
      throw MediaError(.invalidTime, "cannot read from \(range.start)", operation: "read")
    }
    self.range = range
    isFirstBuffer = true
    try reader.seek(to: range.start)
  }

  func read() throws(MediaError) -> SampleBuffer? {
    guard !range.isEmpty else { return nil }
    while let videoFrame = try reader.next(), videoFrame.time < range.end {
      // A frame that ends at or before the range's start is not shown.
      guard videoFrame.end > range.start || videoFrame.time >= range.start else { continue }
      return try buffer(videoFrame)
    }
    return nil
  }

  func popFault() -> MediaError? { reader.popFault() }

  func cancel() { reader.cancel() }

  private func buffer(_ videoFrame: VideoFrame) throws(MediaError) -> SampleBuffer {
    let time = videoFrame.time < range.start ? range.start : videoFrame.time
    let end = range.end < videoFrame.end ? range.end : videoFrame.end
    defer { (isFirstBuffer, isFirstRange) = (false, false) }
    let (pixels, color) = try converted(videoFrame)
    return try SampleBuffer(
      pixels: pixels, like: format(of: videoFrame, color), presentationTime: time,
      duration: max(.zero, end - time),
      attachments: .init(isDiscontinuity: isFirstBuffer && !isFirstRange))
  }

  private func converted(
    _ videoFrame: VideoFrame
  ) throws(MediaError) -> (PixelBuffer, FormatDescription.Video.ColorProperties) {
    do throws(AVFailure) { return try converter.convert(videoFrame, settings) } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// Returns the description of a frame.
  ///
  /// - Parameter color: The colour space of the converted pixels.
  private func format(
    of videoFrame: VideoFrame, _ color: FormatDescription.Video.ColorProperties
  ) -> FormatDescription.Video {
    var format = videoFrame.format
    format.bitRate = nil
    format.color = color
    format.pixelAspectRatio = format.pixelAspectRatio ?? videoFrame.properties.pixelAspectRatio
    let decodedSize = (width: videoFrame.properties.width, height: videoFrame.properties.height)
    if let size = settings.unrotatedSize(of: videoFrame),
      size.width != decodedSize.width || size.height != decodedSize.height
    {
      format.pixelAspectRatio = format.pixelAspectRatio.stretched(from: decodedSize, to: (size.width, size.height))
      format.cleanAperture = format.cleanAperture?.stretched(from: decodedSize, to: (size.width, size.height))
    }
    return settings.appliesPreferredTrackTransform ? format.upright : format
  }
}

extension FormatDescription.Video.PixelAspectRatio? {
  /// Returns the pixel aspect ratio of a frame that is scaled to another size and keeps its appearance.
  func stretched(
    from source: (width: Int, height: Int), to target: (width: Int, height: Int)
  ) -> FormatDescription.Video.PixelAspectRatio? {
    let (horizontal, horizontalOverflow) = (self?.horizontal ?? 1).multipliedReportingOverflow(
      by: source.width * target.height)
    let (vertical, verticalOverflow) = (self?.vertical ?? 1).multipliedReportingOverflow(
      by: source.height * target.width)
    guard !horizontalOverflow, !verticalOverflow, horizontal > 0, vertical > 0 else { return self }
    var (larger, smaller) = (horizontal, vertical)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return .init(horizontal: horizontal / larger, vertical: vertical / larger)
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
