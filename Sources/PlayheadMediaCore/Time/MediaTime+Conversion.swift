/// Rounding, timescale conversion, seconds and audio frames.
extension MediaTime {
  /// A method of rounding a time to a timescale. The raw values are those of CMTimeRoundingMethod.
  public enum RoundingMethod: UInt32, Sendable, Hashable, CaseIterable {
    /// To the nearest value; halves away from zero. The default everywhere.
    case halfAwayFromZero = 1
    /// To the adjacent value nearer to zero (truncation).
    case towardZero = 2
    /// To the adjacent value farther from zero.
    case awayFromZero = 3
    /// Toward zero when the timescale decreases, away from zero when it increases. A negative time never becomes 0,
    /// but `-1/timescale`.
    case quickTime = 4
    /// To the greater adjacent value.
    case towardPositiveInfinity = 5
    /// To the smaller adjacent value.
    case towardNegativeInfinity = 6

    /// Whether a number between two representable values is rounded to the one of larger magnitude. The caller must
    /// have resolved `.quickTime`.
    func roundsUp(isNegative: Bool, isHalfOrMore: Bool) -> Bool {
      switch self {
      case .halfAwayFromZero: isHalfOrMore
      case .towardZero, .quickTime: false
      case .awayFromZero: true
      case .towardPositiveInfinity: !isNegative
      case .towardNegativeInfinity: isNegative
      }
    }

    /// The method that `.quickTime` means between two scales; any other method is unchanged.
    func resolved(from oldScale: UInt64, to newScale: UInt64) -> RoundingMethod {
      guard self == .quickTime else { return self }
      return newScale < oldScale ? .towardZero : .awayFromZero
    }
  }

  /// This time in another timescale, as CMTimeConvertScale.
  ///
  /// Inexact results are rounded with `method` and flagged. A value that overflows `Int64` becomes infinite. Special
  /// values are unchanged. A timescale that is not above zero gives `.invalid`.
  public func convertScale(_ newTimescale: Int32, method: RoundingMethod = .halfAwayFromZero) -> MediaTime {
    guard newTimescale > 0 else { return .invalid }
    guard isNumeric, newTimescale != timescale else { return self }
    guard let (newValue, isExact) = units(per: UInt64(newTimescale), rounding: method) else {
      return value < 0 ? .negativeInfinity : .positiveInfinity
    }
    return MediaTime(numeric: newValue, newTimescale, isExact ? flags : flags.union(.hasBeenRounded), epoch)
  }

  /// This number times `scale`, rounded; nil when it does not fit in an `Int64`. For numeric times only.
  private func units(per scale: UInt64, rounding method: RoundingMethod) -> (value: Int64, isExact: Bool)? {
    let oldScale = UInt64(timescale)
    let exact = ExactRational(Int128(value), over: UInt128(oldScale))
    guard let (newValue, isExact) = exact.scaled(to: scale, rounding: method.resolved(from: oldScale, to: scale)) else {
      return nil
    }
    return (method == .quickTime && newValue == 0 && value < 0 ? -1 : newValue, isExact)
  }

  // MARK: - Seconds

  /// Creates the time nearest to `seconds` toward zero at `preferredTimescale`, as CMTimeMakeWithSeconds.
  ///
  /// The product is calculated in `Double` and truncated. The result is flagged as rounded unless it converts back to
  /// the same `seconds`. The timescale is halved while the value overflows; if the value overflows at timescale 1 too,
  /// the result is infinite. A timescale that is not above zero gives `.invalid`. NaN gives zero, flagged as rounded;
  /// check `isNaN` first where that matters.
  public init(seconds: Double, preferredTimescale: Int32) {
    guard preferredTimescale > 0 else {
      self = .invalid
      return
    }
    guard !seconds.isNaN else {
      self.init(numeric: 0, preferredTimescale, [.valid, .hasBeenRounded], 0)
      return
    }
    var scale = preferredTimescale
    while scale > 0 {
      let whole = (seconds * Double(scale)).rounded(.towardZero)
      if let value = Int64(exactly: whole) {
        let isExact = whole / Double(scale) == seconds
        self.init(numeric: value, scale, isExact ? .valid : [.valid, .hasBeenRounded], 0)
        return
      }
      scale /= 2
    }
    self = seconds < 0 ? .negativeInfinity : .positiveInfinity
  }

