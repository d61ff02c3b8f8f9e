import MediaCore

/// Makes one smooth line from the server's timings, each of which errs by scheduling delays.
///
/// A pure value. The line runs at the nominal rate; each timing moves it by a part of the difference, a large part at
/// first and then a tenth, so that the drift of a real device (100 ppm at most) is followed within 0.2 ms while a single
/// late answer moves the clock by a tenth of its error. Differences beyond `toleranceSeconds` are taken for outliers
/// until `outlierLimit` of them come in a row; then the line starts anew.
struct HeardClock: Hashable {
  static let toleranceSeconds = 0.003
  static let outlierLimit = 3
  static let smallestGain = 0.1

  let sampleRateHz: Int
  /// The line: `frame` is heard at `hostTime`. Nil before the first timing.
  private var anchor: Anchor?
  private var observationCount = 0
  private var outlierCount = 0

  private struct Anchor: Hashable {
    var frame: Double
    var hostTime: HostTime
  }

  init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  /// How many timings the line rests on; 0 while there is none.
  var confidence: Int { observationCount }

  /// Forgets the line: the device started, starved or moved.
  mutating func restart() { self = HeardClock(sampleRateHz: sampleRateHz) }

  /// Counts all frames anew: what was frame 0 is frame `count`.
  mutating func move(byFrames count: Int64) { anchor?.frame += Double(count) }

  /// Takes a timing in: `frame` was heard at `time`. True when the line began anew instead of being bent.
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

  /// The frame heard at `time`, with its fraction; nil without a line.
  func heardFrame(at time: HostTime) -> Double? {
    guard let anchor else { return nil }
    return anchor.frame + Double(time.nanoseconds(since: anchor.hostTime)) * Double(sampleRateHz)
      / 1e9
  }

  /// When `frame` is heard; nil without a line.
  func hostTime(ofFrame frame: Double) -> HostTime? {
    guard let anchor else { return nil }
    return anchor.hostTime.advanced(
      byNanoseconds: Int64(((frame - anchor.frame) * 1e9 / Double(sampleRateHz)).rounded()))
  }

  /// A point of the line for `OutputClock.publish`: a whole frame and the instant at which it is heard.
  func publishedPoint() -> (frame: Int64, hostTime: HostTime)? {
    guard let anchor else { return nil }
    let whole = anchor.frame.rounded(.down)
    guard let time = hostTime(ofFrame: whole) else { return nil }
    return (Int64(whole), time)
  }
}
