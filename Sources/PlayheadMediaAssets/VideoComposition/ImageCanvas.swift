import Glibc
import PlayheadMediaCore

/// An image in BGRA with straight alpha, on which other images are drawn. A pure value.
///
/// The center of each pixel of the canvas is mapped into the drawn image, where the four nearest pixels are
/// interpolated (bilinear). Nothing is drawn outside the image's edges. A drawn pixel is blended with its alpha times
/// the opacity, in values from 0 to 255 that are rounded half up.
struct ImageCanvas {
  let width: Int
  let height: Int
  private var bytes: [UInt8]

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    bytes = Array(repeating: 0, count: 4 * width * height)
  }

  /// Returns the current image.
  func image() throws(MediaError) -> PixelBuffer {
    try PixelBuffer(.bgra, width: width, height: height, data: bytes)
  }

  /// Fills the canvas with one colour and replaces its contents.
  mutating func clear(_ color: RGBColor) {
    let pixel = UInt32(color.alpha) << 24 | UInt32(color.red) << 16 | UInt32(color.green) << 8 | UInt32(color.blue)
    bytes.withUnsafeMutableBytes { target in
      for index in stride(from: 0, to: target.count, by: 4) {
        target.storeBytes(of: pixel.littleEndian, toByteOffset: index, as: UInt32.self)
      }
    }
  }

  /// Draws an image in BGRA.
  ///
  /// - Parameters:
  ///   - transform: Maps the image's pixels to those of the canvas.
  ///   - opacity: From 0 to 1.
  ///   - crop: The visible part of the image; nil for all of it.
  mutating func draw(
    _ image: PixelBuffer, transform: ImageTransform, opacity: Double, crop: ImageRectangle? = nil
  ) {
    precondition(image.pixelFormat == .bgra, "frames must be BGRA")
    guard opacity > 0, let inverse = transform.inverted, let visible = VisibleArea(image, crop) else { return }
    let (columns, rows) = coveredPixels(visible, transform)
    guard !columns.isEmpty, !rows.isEmpty else { return }
    let scaledOpacity = Int((min(1, opacity) * 255).rounded())
    let width = width
    bytes.withUnsafeMutableBufferPointer { target in
      image.data.withUnsafeBufferPointer { source in
        let sampler = ImageSampler(pixels: source, width: image.width, height: image.height)
        for row in rows {
          for column in columns {
            let (x, y) = inverse.apply(x: Double(column) + 0.5, y: Double(row) + 0.5)
            guard x >= visible.left, x < visible.right, y >= visible.top, y < visible.bottom else { continue }
            let pixel = sampler.pixel(x: x, y: y)
            Self.blend(pixel, (pixel.alpha * scaledOpacity + 127) / 255, on: target, at: 4 * (row * width + column))
          }
        }
      }
    }
  }

  /// The visible part of an image, in its pixels.
  private struct VisibleArea {
    var left: Double
    var top: Double
    var right: Double
    var bottom: Double

    /// Returns nil if the part is empty.
    init?(_ image: PixelBuffer, _ crop: ImageRectangle?) {
      (left, top, right, bottom) = (0, 0, Double(image.width), Double(image.height))
      guard let crop else { return }
      (left, top) = (max(left, crop.x), max(top, crop.y))
      (right, bottom) = (min(right, crop.x + crop.width), min(bottom, crop.y + crop.height))
      guard left < right, top < bottom else { return nil }
    }
  }

  /// Returns the columns and rows of the canvas that the image may cover.
  private func coveredPixels(
    _ visible: VisibleArea, _ transform: ImageTransform
  ) -> (columns: Range<Int>, rows: Range<Int>) {
    let corners = [
      (visible.left, visible.top), (visible.right, visible.top), (visible.left, visible.bottom),
      (visible.right, visible.bottom),
    ].map { transform.apply(x: $0.0, y: $0.1) }
    func range(_ values: [Double], _ count: Int) -> Range<Int> {
      let low = max(0, min(Double(count), (values.min() ?? 0).rounded(.down)))
      let high = max(low, min(Double(count), (values.max() ?? 0).rounded(.up)))
      return Int(low)..<Int(high)
    }
    return (range(corners.map(\.x), width), range(corners.map(\.y), height))
  }

  /// Blends a pixel with the canvas.
  private static func blend(
    _ pixel: ImageSampler.Pixel, _ alpha: Int, on target: UnsafeMutableBufferPointer<UInt8>, at index: Int
  ) {
    let below = Int(target[index + 3])
    if alpha == 255 || below == 255 {
      for (offset, value) in [(0, pixel.blue), (1, pixel.green), (2, pixel.red)] {
        let current = Int(target[index + offset])
        target[index + offset] = UInt8((value * alpha + current * (255 - alpha) + 127) / 255)
      }
      target[index + 3] = 255
      return
    }
    // Both pixels are translucent: each is weighted by its visible fraction, in units of 1 / (255 * 255).
    let rest = below * (255 - alpha)
    let total = alpha * 255 + rest
    guard total > 0 else { return }
    for (offset, value) in [(0, pixel.blue), (1, pixel.green), (2, pixel.red)] {
      let current = Int(target[index + offset])
      target[index + offset] = UInt8((value * alpha * 255 + current * rest + total / 2) / total)
    }
    target[index + 3] = UInt8((total + 127) / 255)
  }
}

/// Reads the pixels of an image, with interpolation between them.
struct ImageSampler {
  /// Values from 0 to 255.
  struct Pixel {
    var blue: Int
    var green: Int
    var red: Int
    var alpha: Int
  }

  let pixels: UnsafeBufferPointer<UInt8>
  let width: Int
  let height: Int

  /// Returns the pixel at a point within the image. The center of the first pixel is (0.5, 0.5).
  @inline(__always)
  func pixel(x: Double, y: Double) -> Pixel {
    let (left, top) = ((x - 0.5).rounded(.down), (y - 0.5).rounded(.down))
    // The weights, in units of 1/256.
    let (right, below) = (Int(((x - 0.5 - left) * 256).rounded()), Int(((y - 0.5 - top) * 256).rounded()))
    let (column, row) = (Int(left), Int(top))
    if right == 0, below == 0 { return at(column, row) }
    // Colours are weighted by alpha, because the colour of a transparent pixel is undefined.
    var (blue, green, red, alpha) = (0, 0, 0, 0)
    func add(_ pixel: Pixel, _ part: Int) {
      let weight = part * pixel.alpha
      blue += pixel.blue * weight
      green += pixel.green * weight
      red += pixel.red * weight
      alpha += weight
    }
    add(at(column, row), (256 - right) * (256 - below))
    add(at(column + 1, row), right * (256 - below))
    add(at(column, row + 1), (256 - right) * below)
    add(at(column + 1, row + 1), right * below)
    guard alpha > 0 else { return Pixel(blue: 0, green: 0, red: 0, alpha: 0) }
    let half = alpha / 2
    return Pixel(
      blue: (blue + half) / alpha, green: (green + half) / alpha, red: (red + half) / alpha,
      alpha: (alpha + 32_768) / 65_536)
  }

  /// Returns a pixel. Beyond the edge, returns the nearest one.
  @inline(__always)
  private func at(_ column: Int, _ row: Int) -> Pixel {
    let index = 4 * (max(0, min(height - 1, row)) * width + max(0, min(width - 1, column)))
    return Pixel(
      blue: Int(pixels[index]), green: Int(pixels[index + 1]), red: Int(pixels[index + 2]),
      alpha: Int(pixels[index + 3]))
  }
}