  /// The time in seconds, rounded to a `Double`; NaN when invalid or indefinite, ±infinity when infinite.
  public var seconds: Double {
    if isNumeric { return Double(value) / Double(timescale) }
    if isPositiveInfinity { return .infinity }
    return isNegativeInfinity ? -.infinity : .nan
  }

  /// The time nearest to a number of seconds, in nanoseconds: `.seconds(0.5)`. It is flagged as rounded unless it
  /// converts back to the same number. NaN gives `.invalid`, and infinity an infinite time. Above 292 years the
  /// timescale is lower, as for ``init(seconds:preferredTimescale:)``.
  public static func seconds(_ seconds: Double) -> MediaTime {
    guard !seconds.isNaN else { return .invalid }
    guard let value = Int64(exactly: (seconds * 1e9).rounded()) else {
      return MediaTime(seconds: seconds, preferredTimescale: 1_000_000_000)
    }
    let isExact = Double(value) / 1e9 == seconds
    return MediaTime(numeric: value, 1_000_000_000, isExact ? .valid : [.valid, .hasBeenRounded], 0)
  }

  /// A whole number of seconds, exact.
  public static func seconds(_ seconds: Int) -> MediaTime { MediaTime(value: Int64(seconds), timescale: 1) }

  /// A whole number of milliseconds, exact.
  public static func milliseconds(_ milliseconds: Int) -> MediaTime {
    MediaTime(value: Int64(milliseconds), timescale: 1_000)
  }

  // MARK: - Duration

  /// The time nearest to a duration of the standard library.
  ///
  /// Exact for whole nanoseconds up to 292 years. Otherwise the shortest exact fraction of a second, or if its
  /// denominator is above 2^31 - 1, rounded and flagged.
  public init(_ duration: Duration) {
    self.init(
      shortest: ExactRational(duration.attoseconds, over: 1_000_000_000_000_000_000), preferring: 1_000_000_000)
  }

  // MARK: - Audio frames

  /// The start of audio frame `frame` at `rate` frames per second.
  ///
  /// Exact for every rate up to 2^31 - 1, and for higher rates if the reduced fraction fits. Otherwise rounded and
  /// flagged. A rate that is not above zero gives `.invalid`.
  public init(frame: Int64, rate: Int) {
    if rate <= 0 {
      self = .invalid
    } else if let timescale = Int32(exactly: rate) {
      self.init(numeric: frame, timescale, .valid, 0)
    } else {
      self.init(
        shortest: ExactRational(isNegative: frame < 0, product: [frame.magnitude], over: [UInt64(rate)]))
    }
  }

  /// The frame at this time in audio of `rate` frames per second, counted from time zero.
  ///
  /// Nil when this time is not numeric, when the rate is not above zero, or when the result does not fit in an
  /// `Int64`.
  public func frameIndex(rate: Int, rounding method: RoundingMethod) -> Int64? {
    guard isNumeric, rate > 0 else { return nil }
    if rate == Int(timescale) { return value }
    return units(per: UInt64(rate), rounding: method)?.value
  }
}

extension Duration {
  /// The duration nearest to a time: attoseconds, halves away from zero. Nil unless the time is numeric.
  public init?(_ time: MediaTime) {
    guard time.isNumeric else { return nil }
    // At most 2^63 seconds: fits in Int128.
    let attoseconds = Int128(time.value) * 1_000_000_000_000_000_000
    let (quotient, rest) = attoseconds.quotientAndRemainder(dividingBy: Int128(time.timescale))
    let isHalfOrMore = 2 * rest.magnitude >= UInt128(time.timescale)
    self.init(attoseconds: quotient + (isHalfOrMore ? attoseconds.signum() : 0))
  }
}
