/// How a gain moves from one value to another.
public enum RampCurve: Sendable, Hashable, BitwiseCopyable {
  /// A straight line.
  case linear
  /// The square of the gain moves in a straight line: two players that are faded across each other, one in and one out,
  /// keep their common power.
  case equalPower
}

/// A gain that moves from one value to another over output frames, and stays there.
///
/// It is a function of the output frame alone, so that what is rendered again is the same again. A command that changes
/// it is never undone, so nothing older than the present ramp is ever asked for.
struct GainRamp: BitwiseCopyable {
  var start: Float
  var target: Float
  var startFrame: Int64
  var frameCount: Int64
  var curve: RampCurve

  /// A ramp; gain 1 unless said.
  @_noAllocation
  init(
    start: Float = 1, target: Float = 1, startFrame: Int64 = 0, frameCount: Int64 = 0, curve: RampCurve = .linear
  ) {
    self.start = start
    self.target = target
    self.startFrame = startFrame
    self.frameCount = frameCount
    self.curve = curve
  }

  /// The first frame at which the target is reached.
  var endFrame: Int64 {
    @_noAllocation get { startFrame &+ frameCount }
  }

  /// The gain at an output frame that is not before `startFrame`.
  @_noAllocation
  func value(atFrame frame: Int64) -> Float {
    let elapsed = frame &- startFrame
    if elapsed >= frameCount { return target }
    let part = Float(elapsed) / Float(frameCount)
    switch curve {
    case .linear: return start + (target - start) * part
    case .equalPower:
      let power = start * start + (target * target - start * start) * part
      return Self.squareRoot(power)
    }
  }

  /// By Newton's method, exact to the last bit but one: the compiler cannot see that the library's does not allocate.
  @_noAllocation
  private static func squareRoot(_ square: Float) -> Float {
    if square < .leastNormalMagnitude { return 0 }
    // Half the exponent is within 4 %; each step squares the error.
    var root = Float(bitPattern: square.bitPattern &>> 1 &+ 0x1FBD_1DF5)
    for _ in 0..<3 { root = 0.5 * (root + square / root) }
    return root
  }

  /// Moves on to another value, from what it is at `frame`.
  @_noAllocation
  mutating func move(to newTarget: Float, atFrame frame: Int64, frameCount count: Int64, curve newCurve: RampCurve) {
    start = value(atFrame: frame)
    target = newTarget
    startFrame = frame
    frameCount = count
    curve = newCurve
  }
}

/// How loud the two sides of a stereo image are: what a pan position is to the mixer.
///
/// The near side keeps gain 1, the far side gets cos(|p| * pi/2). Which channels are on a side follows from FFmpeg's
/// native order of that many channels; what stands in the middle is left as it is.
struct PanSides: BitwiseCopyable {
  /// A bit for each channel on the left, and on the right.
  let left: UInt64
  let right: UInt64

  init(channelCount: Int) {
    // libavutil/channel_layout.h, `av_channel_layout_default`; with more than eight channels only the front pair is sure.
    switch channelCount {
    case 1: (left, right) = (0, 0)
    case 5: (left, right) = (0b01001, 0b10010)
    case 6: (left, right) = (0b010001, 0b100010)
    case 7: (left, right) = (0b0100001, 0b1000010)
    case 8: (left, right) = (0b01010001, 0b10100010)
    default: (left, right) = (0b01, 0b10)
    }
  }

  /// Which of the three gains is that of a channel.
  @_noAllocation
  func gain(ofChannel channel: Int, left leftGain: Float, right rightGain: Float, middle: Float) -> Float {
    let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: channel)
    if left & bit != 0 { return leftGain }
    return right & bit != 0 ? rightGain : middle
  }
}
