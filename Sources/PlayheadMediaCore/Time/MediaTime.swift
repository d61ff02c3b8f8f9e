/// A rational time, as CMTime: `value / timescale` seconds, or one of four special values.
///
/// <!-- listing: make-times -->
/// ```swift
/// let half = MediaTime(value: 1, timescale: 2)
/// let frame = MediaTime(frame: 3_682_350, rate: 44_100)
/// let quick: [MediaTime] = [.zero, .seconds(90), .seconds(0.5), .milliseconds(40)]
/// let duration = Duration(half + frame)
/// ```
///
/// A value is always in one of two forms:
/// - *numeric*: flags `.valid`, optionally `.hasBeenRounded`; `timescale` above zero.
/// - special: `.invalid`, `.indefinite`, `.positiveInfinity` or `.negativeInfinity`; all other fields are zero.
///
/// The initializers guarantee this, so the timescale of a numeric time is never zero. No operation traps, whatever its
/// operands are.
///
/// Equality, hashing and order compare the instants, not their representation: 1/2 equals 2/4. Rounding flags are
/// ignored.
public struct MediaTime: Sendable {
  /// The kind of a time. The bits are those of CMTimeFlags.
  public struct Flags: OptionSet, Sendable, Hashable {
    /// The bits of CMTimeFlags.
    public var rawValue: UInt32

    /// Creates flags from bits. Unknown bits are preserved.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Set on all times except `.invalid`.
    public static let valid = Flags(rawValue: 1)
    /// Set when an operation that contributed to this value had to round its result.
    public static let hasBeenRounded = Flags(rawValue: 2)
    /// Later than every other valid time.
    public static let positiveInfinity = Flags(rawValue: 4)
    /// Earlier than every other time.
    public static let negativeInfinity = Flags(rawValue: 8)
    /// A time that exists but is not known, such as a live stream's duration.
    public static let indefinite = Flags(rawValue: 16)
    /// The three flags that make `value` and `timescale` meaningless.
    public static let impliedValueFlagsMask: Flags = [.positiveInfinity, .negativeInfinity, .indefinite]
  }

  /// The time in units of `1 / timescale` seconds.
  public let value: Int64
  /// The number of units in a second; 0 for special values.
  public let timescale: Int32
  /// The kind of this time.
  public let flags: Flags
  /// The number of a pass over a timeline; 0 also for every duration. Times of different epochs can be ordered, but
  /// not subtracted.
  public let epoch: Int64

  /// The largest possible timescale: 2^31 - 1.
  public static let maxTimescale: Int32 = .max

  /// 0/1.
  public static let zero = MediaTime(value: 0, timescale: 1)
  /// Not a time. Equal to itself and ordered after all other values.
  public static let invalid = MediaTime(special: [])
  /// A time that is not known.
  public static let indefinite = MediaTime(special: [.valid, .indefinite])
  /// Later than every other valid time.
  public static let positiveInfinity = MediaTime(special: [.valid, .positiveInfinity])
  /// Earlier than every other time.
  public static let negativeInfinity = MediaTime(special: [.valid, .negativeInfinity])

  /// Creates a time from its parts. The result is invalid when `flags` lacks `.valid`, or when the timescale of a
  /// numeric time is not above zero. With a flag of a special value, the other arguments are ignored.
  public init(value: Int64, timescale: Int32, flags: Flags = .valid, epoch: Int64 = 0) {
    if !flags.contains(.valid) {
      self.init(special: [])
    } else if flags.contains(.positiveInfinity) {
      self.init(special: [.valid, .positiveInfinity])
    } else if flags.contains(.negativeInfinity) {
      self.init(special: [.valid, .negativeInfinity])
    } else if flags.contains(.indefinite) {
      self.init(special: [.valid, .indefinite])
    } else if timescale <= 0 {
      self.init(special: [])
    } else {
      self.init(numeric: value, timescale, flags.intersection([.valid, .hasBeenRounded]), epoch)
    }
  }

  // MARK: - Predicates

  /// Whether this is any time except `.invalid`.
  public var isValid: Bool { flags.contains(.valid) }
  /// Whether this is a number of seconds: neither invalid, infinite nor indefinite.
  public var isNumeric: Bool { timescale > 0 }
  /// Whether this is `.indefinite`, a time that is not known.
  public var isIndefinite: Bool { flags.contains(.indefinite) }
  /// Whether this is +infinity.
  public var isPositiveInfinity: Bool { flags.contains(.positiveInfinity) }
  /// Whether this is -infinity.
  public var isNegativeInfinity: Bool { flags.contains(.negativeInfinity) }
  /// Whether this is +infinity or -infinity.
  public var isInfinite: Bool { !flags.isDisjoint(with: [.positiveInfinity, .negativeInfinity]) }
  /// Whether this is a number that an operation had to round.
  public var hasBeenRounded: Bool { flags.contains(.hasBeenRounded) }

  // MARK: - Internals

  /// Creates a special value.
  init(special flags: Flags) {
    (value, timescale, epoch) = (0, 0, 0)
    self.flags = flags
  }

  /// Creates a number. The caller guarantees a timescale above zero, and the flag `.valid` with or without
  /// `.hasBeenRounded`.
  init(numeric value: Int64, _ timescale: Int32, _ flags: Flags, _ epoch: Int64) {
    self.value = value
    self.timescale = timescale
    self.flags = flags
    self.epoch = epoch
  }

  /// Creates the time nearest to `exact` at `timescale`. The timescale is halved while the value overflows
  /// (CMTimeAdd's rule). The result is infinite when the value overflows at timescale 1 too.
  ///
  /// Each attempt rounds the exact number, half away from zero, and flags the result.
  init(nearest exact: ExactRational, timescale: Int32, flags: Flags = .valid, epoch: Int64 = 0) {
    var scale = timescale
    while scale > 0 {
      if let (value, isExact) = exact.scaled(to: UInt64(scale), rounding: .halfAwayFromZero) {
        self.init(numeric: value, scale, isExact ? flags : flags.union(.hasBeenRounded), epoch)
        return
      }
      scale /= 2
    }
    self = exact.isNegative ? .negativeInfinity : .positiveInfinity
  }

  /// Creates a time from `exact`. The timescale is `preferred` if the time is exact there, otherwise the denominator in
  /// lowest terms, or the largest timescale if that denominator is too large. The timescale is halved, and the value is
  /// rounded and flagged, as by `init(nearest:)`.
  init(shortest exact: ExactRational, preferring preferred: Int32? = nil, flags: Flags = .valid, epoch: Int64 = 0) {
    let denominator = exact.reducedDenominator
    if let preferred, UInt128(preferred.magnitude) % denominator == 0 {
      self.init(nearest: exact, timescale: preferred, flags: flags, epoch: epoch)
    } else {
      let timescale = Int32(exactly: denominator) ?? Self.maxTimescale
      self.init(nearest: exact, timescale: timescale, flags: flags, epoch: epoch)
    }
  }
}

extension MediaTime: Codable {
  /// Decodes value, timescale, flags and epoch, in this order. Inconsistent fields decode as `.invalid`.
  public init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    let value = try values.decode(Int64.self)
    let timescale = try values.decode(Int32.self)
    let flags = Flags(rawValue: try values.decode(UInt32.self))
    self.init(value: value, timescale: timescale, flags: flags, epoch: try values.decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(value)
    try values.encode(timescale)
    try values.encode(flags.rawValue)
    try values.encode(epoch)
  }
}
