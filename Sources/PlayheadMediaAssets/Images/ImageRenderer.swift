import PlayheadLibAV
import PlayheadMediaCore

/// Makes an image of a video frame: cropped, with square pixels, scaled down, and rotated upright.
///
/// Threading: one thread at a time.
final class ImageRenderer {
  /// The steps from a video frame to an image.
  struct Plan: Hashable {
    /// The part of the video frame that is used, in its pixels.
    var x = 0
    var y = 0
    var width: Int
    var height: Int
    /// The size of that part after scaling and before rotation.
    var scaledWidth: Int
    var scaledHeight: Int
    /// The number of clockwise quarter turns.
    var quarterTurns = 0

    /// Returns the number of pixels of the largest BGRA image that is needed. A frame is converted completely before it
    /// is cropped.
    ///
    /// - Parameters:
    ///   - width: The width of the decoded video frame.
    ///   - height: The height of the decoded video frame.
    func pixelCount(width: Int, height: Int) -> Int {
      let isPart = self.width != width || self.height != height
      return max(isPart ? width * height : 0, scaledWidth * scaledHeight)
    }

    /// The size of the image after rotation.
    var imageSize: (width: Int, height: Int) {
      quarterTurns % 2 == 0 ? (scaledWidth, scaledHeight) : (scaledHeight, scaledWidth)
    }
  }

  private let converter: ImageConverter
  private let scaler: ImageConverter

  init() throws(AVFailure) {
    converter = try ImageConverter()
    scaler = try ImageConverter()
  }

  /// Returns the plan for video frames of a size.
  ///
  /// - Parameter format: The track's description of its frames.
  static func plan(
    width: Int, height: Int, pixelAspectRatio: FormatDescription.Video.PixelAspectRatio?,
    format: FormatDescription.Video, settings: ImageSettings
  ) -> Plan {
    var plan = Plan(width: width, height: height, scaledWidth: width, scaledHeight: height)
    if settings.apertureMode == .cleanAperture, let aperture = format.cleanAperture,
      aperture.width <= width, aperture.height <= height
    {
      (plan.width, plan.height) = (aperture.width, aperture.height)
      plan.x = max(0, min(width - aperture.width, (width - aperture.width) / 2 + aperture.horizontalOffset))
      plan.y = max(0, min(height - aperture.height, (height - aperture.height) / 2 + aperture.verticalOffset))
    }
    var shape = (width: plan.width, height: plan.height)
    if settings.apertureMode != .encodedPixels, let ratio = format.pixelAspectRatio ?? pixelAspectRatio {
      let displayWidth = Double(plan.width) * Double(ratio.horizontal) / Double(ratio.vertical)
      shape.width = max(1, Int(min(displayWidth.rounded(), Double(PixelBuffer.supportedSizes.upperBound))))
      // The pixel aspect ratio must not enlarge an image beyond the limit of decoded frames.
      let excess = (Double(shape.width) * Double(shape.height) / Double(Decoder.maximumPixelCount)).squareRoot()
      if excess > 1 {
        shape = (max(1, Int(Double(shape.width) / excess)), max(1, Int(Double(shape.height) / excess)))
      }
    }
    if settings.appliesPreferredTrackTransform { plan.quarterTurns = format.rotationDegrees / 90 }
    let (maximumWidth, maximumHeight) = (settings.maximumWidth ?? 0, settings.maximumHeight ?? 0)
    let swapsAxes = plan.quarterTurns % 2 == 1
    let limit = swapsAxes ? (width: maximumHeight, height: maximumWidth) : (width: maximumWidth, height: maximumHeight)
    (plan.scaledWidth, plan.scaledHeight) = fitted(shape, into: limit)
    return plan
  }

  /// Returns the size, reduced to fit into the limit. A limit of 0 means unlimited.
  private static func fitted(_ shape: (width: Int, height: Int), into limit: (width: Int, height: Int)) -> (Int, Int) {
    let width = limit.width > 0 ? min(limit.width, shape.width) : shape.width
    let height = limit.height > 0 ? min(limit.height, shape.height) : shape.height
    func scaled(_ length: Int, _ numerator: Int, _ denominator: Int) -> Int {
      max(1, (length * numerator * 2 + denominator) / (2 * denominator))
    }
    if width * shape.height <= height * shape.width { return (width, scaled(shape.height, width, shape.width)) }
    return (scaled(shape.width, height, shape.height), height)
  }

  /// Returns the plan for a decoded video frame.
  static func plan(of videoFrame: VideoFrame, _ settings: ImageSettings) -> Plan {
    let properties = videoFrame.properties
    return plan(
      width: properties.width, height: properties.height, pixelAspectRatio: properties.pixelAspectRatio,
      format: videoFrame.format, settings: settings)
  }

  /// Returns the image in BGRA. A worker makes the images of the video frames that it has decoded.
  func image(of videoFrame: VideoFrame, _ settings: ImageSettings) throws(AVFailure) -> PixelBuffer {
    let plan = Self.plan(of: videoFrame, settings)
    switch videoFrame.pixels {
    case .decoded(let frame): return try image(of: frame, videoFrame.properties, plan)
    case .inWorker(let video):
      do throws(MediaError) { return try video.image(settings, plan) } catch { throw AVFailure(error) }
    }
  }

  private func image(
    of frame: Frame, _ properties: Frame.VideoProperties, _ plan: Plan
  ) throws(AVFailure) -> PixelBuffer {
    var image: PixelBuffer
    if plan.width == properties.width, plan.height == properties.height {
      image = try converter.convert(frame, to: .bgra, width: plan.scaledWidth, height: plan.scaledHeight)
    } else {
      image = try converter.convert(frame, to: .bgra)
        .cropped(x: plan.x, y: plan.y, width: plan.width, height: plan.height)
      if image.width != plan.scaledWidth || image.height != plan.scaledHeight {
        image = try scaler.convert(Frame(image), to: .bgra, width: plan.scaledWidth, height: plan.scaledHeight)
      }
    }
    return image.rotated(quarterTurns: plan.quarterTurns)
  }
}
