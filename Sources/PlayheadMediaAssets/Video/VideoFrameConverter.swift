import PlayheadLibAV
import PlayheadMediaCore

/// Converts video frames to the format in which a track is read.
///
/// Threading: one thread at a time.
final class VideoFrameConverter {
  private let converter: ImageConverter

  init() throws(AVFailure) { converter = try ImageConverter() }

  /// Returns the pixels of a frame, and their colour space. Blocks. A worker converts the frames that it has decoded.
  func convert(
    _ videoFrame: VideoFrame, _ settings: VideoReadSettings
  ) throws(AVFailure) -> (PixelBuffer, FormatDescription.Video.ColorProperties) {
    switch videoFrame.pixels {
    case .decoded(let frame):
      let size = settings.unrotatedSize(of: videoFrame)
      let pixels = try converter.convert(frame, to: settings.pixelFormat, width: size?.width, height: size?.height)
        .rotated(quarterTurns: settings.quarterTurns(of: videoFrame))
      return (pixels, ImageConverter.color(of: frame, as: settings.pixelFormat))
    case .inWorker(let video):
      do throws(MediaError) { return try video.pixels(settings, size: settings.size(of: videoFrame)) } catch {
        throw AVFailure(error)
      }
    }
  }
}

extension VideoReadSettings {
  /// Returns the number of quarter turns by which a frame is rotated.
  func quarterTurns(of videoFrame: VideoFrame) -> Int {
    appliesPreferredTrackTransform ? videoFrame.format.rotationDegrees / 90 : 0
  }

  /// Returns the size of a frame before it is rotated; nil if it is not scaled.
  func unrotatedSize(of videoFrame: VideoFrame) -> PixelSize? {
    guard let size, !quarterTurns(of: videoFrame).isMultiple(of: 2) else { return size }
    return PixelSize(width: size.height, height: size.width)
  }

  /// Returns the size in which a frame is delivered.
  func size(of videoFrame: VideoFrame) -> PixelSize {
    let (width, height) = (videoFrame.properties.width, videoFrame.properties.height)
    if let size { return size }
    return quarterTurns(of: videoFrame).isMultiple(of: 2)
      ? PixelSize(width: width, height: height) : PixelSize(width: height, height: width)
  }
}
