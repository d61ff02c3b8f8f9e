import PlayheadLibAV
import PlayheadMediaCore

/// Renders ranges of a video composition.
///
/// Threading: one thread at a time, which may block.
final class VideoCompositionSource: SampleBufferSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the readers' interrupts.

  private let composition: VideoComposition
  private let pixelFormat: PixelFormat
  private let tracks: [AssetTrack.ID: TrackImages]
  private let end: MediaTime
  private let displayPath: String
  private let converter: ImageConverter
  private var canvas: ImageCanvas
  private var range = TimeRange(start: .zero, duration: .positiveInfinity)
  /// The number of the next frame.
  private var next: Int64 = 0
  /// Whether no frame of this range has been delivered.
  private var isFirstBuffer = true
  private var isFirstRange = true

  /// - Parameter end: no frame begins at or after this time.
  init(
    _ composition: VideoComposition, _ pixelFormat: PixelFormat, _ readers: [AssetTrack.ID: any VideoReader],
    end: MediaTime, displayPath: String
  ) throws(MediaError) {
    self.composition = composition
    self.pixelFormat = pixelFormat
    self.end = end
    self.displayPath = displayPath
    canvas = ImageCanvas(width: composition.renderSize.width, height: composition.renderSize.height)
    var tracks: [AssetTrack.ID: TrackImages] = [:]
    for (id, reader) in readers { tracks[id] = try TrackImages(reader) }
    self.tracks = tracks
    do throws(AVFailure) { converter = try ImageConverter() } catch {
      throw MediaError(error, path: displayPath)
    }
  }

  /// The caller shows one frame while the next one is rendered.
  var minimumReadAheadCount: Int { 2 }

  func start(_ range: TimeRange) throws(MediaError) {
    let duration = composition.frameDuration
    guard range.start.isNumeric,
      let ticks = range.start.frameIndex(rate: Int(duration.timescale), rounding: .towardNegativeInfinity)
    else { throw MediaError(.invalidTime, "cannot read from \(range.start)", operation: "read") }
    self.range = range
    next = ticks / duration.value
    isFirstBuffer = true
  }

  func read() throws(MediaError) -> SampleBuffer? {
    let duration = composition.frameDuration
    let (ticks, overflow) = next.multipliedReportingOverflow(by: duration.value)
    let time = MediaTime(value: ticks, timescale: duration.timescale)
    guard !overflow, !range.isEmpty, time < range.end, time < end else { return nil }
    let first = max(time, range.start)
    let last = min(time + duration, min(range.end, end))
    guard first < last else { return nil }
    next += 1
    try render(time)
    defer { (isFirstBuffer, isFirstRange) = (false, false) }
    let (pixels, format) = try output()
    return try SampleBuffer(
      pixels: pixels, like: format, presentationTime: first, duration: last - first,
      attachments: .init(isDiscontinuity: isFirstBuffer && !isFirstRange))
  }

  func popFault() -> MediaError? {
    for track in tracks.values { if let fault = track.popFault() { return fault } }
    return nil
  }

  func cancel() { for track in tracks.values { track.cancel() } }

  // MARK: - Internals

  private func render(_ time: MediaTime) throws(MediaError) {
    let instruction = composition.instruction(at: time)
    canvas.clear(instruction?.backgroundColor ?? .black)
    for layer in instruction?.layers ?? [] {
      let opacity = layer.opacities.value(at: time) ?? 1
      // Invisible frames are not decoded.
      guard opacity > 0, let image = try tracks[layer.trackID]?.image(at: time) else { continue }
      canvas.draw(
        image, transform: layer.transforms.value(at: time) ?? .identity, opacity: opacity,
        crop: layer.crops.value(at: time))
    }
  }

  /// Returns the canvas in the requested pixel format, and its description.
  private func output() throws(MediaError) -> (PixelBuffer, FormatDescription.Video) {
    let image = try canvas.image()
    var format = FormatDescription.Video(width: image.width, height: image.height)
    format.frameDuration = composition.frameDuration
    format.pixelAspectRatio = .init(horizontal: 1, vertical: 1)
    do throws(AVFailure) {
      let frame = try Frame(image)
      format.color = ImageConverter.color(of: frame, as: pixelFormat)
      return (pixelFormat == .bgra ? image : try converter.convert(frame, to: pixelFormat), format)
    } catch {
      throw MediaError(error, path: displayPath)
    }
  }
}

/// The frames of one track for composition: in BGRA, with square pixels.
private final class TrackImages {
  private let reader: any VideoReader
  private let renderer: ImageRenderer
  private let settings = ImageSettings()
  private var current: (time: MediaTime, image: PixelBuffer)?

  init(_ reader: any VideoReader) throws(MediaError) {
    self.reader = reader
    do throws(AVFailure) { renderer = try ImageRenderer() } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  func popFault() -> MediaError? { reader.popFault() }
  func cancel() { reader.cancel() }

  /// Returns the frame that is shown at a time; nil if the track has none.
  func image(at time: MediaTime) throws(MediaError) -> PixelBuffer? {
    try reader.seek(to: time)
    guard let videoFrame = reader.currentFrame, videoFrame.time <= time, time < videoFrame.end else { return nil }
    if let current, current.time == videoFrame.time { return current.image }
    do throws(AVFailure) {
      let image = try renderer.image(of: videoFrame, settings)
      current = (videoFrame.time, image)
      return image
    } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }
}
