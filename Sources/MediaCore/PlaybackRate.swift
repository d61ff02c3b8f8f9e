/// How fast an item is played: its seconds in a second of what is heard. Exact: a whole number of millionths.
///
/// From 1/32 to 32, either way: below zero the item is played backwards. Never 0: a player that is paused has no rate.
public struct PlaybackRate: Sendable, Hashable, Comparable {
  /// The rate, times 1,000,000; below zero backwards.
  public let millionths: Int64

  /// As recorded.
  public static let normal = PlaybackRate(checked: 1_000_000)
  /// 1/32 and 32, in millionths: how slow and how fast a rate may be, either way.
  public static let magnitudes: ClosedRange<Int64> = 31_250...32_000_000

  /// The rate of so many millionths; nil when that is too slow or too fast.
  public init?(millionths: Int64) {
    guard Self.magnitudes.contains(Int64(clamping: millionths.magnitude)) else { return nil }
    self.millionths = millionths
  }

  /// The rate nearest to a number; nil when it is not a number, 0, too slow or too fast.
  public init?(_ value: Double) {
    guard let millionths = Int64(exactly: (value * 1_000_000).rounded()), (1.0 / 32...32).contains(abs(value)) else {
      return nil
    }
    self.init(millionths: millionths)
  }

  private init(checked millionths: Int64) { self.millionths = millionths }

  /// The rate as a number: the one that it was made of, if that had six places at most.
  public var value: Double { Double(millionths) / 1_000_000 }

  /// Whether the item's time goes backwards.
  public var isReverse: Bool { millionths < 0 }

  /// As fast, forwards.
  public var magnitude: PlaybackRate { isReverse ? PlaybackRate(checked: -millionths) : self }

  public static func < (left: PlaybackRate, right: PlaybackRate) -> Bool { left.millionths < right.millionths }
}

/// Times of sound that is played at another rate than its own.
extension MediaTime {
  /// Where the item is `frameCount` frames of `rate` a second after (below zero: before) it was at `start`, played at
  /// `playbackRate`.
  ///
  /// Exact where a timescale holds it, else rounded once, to 2^-31 s or better, and flagged. Anything but a number
  /// stays as it is; a rate that is not above zero gives `.invalid`.
  public init(_ start: MediaTime, advancedByFrames frameCount: Int64, rate: Int, playbackRate: PlaybackRate) {
    if playbackRate == .normal || !start.isNumeric || rate <= 0 || frameCount == 0 {
      // Where nothing has passed the time's own timescale says it best.
      self = frameCount == 0 ? start : start + MediaTime(frame: frameCount, rate: rate)
      return
    }
    // At most 2^63 · 2^39 + 2^63 · 2^25 · 2^31 over 2^31 · 2^39: what 128 bits hold, for every rate below 2^19 Hz.
    let unit = Int128(rate) * 1_000_000
    let scale = Int128(start.timescale)
    let sum = Int128(start.value) * unit + Int128(frameCount) * Int128(playbackRate.millionths) * scale
    self.init(
      shortest: ExactRational(sum, over: UInt128(unit * scale)), preferring: start.timescale, flags: start.flags)
  }

  /// How many frames of `rate` a second pass while the item's time, played at `playbackRate`, changes by this much.
  ///
  /// Times come rounded to 2^-31 s: what is less than 1/256 of a frame is none, except at the rate 1, where all is exact.
  /// Nil as for `frameIndex(rate:rounding:)`.
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
  /// Whether who plays at this rate has come to `time` when the item is at `place`.
  public func reaches(_ time: MediaTime, by place: MediaTime) -> Bool { isReverse ? place <= time : place >= time }
}
