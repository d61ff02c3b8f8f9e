/// A rational time, as CMTime: `value / timescale` seconds, or one of four special values.
///
/// A value of this type is always in one of two forms: *numeric* (flags `.valid`, perhaps `.hasBeenRounded`;
/// `timescale` above zero), or one of `.invalid`, `.indefinite`, `.positiveInfinity` and `.negativeInfinity`, whose
/// other fields are zero. The initializer sees to it, so no operation can meet a timescale of zero. All operations are
/// total: none traps, whatever the fields are.
///
/// Equality, hashing and order go by the instant, not by how it is written: 1/2 equals 2/4, and whether a value has
/// been rounded does not matter.
public struct MediaTime: Sendable {
  /// What kind of time this is; the bits are CMTimeFlags'.
  public struct Flags: OptionSet, Sendable, Hashable {
    /// CMTimeFlags' bits.
    public var rawValue: UInt32

    /// The flags that these bits stand for; unknown bits are kept.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Set on everything but `.invalid`.
    public static let valid = Flags(rawValue: 1)
    /// Some operation on the way here could not give the exact result.
    public static let hasBeenRounded = Flags(rawValue: 2)
    /// After every other time that is valid.
    public static let positiveInfinity = Flags(rawValue: 4)
    /// Before every other time.
    public static let negativeInfinity = Flags(rawValue: 8)
    /// A time that exists but is not known, such as a live stream's duration.
    public static let indefinite = Flags(rawValue: 16)
    /// The three flags under which `value` and `timescale` mean nothing.
    public static let impliedValueFlagsMask: Flags = [.positiveInfinity, .negativeInfinity, .indefinite]
  }

  /// Units of `1 / timescale` seconds.
  public let value: Int64
  /// Units in a second; 0 on special values.
  public let timescale: Int32
  /// What kind of time this is.
  public let flags: Flags
  /// Which pass of a timeline this is; 0 also for every duration. Times of different epochs can be ordered, not
  /// subtracted.
  public let epoch: Int64

  /// The largest timescale there is: 2^31 - 1.
  public static let maxTimescale: Int32 = .max

  /// 0/1.
  public static let zero = MediaTime(value: 0, timescale: 1)
  /// Not a time. Equals itself and comes after everything else.
  public static let invalid = MediaTime(special: [])
  /// A time that is not known.
  public static let indefinite = MediaTime(special: [.valid, .indefinite])
  /// After every other valid time.
  public static let positiveInfinity = MediaTime(special: [.valid, .positiveInfinity])
  /// Before every other time.
  public static let negativeInfinity = MediaTime(special: [.valid, .negativeInfinity])

  /// A time from its parts. Invalid when `flags` lacks `.valid`, or when the timescale is not above zero and no flag
  /// implies the value; where a flag does imply it, the other arguments do not matter.
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

  /// Whether this is anything but `.invalid`.
  public var isValid: Bool { flags.contains(.valid) }
  /// Whether this is a number of seconds: neither invalid, infinite nor indefinite.
  public var isNumeric: Bool { timescale > 0 }
  /// Whether this is a time that is not known.
  public var isIndefinite: Bool { flags.contains(.indefinite) }
  /// Whether this is +infinity.
  public var isPositiveInfinity: Bool { flags.contains(.positiveInfinity) }
  /// Whether this is -infinity.
  public var isNegativeInfinity: Bool { flags.contains(.negativeInfinity) }
  /// Whether this is infinite, either way.
  public var isInfinite: Bool { !flags.isDisjoint(with: [.positiveInfinity, .negativeInfinity]) }
  /// Whether this is a number that some operation had to round.
  public var hasBeenRounded: Bool { flags.contains(.hasBeenRounded) }

  // MARK: - Internals

  /// A special value.
  init(special flags: Flags) {
    (value, timescale, epoch) = (0, 0, 0)
    self.flags = flags
  }

  /// A number; the caller knows that the timescale is above zero and the flags are `.valid` with or without
  /// `.hasBeenRounded`.
  init(numeric value: Int64, _ timescale: Int32, _ flags: Flags, _ epoch: Int64) {
    self.value = value
    self.timescale = timescale
    self.flags = flags
    self.epoch = epoch
  }

  /// `exact` at `timescale`; while its value overflows, at half that timescale (CMTimeAdd's rule); infinite when it
  /// overflows at 1 too.
  ///
  /// Every rounding is made from the exact number, half away from zero, and flagged.
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

  /// `exact` at the timescale `preferred` if that says it exactly, else at its own denominator in lowest terms, else at
  /// the largest timescale; halved, rounded and flagged as in `init(nearest:)`.
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
  /// Value, timescale, flags and epoch, in this order; what makes no sense becomes `.invalid`.
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
