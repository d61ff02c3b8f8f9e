import MediaCore

/// What goes from one value to another in a straight line.
public protocol Rampable: Sendable, Hashable {
  /// Between this value (0) and another (1).
  func mixed(with other: Self, part: Double) -> Self
  /// All of its numbers are numbers.
  var isFinite: Bool { get }
}

extension Double: Rampable {
  public func mixed(with other: Double, part: Double) -> Double { self + (other - self) * part }
}

extension PictureTransform: Rampable {
  public func mixed(with other: PictureTransform, part: Double) -> PictureTransform {
    PictureTransform(
      a: a.mixed(with: other.a, part: part), b: b.mixed(with: other.b, part: part),
      c: c.mixed(with: other.c, part: part),
      d: d.mixed(with: other.d, part: part), tx: tx.mixed(with: other.tx, part: part),
      ty: ty.mixed(with: other.ty, part: part))
  }
}

extension PictureRectangle: Rampable {
  public func mixed(with other: PictureRectangle, part: Double) -> PictureRectangle {
    PictureRectangle(
      x: x.mixed(with: other.x, part: part), y: y.mixed(with: other.y, part: part),
      width: width.mixed(with: other.width, part: part), height: height.mixed(with: other.height, part: part))
  }

  public var isFinite: Bool { [x, y, width, height].allSatisfy(\.isFinite) }
}

/// A value over time: ramps, and points from which on it is another. Before the first of them there is none; after a ramp or a point it stays
/// what that ended with until the next begins.
public struct VideoRamps<Value: Rampable>: Sendable, Hashable {
  /// From one value to another in a straight line; a point is a ramp of no duration.
  public struct Ramp: Sendable, Hashable {
    public let start: Value
    public let end: Value
    public let timeRange: TimeRange
  }

  /// In order of their starts; none reaches into the next.
  public private(set) var ramps: [Ramp] = []

  /// No value at any time.
  public init() {}

  /// The value at a time; nil before the first ramp.
  public func value(at time: MediaTime) -> Value? {
    guard let ramp = ramps.last(where: { $0.timeRange.start <= time }) else { return nil }
    guard time < ramp.timeRange.end else { return ramp.end }
    let part = (time - ramp.timeRange.start).seconds / ramp.timeRange.duration.seconds
    return ramp.start.mixed(with: ramp.end, part: part)
  }

  /// Adds a ramp; one that begins at the same time gives way.
  ///
  /// Errors: `invalidTime` for a range that is none, or begins before 0; `invalidArgument` for values that are no numbers, and a range that
  /// overlaps another ramp.
  mutating func insert(_ start: Value, _ end: Value, _ range: TimeRange) throws(MediaError) {
    guard start.isFinite, end.isFinite else {
      throw MediaError(.invalidArgument, "a ramp goes from numbers to numbers", operation: "videoComposition")
    }
    guard range.start.isNumeric, range.start >= .zero, range.duration.isNumeric, range.duration >= .zero,
      range.end.isNumeric
    else { throw MediaError(.invalidTime, "a ramp has no range \(range)", operation: "videoComposition") }
    var others = ramps.filter { $0.timeRange.start != range.start }
    for other in others.map(\.timeRange) where other.start < range.end && range.start < other.end {
      throw MediaError(
        .invalidArgument, "there is a ramp over \(other) already", operation: "videoComposition")
    }
    let place = others.firstIndex { $0.timeRange.start > range.start } ?? others.count
    others.insert(Ramp(start: start, end: end, timeRange: range), at: place)
    ramps = others
  }
}
