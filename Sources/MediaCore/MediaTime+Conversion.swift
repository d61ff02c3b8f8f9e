/// Rounding, other timescales, seconds and audio frames.
extension MediaTime {
  /// How a time that does not fit a timescale becomes one that does. The raw values are CMTimeRoundingMethod's.
  public enum RoundingMethod: UInt32, Sendable, Hashable, CaseIterable {
    /// To the nearest; halves away from zero. The default everywhere.
    case halfAwayFromZero = 1
    /// To the neighbour nearer to zero: cut off.
    case towardZero = 2
    /// To the neighbour farther from zero.
    case awayFromZero = 3
    /// Toward zero when the timescale shrinks, away from zero when it grows; and what is below zero never becomes 0 but
    /// `-1/timescale`.
    case quickTime = 4
    /// To the greater neighbour.
    case towardPositiveInfinity = 5
    /// To the smaller neighbour.
    case towardNegativeInfinity = 6

    /// Whether a number between two grid points goes to the one of larger magnitude. `.quickTime` must have been
    /// resolved.
    func roundsUp(isNegative: Bool, isHalfOrMore: Bool) -> Bool {
      switch self {
      case .halfAwayFromZero: isHalfOrMore
      case .towardZero, .quickTime: false
      case .awayFromZero: true
      case .towardPositiveInfinity: !isNegative
      case .towardNegativeInfinity: isNegative
      }
    }

    /// The method that `.quickTime` stands for between two scales; any other method is itself.
    func resolved(from oldScale: UInt64, to newScale: UInt64) -> RoundingMethod {
      guard self == .quickTime else { return self }
      return newScale < oldScale ? .towardZero : .awayFromZero
    }
  }

  /// This time in another timescale, as CMTimeConvertScale.
  ///
  /// Rounded as `method` says, and then flagged. A value that overflows `Int64` becomes infinite. A special value is
  /// returned as it is; a timescale that is not above zero gives `.invalid`.
  public func convertScale(_ newTimescale: Int32, method: RoundingMethod = .halfAwayFromZero) -> MediaTime {
    guard newTimescale > 0 else { return .invalid }
    guard isNumeric, newTimescale != timescale else { return self }
    guard let (newValue, isExact) = units(per: UInt64(newTimescale), rounding: method) else {
      return value < 0 ? .negativeInfinity : .positiveInfinity
    }
    return MediaTime(numeric: newValue, newTimescale, isExact ? flags : flags.union(.hasBeenRounded), epoch)
  }

  /// This number times `scale`, rounded; nil when that is no `Int64`. Only for numeric times.
  private func units(per scale: UInt64, rounding method: RoundingMethod) -> (value: Int64, isExact: Bool)? {
    let oldScale = UInt64(timescale)
    let exact = ExactRational(Int128(value), over: UInt128(oldScale))
    guard let (newValue, isExact) = exact.scaled(to: scale, rounding: method.resolved(from: oldScale, to: scale)) else {
      return nil
    }
    return (method == .quickTime && newValue == 0 && value < 0 ? -1 : newValue, isExact)
  }

  // MARK: - Seconds

  /// The time nearest to zero from `seconds` at `preferredTimescale`, as CMTimeMakeWithSeconds.
  ///
  /// The product of the two is formed in `Double` and cut off at its point; the result is flagged as rounded unless it
  /// reads back as the same `seconds`. While the value overflows, the timescale is halved; what overflows at 1 too is
  /// infinite. A timescale that is not above zero gives `.invalid`; NaN gives zero, flagged as rounded: ask `isNaN`
  /// before where that matters.
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

  /// Seconds, as near as a `Double` is; NaN when invalid or indefinite, ±infinity when infinite.
  public var seconds: Double {
    if isNumeric { return Double(value) / Double(timescale) }
    if isPositiveInfinity { return .infinity }
    return isNegativeInfinity ? -.infinity : .nan
  }

  // MARK: - Audio frames

  /// Where frame `frame` of sound begins at `rate` frames per second.
  ///
  /// Exact for every rate up to 2^31 - 1, and beyond where the fraction reduces to one; else rounded and flagged. A
  /// rate that is not above zero gives `.invalid`.
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

  /// The frame at this time in sound of `rate` frames per second, counted from time zero.
  ///
  /// Nil when this is not numeric, when the rate is not above zero, or when the number is no `Int64`.
  public func frameIndex(rate: Int, rounding method: RoundingMethod) -> Int64? {
    guard isNumeric, rate > 0 else { return nil }
    if rate == Int(timescale) { return value }
    return units(per: UInt64(rate), rounding: method)?.value
  }
}
