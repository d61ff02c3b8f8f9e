/// The curve on which a gain moves from one value to another.
public enum RampCurve: Sendable, Hashable, BitwiseCopyable {
  /// A straight line.
  case linear
  /// Between 0 and 1, a quarter of a sine. The sum of the powers stays constant when one stream fades out while
  /// another fades in.
  case equalPower
  /// Half a cosine: slow at both ends. The sum of the gains stays constant when one stream fades out while another
  /// fades in.
  case sCurve
}

/// A gain that moves from one value to another over a number of output frames, and then keeps the target value.
///
/// The gain depends on the output frame alone, so that rendering a frame again gives the same result. No frame before
/// the current ramp is rendered again, because a command that changes the gain is never undone.
struct GainRamp: BitwiseCopyable {
  var start: Float
  var target: Float
  var startFrame: Int64
  var frameCount: Int64
  var curve: RampCurve

  /// Creates a ramp. Default: gain 1.
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

  /// Returns the gain at an output frame that is not before `startFrame`.
  @_noAllocation
  func value(atFrame frame: Int64) -> Float {
    let elapsed = frame &- startFrame
    if elapsed >= frameCount { return target }
    let part = Float(elapsed) / Float(frameCount)
    switch curve {
    case .linear: return start + (target - start) * part
    case .equalPower:
      let power = start * start + (target * target - start * start) * Self.cosineRise(part)
      return Self.squareRoot(power)
    case .sCurve: return start + (target - start) * Self.cosineRise(part)
    }
  }

  /// Returns half a cosine from 0 to 1: `(1 - cos(pi * part)) / 2`, the square of `sin(pi / 2 * part)`.
  ///
  /// The sine's Taylor series to the term of degree 11: its error is below 1e-7. The compiler cannot prove that the C
  /// library's function does not allocate.
  @_noAllocation
  static func cosineRise(_ part: Float) -> Float {
    let angle = Double.pi / 2 * Double(part)
    let square = angle * angle
    var series = 1 - square / 110
    series = 1 - square / 72 * series
    series = 1 - square / 42 * series
    series = 1 - square / 20 * series
    series = 1 - square / 6 * series
    let sine = angle * series
    return Float(sine * sine)
  }

  /// Returns the square root, by Newton's method; only the last bit may be wrong. The compiler cannot prove that the C
  /// library's function does not allocate.
  @_noAllocation
  static func squareRoot(_ square: Float) -> Float {
    if square < .leastNormalMagnitude { return 0 }
    // Halving the exponent gives an error below 4 %; each step squares the error.
    var root = Float(bitPattern: square.bitPattern &>> 1 &+ 0x1FBD_1DF5)
    for _ in 0..<3 { root = 0.5 * (root + square / root) }
    return root
  }

  /// Begins a ramp to `newTarget` from the gain at `frame`.
  @_noAllocation
  mutating func move(to newTarget: Float, atFrame frame: Int64, frameCount count: Int64, curve newCurve: RampCurve) {
    start = value(atFrame: frame)
    target = newTarget
    startFrame = frame
    frameCount = count
    curve = newCurve
  }
}

/// The channels on the left and right side of a layout, for panning.
///
/// The near side keeps gain 1, the far side gets cos(|pan| * pi/2). FFmpeg's native order for the channel count
/// determines the side of a channel; channels in the middle do not change.
struct PanSides: BitwiseCopyable {
  /// One bit for each channel on the left, and on the right.
  let left: UInt64
  let right: UInt64

  init(channelCount: Int) {
    // libavutil/channel_layout.h, `av_channel_layout_default`; with more than eight channels only the front pair is
    // known.
    switch channelCount {
    case 1: (left, right) = (0, 0)
    case 5: (left, right) = (0b01001, 0b10010)
    case 6: (left, right) = (0b010001, 0b100010)
    case 7: (left, right) = (0b0100001, 0b1000010)
    case 8: (left, right) = (0b01010001, 0b10100010)
    default: (left, right) = (0b01, 0b10)
    }
  }

  /// Returns the gain of a channel: that of its side, or of the middle.
  @_noAllocation
  func gain(ofChannel channel: Int, left leftGain: Float, right rightGain: Float, middle: Float) -> Float {
    let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: channel)
    if left & bit != 0 { return leftGain }
    return right & bit != 0 ? rightGain : middle
  }
}
