import Glibc

/// Maps the pixels of one image to another, as CGAffineTransform. The x axis points right, and the y axis down.
///
/// Maps a point to `(a * x + c * y + tx, b * x + d * y + ty)`.
public struct ImageTransform: Sendable, Hashable {
  /// The factor of x in the new x.
  public var a: Double
  /// The factor of x in the new y.
  public var b: Double
  /// The factor of y in the new x.
  public var c: Double
  /// The factor of y in the new y.
  public var d: Double
  /// The horizontal translation.
  public var tx: Double
  /// The vertical translation.
  public var ty: Double

  /// Creates a transform from its coefficients.
  public init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }

  /// The identity, which maps each point to itself.
  public static let identity = ImageTransform(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

  /// Returns a translation by `x` pixels to the right and `y` pixels down.
  public static func translation(x: Double, y: Double) -> ImageTransform {
    ImageTransform(a: 1, b: 0, c: 0, d: 1, tx: x, ty: y)
  }

  /// Returns a scaling by two factors, relative to the top left corner.
  public static func scale(x: Double, y: Double) -> ImageTransform {
    ImageTransform(a: x, b: 0, c: 0, d: y, tx: 0, ty: 0)
  }

  /// Returns a clockwise rotation about the top left corner.
  public static func rotation(degrees: Double) -> ImageTransform {
    // Quarter turns are exact, so that pixels map to pixels.
    let quarters = degrees / 90
    if quarters == quarters.rounded(), abs(quarters) < 1e9 {
      let (sine, cosine) = [(0.0, 1.0), (1, 0), (0, -1), (-1, 0)][(Int(quarters) % 4 + 4) % 4]
      return ImageTransform(a: cosine, b: sine, c: -sine, d: cosine, tx: 0, ty: 0)
    }
    let angle = degrees * .pi / 180
    return ImageTransform(a: cos(angle), b: sin(angle), c: -sin(angle), d: cos(angle), tx: 0, ty: 0)
  }

  /// Returns the transform that rotates an image upright, with its corner at the top left.
  ///
  /// - Parameters:
  ///   - rotationDegrees: The clockwise rotation: 0, 90, 180 or 270 (`FormatDescription.Video.rotationDegrees`).
  ///   - width: The width of the image in the file.
  ///   - height: The height of the image in the file.
  public static func upright(rotationDegrees: Int, width: Double, height: Double) -> ImageTransform {
    let rotated = rotation(degrees: Double(rotationDegrees))
    return switch (rotationDegrees % 360 + 360) % 360 {
    case 90: rotated.followed(by: .translation(x: height, y: 0))
    case 180: rotated.followed(by: .translation(x: width, y: height))
    case 270: rotated.followed(by: .translation(x: 0, y: width))
    default: rotated
    }
  }

  /// Returns this transform followed by another.
  public func followed(by other: ImageTransform) -> ImageTransform {
    ImageTransform(
      a: a * other.a + b * other.c, b: a * other.b + b * other.d, c: c * other.a + d * other.c,
      d: c * other.b + d * other.d, tx: tx * other.a + ty * other.c + other.tx,
      ty: tx * other.b + ty * other.d + other.ty)
  }

  /// The inverse transform; nil if all points map to a line.
  public var inverted: ImageTransform? {
    let determinant = a * d - b * c
    guard isFinite, determinant.isFinite, abs(determinant) > 1e-12 else { return nil }
    return ImageTransform(
      a: d / determinant, b: -b / determinant, c: -c / determinant, d: a / determinant,
      tx: (c * ty - d * tx) / determinant, ty: (b * tx - a * ty) / determinant)
  }

  /// Whether all values are finite.
  public var isFinite: Bool { [a, b, c, d, tx, ty].allSatisfy(\.isFinite) }

  /// Maps a point.
  public func apply(x: Double, y: Double) -> (x: Double, y: Double) { (a * x + c * y + tx, b * x + d * y + ty) }
}

/// A part of an image in its pixels, from the top left. It contains the pixels whose centers it contains.
public struct ImageRectangle: Sendable, Hashable {
  /// The x coordinate of the left edge.
  public var x: Double
  /// The y coordinate of the upper edge.
  public var y: Double
  /// The width.
  public var width: Double
  /// The height.
  public var height: Double

  /// Creates a rectangle.
  public init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }
}
