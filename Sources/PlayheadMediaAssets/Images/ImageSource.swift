import PlayheadLibAV
import PlayheadMediaCore

/// Makes images of one video, one after another. The video is opened once, and seeks back only if necessary.
///
/// Threading: one thread at a time, which may block. Its interrupt may be used on any thread.
final class ImageSource: @unchecked Sendable {
  // `@unchecked Sendable`: used on different threads, but never on two at once.

  private let reader: any VideoReader
  private let renderer: ImageRenderer
  private let limits: LocalImageMaker.Limits?

  /// - Parameter limits: The limits of images in this process; nil for those of the process that reads the video.
  init(_ reader: any VideoReader, limits: LocalImageMaker.Limits? = nil) throws(MediaError) {
    (self.reader, self.limits) = (reader, limits)
    do throws(AVFailure) { renderer = try ImageRenderer() } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// The range of the video, according to the container.
  var timeRange: TimeRange { reader.timeRange }

  /// Whether the worker process that reads the video has ended, so that all further images fail.
  var isLost: Bool { reader.isLost }

  /// Removes and returns the first fault since the last call that did not prevent an image; nil if there is none.
  func popFault() -> MediaError? { reader.popFault() }

  /// Releases the decoder's memory. The next image is slower.
  func releaseMemory() throws(MediaError) { try reader.releaseMemory() }

  /// Returns the image at a time, and the start time of the video frame that it shows. Blocks.
  ///
  /// The first frame is also used for times before it, and the last frame for times until the asset's end.
  ///
  /// - Throws: `invalidTime` for times outside the asset by more than the tolerance; `mediaLimitExceeded` for images
  ///   that are too large; the errors of reading; `cancelled`.
  func image(
    at time: MediaTime, _ settings: ImageSettings
  ) throws(MediaError) -> (image: PixelBuffer, actualTime: MediaTime) {
    try settings.check()
    guard time.isNumeric else {
      throw MediaError(.invalidTime, "the time of an image must be numeric (got \(time))", operation: "image")
    }
    let videoFrame = try videoFrame(at: time, settings)
    let pixelCount = ImageRenderer.plan(of: videoFrame, settings)
      .pixelCount(width: videoFrame.properties.width, height: videoFrame.properties.height)
    let limits = limits ?? reader.imageLimits
    guard pixelCount <= limits.pixelCount else {
      throw Self.tooLarge(pixelCount, maximumPixelCount: limits.pixelCount)
    }
    // The frame that is converted stays in memory.
    if pixelCount > limits.retainingPixelCount { try releaseMemory() }
    do throws(AVFailure) { return (try renderer.image(of: videoFrame, settings), videoFrame.time) } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// Returns the error of an image that needs more memory than this process has.
  static func tooLarge(_ pixelCount: Int, maximumPixelCount: Int) -> MediaError {
    MediaError(
      .mediaLimitExceeded,
      "an image must have at most \(maximumPixelCount) pixels (got \(pixelCount)): use a smaller width or height",
      operation: "image")
  }

  private func videoFrame(at time: MediaTime, _ settings: ImageSettings) throws(MediaError) -> VideoFrame {
    if settings.toleranceBefore > .zero || settings.toleranceAfter > .zero,
      let keyFrame = try keyFrame(near: time, settings)
    {
      return keyFrame
    }
    try reader.seek(to: max(.zero, time))
    guard let videoFrame = reader.currentFrame else {
      throw reader.popFault()
        ?? MediaError(.decodeFailed, "no video frame of \(reader.displayPath) can be decoded", operation: "image")
    }
    let isEarly = time < .zero && videoFrame.time - time > settings.toleranceAfter
    let end = reader.assetDuration.isNumeric ? max(videoFrame.end, reader.assetDuration) : videoFrame.end
    let isLate = time > end && time - videoFrame.time > settings.toleranceBefore
    guard !isEarly, !isLate else {
      throw MediaError(
        .invalidTime,
        "there is no video frame at \(time.decimalDescription) s: the video covers 0 to \(end.decimalDescription) s",
        operation: "image")
    }
    return videoFrame
  }

  /// Returns a frame within the tolerances that needs less decoding than the exact one; nil if there is none.
  private func keyFrame(near time: MediaTime, _ settings: ImageSettings) throws(MediaError) -> VideoFrame? {
    let earliest = time - settings.toleranceBefore
    // The duration of the current frame may be the one that the file states, and wrong.
    if let current = reader.currentFrame, current.time <= time, time < current.end, current.time >= earliest {
      return current
    }
    let latest = time + settings.toleranceAfter
    let target = max(.zero, time)
    let keyTimesAround = reader.indexedKeyTimes(around: target)
    let indexedTimes = [keyTimesAround.before, keyTimesAround.after].compactMap { $0 }
    let keyTimes = indexedTimes.isEmpty ? [target] : indexedTimes.sorted { distance($0, target) < distance($1, target) }
    for keyTime in keyTimes where keyTime >= earliest && keyTime <= latest {
      if let videoFrame = try reader.seekToKey(near: keyTime, latest: latest), videoFrame.time >= earliest,
        videoFrame.time <= latest
      {
        return videoFrame
      }
    }
    return nil
  }

  private func distance(_ one: MediaTime, _ other: MediaTime) -> MediaTime {
    one < other ? other - one : one - other
  }
}
