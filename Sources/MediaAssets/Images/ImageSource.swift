import LibAV
import MediaCore

/// A file from which images are made, one after another: it is open once, and gone back in only where it must be.
///
/// Threading: one thread at a time, which may block; its interrupt from any.
final class ImageSource: @unchecked Sendable {
  // `@unchecked Sendable`: it goes from one thread to the next, never two at once.

  private let reader: any VideoReader
  private let renderer: ImageRenderer
  private let maximumPixelCount: Int

  /// - Parameter maximumPixelCount: the limit of an image's pixels in this process.
  init(_ reader: any VideoReader, maximumPixelCount: Int = Decoder.maximumPixelCount) throws(MediaError) {
    (self.reader, self.maximumPixelCount) = (reader, maximumPixelCount)
    do throws(AVFailure) { renderer = try ImageRenderer() } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// Where the video lies, as far as the container says.
  var timeRange: TimeRange { reader.track.timeRange }

  /// What was found to be wrong though there are images, since the last time.
  func takeFault() -> MediaError? { reader.takeFault() }

  /// The image of a time, and the time that it is of: when the picture begins that it shows. Blocks.
  ///
  /// Before the first picture that is the first one, up to the asset's end the last one.
  /// Errors: `invalidTime` for times that the asset does not have, further than the tolerance; `mediaLimitExceeded` for images that are too
  /// large; those of reading; `cancelled`.
  func image(
    at time: MediaTime, _ settings: ImageSettings
  ) throws(MediaError) -> (image: PixelBuffer, actualTime: MediaTime) {
    try settings.check()
    guard time.isNumeric else {
      throw MediaError(.invalidTime, "there is no image of the time \(time)", operation: "image")
    }
    let shot = try shot(at: time, settings)
    let pixelCount = ImageRenderer.plan(of: shot, settings)
      .pixelCount(width: shot.picture.width, height: shot.picture.height)
    guard pixelCount <= maximumPixelCount else {
      throw Self.tooLarge(pixelCount, maximumPixelCount: maximumPixelCount)
    }
    do throws(AVFailure) { return (try renderer.image(of: shot, settings), shot.time) } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// The error of an image that needs more memory than this process has.
  static func tooLarge(_ pixelCount: Int, maximumPixelCount: Int) -> MediaError {
    MediaError(
      .mediaLimitExceeded,
      "an image must have at most \(maximumPixelCount) pixels (got \(pixelCount)): give a smaller width or height",
      operation: "image")
  }

  private func shot(at time: MediaTime, _ settings: ImageSettings) throws(MediaError) -> VideoShot {
    if settings.toleranceBefore > .zero || settings.toleranceAfter > .zero, let key = try key(near: time, settings) {
      return key
    }
    try reader.seek(to: max(.zero, time))
    guard let shot = reader.shown else {
      throw reader.takeFault()
        ?? MediaError(.decodeFailed, "no picture of \(reader.displayPath) decodes", operation: "image")
    }
    let isEarly = time < .zero && shot.time - time > settings.toleranceAfter
    let end = reader.assetDuration.isNumeric ? max(shot.end, reader.assetDuration) : shot.end
    let isLate = time > end && time - shot.time > settings.toleranceBefore
    guard !isEarly, !isLate else {
      throw MediaError(
        .invalidTime,
        "there is no picture at \(time.decimalDescription) s: the video goes from 0 to \(end.decimalDescription) s",
        operation: "image")
    }
    return shot
  }

  /// A picture within the tolerances that costs less than the one of the very time.
  private func key(near time: MediaTime, _ settings: ImageSettings) throws(MediaError) -> VideoShot? {
    let earliest = time - settings.toleranceBefore
    // How long it is shown is perhaps only what the file says of it.
    if let shown = reader.shown, shown.time <= time, time < shown.end, shown.time >= earliest { return shown }
    let latest = time + settings.toleranceAfter
    let wanted = max(.zero, time)
    let indexed = reader.indexedKeyTimes(around: wanted)
    let known = [indexed.before, indexed.after].compactMap { $0 }
    let places = known.isEmpty ? [wanted] : known.sorted { distance($0, wanted) < distance($1, wanted) }
    for place in places where place >= earliest && place <= latest {
      if let shot = try reader.seekToKey(near: place, latest: latest), shot.time >= earliest, shot.time <= latest {
        return shot
      }
    }
    return nil
  }

  private func distance(_ one: MediaTime, _ other: MediaTime) -> MediaTime {
    one < other ? other - one : one - other
  }
}
