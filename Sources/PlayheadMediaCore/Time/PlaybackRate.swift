/// A playback rate: seconds of the item per second of output. Exact: a whole number of millionths.
///
/// The magnitude is 1/32 to 32; negative rates play backward. A rate is never 0: a paused player has no rate.
public struct PlaybackRate: Sendable, Hashable, Comparable {
  /// The rate times 1,000,000; negative for backward playback.
  public let millionths: Int64

  /// The rate 1.
  public static let normal = PlaybackRate(checked: 1_000_000)
  /// The range of the magnitude of a rate, in millionths: 1/32 to 32.
  public static let magnitudes: ClosedRange<Int64> = 31_250...32_000_000

  /// Creates a rate from millionths; nil when the magnitude is out of range.
  public init?(millionths: Int64) {
    guard Self.magnitudes.contains(Int64(clamping: millionths.magnitude)) else { return nil }
    self.millionths = millionths
  }

  /// Creates the rate nearest to a number; nil when `value` is NaN, 0 or out of range.
  public init?(_ value: Double) {
    guard let millionths = Int64(exactly: (value * 1_000_000).rounded()), (1.0 / 32...32).contains(abs(value)) else {
      return nil
    }
    self.init(millionths: millionths)
  }

  private init(checked millionths: Int64) { self.millionths = millionths }

  /// The rate as a number, which equals the number from which the rate was created, if that has at most six decimals.
  public var value: Double { Double(millionths) / 1_000_000 }

  /// Whether the rate plays backward.
  public var isReverse: Bool { millionths < 0 }

  /// The forward rate of the same magnitude.
  public var magnitude: PlaybackRate { isReverse ? PlaybackRate(checked: -millionths) : self }

  public static func < (left: PlaybackRate, right: PlaybackRate) -> Bool { left.millionths < right.millionths }
}

/// Conversions between item times and output frames at a playback rate.
extension MediaTime {
  /// The item time `frameCount` output frames after `start` (before, if negative), at `rate` frames per second and at
  /// `playbackRate`.
  ///
  /// The result is exact if a timescale represents it; otherwise it is rounded once, to 2^-31 s or better, and
  /// flagged. Special values are unchanged. A `rate` that is not above zero gives `.invalid`.
  public init(_ start: MediaTime, advancedByFrames frameCount: Int64, rate: Int, playbackRate: PlaybackRate) {
    if playbackRate == .normal || !start.isNumeric || rate <= 0 || frameCount == 0 {
      // With no frames elapsed, the original timescale is the best representation.
      self = frameCount == 0 ? start : start + MediaTime(frame: frameCount, rate: rate)
      return
    }
    // The sum is at most 2^63 · 2^39 + 2^63 · 2^25 · 2^31 over 2^31 · 2^39. The sum fits in 128 bits for every rate
    // below 2^19 Hz.
    let unit = Int128(rate) * 1_000_000
    let scale = Int128(start.timescale)
    let sum = Int128(start.value) * unit + Int128(frameCount) * Int128(playbackRate.millionths) * scale
    self.init(
      shortest: ExactRational(sum, over: UInt128(unit * scale)), preferring: start.timescale, flags: start.flags)
  }

  /// The number of output frames, at `rate` frames per second, during which the item time changes by this duration at
  /// `playbackRate`.
  ///
  /// Times are rounded to 2^-31 s, so less than 1/256 of a frame counts as none. At the rate 1 the calculation is
  /// exact. Nil as for ``frameIndex(rate:rounding:)``.
  public func frameCount(rate: Int, playbackRate: PlaybackRate, rounding method: RoundingMethod) -> Int64? {
    guard playbackRate != .normal else { return frameIndex(rate: rate, rounding: method) }
    guard isNumeric, rate > 0 else { return nil }
    let exact = ExactRational(
      isNegative: (value < 0) != playbackRate.isReverse, product: [value.magnitude, UInt64(rate), 1_000_000],
      over: [UInt64(timescale), playbackRate.millionths.magnitude])
    guard let (parts, _) = exact.scaled(to: 128, rounding: .halfAwayFromZero) else { return nil }
    return ExactRational(Int128(parts), over: 128).scaled(to: 1, rounding: method)?.value
  }
}

extension PlaybackRate {
  /// Whether playback at this rate has reached `time` when the item is at `position`.
  public func reaches(_ time: MediaTime, by position: MediaTime) -> Bool {
    isReverse ? position <= time : position >= time
  }
}
