import PlayheadMediaCore

/// Fits a straight line to the server's timings, which contain errors from scheduling delays.
///
/// A value type without side effects. The line has the nominal rate. Each timing moves it by a part of the difference:
/// a large part at first, later a tenth. The line therefore follows the drift of a real device (100 ppm at most) within
/// 0.2 ms. A single late reply moves the clock by only a tenth of its error.
///
/// Differences beyond `toleranceSeconds` count as outliers. After `outlierLimit` outliers in a row the line restarts.
struct HeardClock: Hashable {
  static let toleranceSeconds = 0.003
  static let outlierLimit = 3
  static let smallestGain = 0.1

  let sampleRateHz: Int
  /// A point of the line: `frame` is heard at `hostTime`. Nil before the first timing.
  private var anchor: Anchor?
  /// The number of timings that the line is based on; 0 without a line.
  private(set) var observationCount = 0
  private var outlierCount = 0

  private struct Anchor: Hashable {
    var frame: Double
    var hostTime: HostTime
  }

  init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  /// Discards the line: the device started, underran or moved.
  mutating func restart() { self = HeardClock(sampleRateHz: sampleRateHz) }

  /// Renumbers the frames: frame 0 becomes frame `count`.
  mutating func renumber(byFrames count: Int64) { anchor?.frame += Double(count) }

  /// Adds a timing: `frame` was heard at `time`. Returns true when the line restarted instead of being adjusted.
  mutating func observe(frame: Double, at time: HostTime) -> Bool {
    guard let expected = heardFrame(at: time) else {
      anchor = Anchor(frame: frame, hostTime: time)
      observationCount = 1
      return true
    }
    let difference = frame - expected
    if abs(difference) > Self.toleranceSeconds * Double(sampleRateHz) {
      outlierCount += 1
      guard outlierCount >= Self.outlierLimit else { return false }
      restart()
      return observe(frame: frame, at: time)
    }
    outlierCount = 0
    observationCount += 1
    let gain = max(Self.smallestGain, 1 / Double(observationCount))
    anchor = Anchor(frame: expected + difference * gain, hostTime: time)
    return false
  }

  /// Returns the frame heard at `time`, with its fraction; nil without a line.
  func heardFrame(at time: HostTime) -> Double? {
    guard let anchor else { return nil }
    return anchor.frame + Double(time.nanoseconds(since: anchor.hostTime)) * Double(sampleRateHz)
      / 1e9
  }

  /// Returns the time at which `frame` is heard; nil without a line.
  func hostTime(ofFrame frame: Double) -> HostTime? {
    guard let anchor else { return nil }
    return anchor.hostTime.advanced(
      byNanoseconds: Int64(((frame - anchor.frame) * 1e9 / Double(sampleRateHz)).rounded()))
  }

  /// Returns a point of the line for `OutputClock.publish`: a whole frame and the time at which it is heard.
  func publishedPoint() -> (frame: Int64, hostTime: HostTime)? {
    guard let anchor else { return nil }
    let whole = anchor.frame.rounded(.down)
    guard let time = hostTime(ofFrame: whole) else { return nil }
    return (Int64(whole), time)
  }
}
