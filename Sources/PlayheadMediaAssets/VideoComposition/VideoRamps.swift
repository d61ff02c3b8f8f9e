import PlayheadMediaCore

/// A value that can be interpolated linearly.
public protocol Rampable: Sendable, Hashable {
  /// Returns the value between this value (`fraction` 0) and another (`fraction` 1).
  func interpolated(to other: Self, fraction: Double) -> Self
  /// Whether all values are finite.
  var isFinite: Bool { get }
}

extension Double: Rampable {
  public func interpolated(to other: Double, fraction: Double) -> Double { self + (other - self) * fraction }
}

extension ImageTransform: Rampable {
  public func interpolated(to other: ImageTransform, fraction: Double) -> ImageTransform {
    ImageTransform(
      a: a.interpolated(to: other.a, fraction: fraction), b: b.interpolated(to: other.b, fraction: fraction),
      c: c.interpolated(to: other.c, fraction: fraction),
      d: d.interpolated(to: other.d, fraction: fraction), tx: tx.interpolated(to: other.tx, fraction: fraction),
      ty: ty.interpolated(to: other.ty, fraction: fraction))
  }
}

extension ImageRectangle: Rampable {
  public func interpolated(to other: ImageRectangle, fraction: Double) -> ImageRectangle {
    ImageRectangle(
      x: x.interpolated(to: other.x, fraction: fraction), y: y.interpolated(to: other.y, fraction: fraction),
      width: width.interpolated(to: other.width, fraction: fraction),
      height: height.interpolated(to: other.height, fraction: fraction))
  }

  public var isFinite: Bool { [x, y, width, height].allSatisfy(\.isFinite) }
}

/// A value over time, defined by ramps and points. There is no value before the first one. The value at the end of a
/// ramp or point stays until the next one begins.
public struct VideoRamps<Value: Rampable>: Sendable, Hashable {
  /// A linear change from one value to another. A point is a ramp without a duration.
  public struct Ramp: Sendable, Hashable {
    /// The value at the start of the range.
    public let start: Value
    /// The value at the end of the range.
    public let end: Value
    /// The range of the change.
    public let timeRange: TimeRange
  }

  /// The ramps in order of their starts, without overlaps.
  public private(set) var ramps: [Ramp] = []

  /// Creates ramps without a value at any time.
  public init() {}

  /// Returns the value at a time; nil before the first ramp.
  public func value(at time: MediaTime) -> Value? {
    guard let ramp = ramps.last(where: { $0.timeRange.start <= time }) else { return nil }
    guard time < ramp.timeRange.end else { return ramp.end }
    let fraction = (time - ramp.timeRange.start).seconds / ramp.timeRange.duration.seconds
    return ramp.start.interpolated(to: ramp.end, fraction: fraction)
  }

  /// Adds a ramp. Replaces a ramp that begins at the same time.
  ///
  /// - Throws: `invalidTime` for a range that is invalid or begins before 0; `invalidArgument` for values that are not
  ///   finite, and for a range that overlaps another ramp.
  mutating func insert(_ start: Value, _ end: Value, _ range: TimeRange) throws(MediaError) {
    guard start.isFinite, end.isFinite else {
      throw MediaError(.invalidArgument, "the values of a ramp must be finite", operation: "videoComposition")
    }
    guard range.start.isNumeric, range.start >= .zero, range.duration.isNumeric, range.duration >= .zero,
      range.end.isNumeric
    else { throw MediaError(.invalidTime, "the range of a ramp is invalid: \(range)", operation: "videoComposition") }
    var others = ramps.filter { $0.timeRange.start != range.start }
    for other in others.map(\.timeRange) where other.start < range.end && range.start < other.end {
      throw MediaError(
        .invalidArgument, "the ramp overlaps another one: \(other)", operation: "videoComposition")
    }
    let index = others.firstIndex { $0.timeRange.start > range.start } ?? others.count
    others.insert(Ramp(start: start, end: end, timeRange: range), at: index)
    ramps = others
  }
}
