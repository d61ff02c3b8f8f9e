import MediaCore

/// A value that can be interpolated linearly.
public protocol Rampable: Sendable, Hashable {
  /// Returns the value between this value (`part` 0) and another (`part` 1).
  func mixed(with other: Self, part: Double) -> Self
  /// Whether all values are finite.
  var isFinite: Bool { get }
}

extension Double: Rampable {
  public func mixed(with other: Double, part: Double) -> Double { self + (other - self) * part }
}

extension ImageTransform: Rampable {
  public func mixed(with other: ImageTransform, part: Double) -> ImageTransform {
    ImageTransform(
      a: a.mixed(with: other.a, part: part), b: b.mixed(with: other.b, part: part),
      c: c.mixed(with: other.c, part: part),
      d: d.mixed(with: other.d, part: part), tx: tx.mixed(with: other.tx, part: part),
      ty: ty.mixed(with: other.ty, part: part))
  }
}

extension ImageRectangle: Rampable {
  public func mixed(with other: ImageRectangle, part: Double) -> ImageRectangle {
    ImageRectangle(
      x: x.mixed(with: other.x, part: part), y: y.mixed(with: other.y, part: part),
      width: width.mixed(with: other.width, part: part), height: height.mixed(with: other.height, part: part))
  }

  public var isFinite: Bool { [x, y, width, height].allSatisfy(\.isFinite) }
}

/// A value over time, defined by ramps and points. Before the first of them there is no value. After a ramp or a point
/// its last value stays until the next one begins.
public struct VideoRamps<Value: Rampable>: Sendable, Hashable {
  /// A linear change from one value to another. A point is a ramp without a duration.
  public struct Ramp: Sendable, Hashable {
    public let start: Value
    public let end: Value
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
    let part = (time - ramp.timeRange.start).seconds / ramp.timeRange.duration.seconds
    return ramp.start.mixed(with: ramp.end, part: part)
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
    let place = others.firstIndex { $0.timeRange.start > range.start } ?? others.count
    others.insert(Ramp(start: start, end: end, timeRange: range), at: place)
    ramps = others
  }
}
