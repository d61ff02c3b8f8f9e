import Glibc

/// Where the pixels of one picture go in another: as CGAffineTransform. x goes to the right and y down.
///
/// A point goes to `(a * x + c * y + tx, b * x + d * y + ty)`.
public struct PictureTransform: Sendable, Hashable {
  public var a: Double
  public var b: Double
  public var c: Double
  public var d: Double
  public var tx: Double
  public var ty: Double

  public init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }

  /// Everything stays where it is.
  public static let identity = PictureTransform(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

  /// So many pixels to the right, and down.
  public static func translation(x: Double, y: Double) -> PictureTransform {
    PictureTransform(a: 1, b: 0, c: 0, d: 1, tx: x, ty: y)
  }

  /// So many times as wide and as high, from the top left on.
  public static func scale(x: Double, y: Double) -> PictureTransform {
    PictureTransform(a: x, b: 0, c: 0, d: y, tx: 0, ty: 0)
  }

  /// Turned clockwise about the top left corner.
  public static func rotation(degrees: Double) -> PictureTransform {
    // Quarters of a turn are exact, so that pixels fall on pixels.
    let quarters = degrees / 90
    if quarters == quarters.rounded(), abs(quarters) < 1e9 {
      let (sine, cosine) = [(0.0, 1.0), (1, 0), (0, -1), (-1, 0)][(Int(quarters) % 4 + 4) % 4]
      return PictureTransform(a: cosine, b: sine, c: -sine, d: cosine, tx: 0, ty: 0)
    }
    let angle = degrees * .pi / 180
    return PictureTransform(a: cos(angle), b: sin(angle), c: -sin(angle), d: cos(angle), tx: 0, ty: 0)
  }

  /// What stands a picture upright that is to be turned clockwise by 0, 90, 180 or 270 degrees (`FormatDescription.Video.rotationDegrees`),
  /// with its corner at the top left.
  ///
  /// - Parameters:
  ///   - width: of the picture as it lies in the file.
  ///   - height: the same.
  public static func upright(rotationDegrees: Int, width: Double, height: Double) -> PictureTransform {
    let turned = rotation(degrees: Double(rotationDegrees))
    return switch (rotationDegrees % 360 + 360) % 360 {
    case 90: turned.followed(by: .translation(x: height, y: 0))
    case 180: turned.followed(by: .translation(x: width, y: height))
    case 270: turned.followed(by: .translation(x: 0, y: width))
    default: turned
    }
  }

  /// This one, and then another.
  public func followed(by other: PictureTransform) -> PictureTransform {
    PictureTransform(
      a: a * other.a + b * other.c, b: a * other.b + b * other.d, c: c * other.a + d * other.c,
      d: c * other.b + d * other.d, tx: tx * other.a + ty * other.c + other.tx,
      ty: tx * other.b + ty * other.d + other.ty)
  }

  /// What leads back; nil where everything falls onto a line.
  public var inverted: PictureTransform? {
    let determinant = a * d - b * c
    guard isFinite, determinant.isFinite, abs(determinant) > 1e-12 else { return nil }
    return PictureTransform(
      a: d / determinant, b: -b / determinant, c: -c / determinant, d: a / determinant,
      tx: (c * ty - d * tx) / determinant, ty: (b * tx - a * ty) / determinant)
  }

  /// All of its numbers are numbers.
  public var isFinite: Bool { [a, b, c, d, tx, ty].allSatisfy(\.isFinite) }

  /// Where a point goes.
  public func apply(x: Double, y: Double) -> (x: Double, y: Double) { (a * x + c * y + tx, b * x + d * y + ty) }
}

/// A part of a picture, in its pixels, from the top left on; a pixel belongs to it whose middle does.
public struct PictureRectangle: Sendable, Hashable {
  public var x: Double
  public var y: Double
  public var width: Double
  public var height: Double

  public init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }
}
