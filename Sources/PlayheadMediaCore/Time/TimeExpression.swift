/// The text form of a time in commands (docs/protocol/concepts.md, *Times*).
///
/// <!-- listing: parse-times -->
/// ```swift
/// let position = try TimeExpression(parsing: "1m30s")
/// let time = try position.resolve(current: .zero, duration: duration)
/// ```
///
/// | Text | Meaning |
/// |---|---|
/// | `83.5` `1e-3` | seconds; a decimal number as in JSON, without a sign |
/// | `250ms` `0.5ms` | milliseconds |
/// | `90s` `1m30s` `1h` `1h2m3.5s` | hours, minutes and seconds; only the largest unit may exceed 59 |
/// | `1:23.5` `90:00` | minutes and seconds; the minutes may be any number |
/// | `1:02:03.25` | hours, minutes and seconds; one or two digits below 60 follow each colon |
/// | `441000/44100` | a fraction of a second in whole numbers |
/// | `+5` `-1:30` `+250ms` | any of the above with a sign: relative to the current position |
/// | `50%` `12.5%` | a percentage of the duration, from 0 to 100 |
/// | `end` `live` | the duration |
///
/// Spaces and other words are not permitted. Values are exact, or rounded and flagged as in
/// ``MediaTime/init(decimal:)``.
public enum TimeExpression: Sendable, Hashable {
  /// A position on the item's timeline; never negative.
  case absolute(MediaTime)
  /// A distance from the current position; negative for backward.
  case relative(MediaTime)
  /// A part of the duration from 0 to 1, in lowest terms: `12.5%` is 1/8.
  case percent(numerator: Int64, denominator: Int64)
  /// The end of the item.
  case end

  /// Parses `text`.
  ///
  /// - Throws: `.invalidTime` for text of any other form, and for numbers that no ``MediaTime`` represents.
  public init(parsing text: some StringProtocol) throws(MediaError) {
    guard let expression = Self(bytes: Array(text.utf8)[...]) else {
      let shown = text.count > 40 ? "\(text.prefix(40))..." : String(text)
      let reason = Self.fault(of: Array(text.utf8)[...]).map { " (\($0))" } ?? ""
      throw MediaError(
        .invalidTime,
        "invalid time \"\(shown)\"\(reason): "
          + "use a form like 83.5, 250ms, 1m30s, 1:23.5, 441000/44100, +5, -5, 50%, end or live")
    }
    self = expression
  }

  /// Parses bytes. Nil where `init(parsing:)` throws.
  public init?(bytes: ArraySlice<UInt8>) {
    guard let expression = Self.parse(bytes) else { return nil }
    self = expression
  }

  /// The rule that a text of digits and colons breaks. Nil for a valid time and for text of any other form, whose fault
  /// the list of accepted forms explains.
  public static func fault(of text: ArraySlice<UInt8>) -> String? {
    let clock = text.first.map { "+-".utf8.contains($0) } == true ? text.dropFirst() : text
    let whole = clock.prefix { $0 != UInt8(ascii: ".") }
    guard self.init(bytes: text) == nil, whole.contains(UInt8(ascii: ":")),
      clock.allSatisfy({ ":.".utf8.contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    let fields = whole.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    if fields.count > 3 { return "at most hours, minutes and seconds are possible" }
    if fields.contains(where: \.isEmpty) { return "digits are necessary before and after each colon" }
    if fields.dropFirst().contains(where: { $0.count > 2 }) { return "at most two digits may follow a colon" }
    if fields.dropFirst().contains(where: { (wholeNumber($0) ?? 0) > 59 }) {
      return "minutes and seconds after a colon are at most 59"
    }
    return nil
  }

  /// Resolves the expression to a position in an item of length `duration`, while playback is at `current`.
  ///
  /// A relative time is added without limits, so the result may be before zero or after the end. The caller handles
  /// such results.
  /// - Throws: `.invalidTime` for a relative time if the position is not numeric, for `percent` and `end` if the
  ///   duration is not numeric, and if the result is too large.
  public func resolve(current: MediaTime, duration: MediaTime) throws(MediaError) -> MediaTime {
    let result: MediaTime
    switch self {
    case .absolute(let time):
      result = time
    case .relative(let distance):
      guard current.isNumeric else {
        throw MediaError(.invalidTime, "a relative time needs a current position")
      }
      result = current + distance
    case .percent(let numerator, let denominator):
      result = try Self.requireKnown(duration).part(numerator, of: denominator)
    case .end:
      result = try Self.requireKnown(duration)
    }
    guard result.isNumeric else { throw MediaError(.invalidTime, "the time is out of range") }
    return result
  }

  // MARK: - Internals

  private static func requireKnown(_ duration: MediaTime) throws(MediaError) -> MediaTime {
    guard duration.isNumeric else {
      throw MediaError(.invalidTime, "the duration is unknown, so a percentage or the end cannot be resolved")
    }
    return duration
  }

  private static func parse(_ text: ArraySlice<UInt8>) -> TimeExpression? {
    if text.elementsEqual("end".utf8) || text.elementsEqual("live".utf8) { return .end }
    switch text.first {
    case UInt8(ascii: "+"): return time(text.dropFirst()).map { .relative($0) }
    case UInt8(ascii: "-"): return time(text.dropFirst()).map { .relative(-$0) }
    default: break
    }
    if text.last == UInt8(ascii: "%") { return percent(text.dropLast()) }
    return time(text).map { .absolute($0) }
  }

  /// Parses a time without a sign, in any unit.
  private static func time(_ text: ArraySlice<UInt8>) -> MediaTime? {
    if text.contains(UInt8(ascii: "/")) { return MediaTime(fraction: text, allowsSign: false) }
    if text.contains(UInt8(ascii: ":")) { return clock(text) }
    let isInMilliseconds = text.suffix(2).elementsEqual("ms".utf8)
    if let unit = text.last, !isInMilliseconds, "hms".utf8.contains(unit) { return units(text) }
    let number = isInMilliseconds ? text.dropLast(2) : text
    return DecimalNumber(number, allowsSign: false, allowsExponent: true)?.time(shift: isInMilliseconds ? -3 : 0)
  }

  /// Parses hours, minutes and seconds with units, in this order.
  private static func units(_ text: ArraySlice<UInt8>) -> MediaTime? {
    var (total, rest, isFirst) = (UInt64(0), text, true)
    for (unit, seconds) in [(UInt8(ascii: "h"), UInt64(3_600)), (UInt8(ascii: "m"), 60)] {
      guard let end = rest.firstIndex(of: unit) else { continue }
      guard let number = wholeNumber(rest[..<end]), isFirst || number < 60 else { return nil }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: seconds)
      let (sum, overflows) = total.addingReportingOverflow(product)
      if isTooLarge || overflows { return nil }
      (total, rest, isFirst) = (sum, rest[(end + 1)...], false)
    }
    if rest.isEmpty { return DecimalNumber(whole: total, fraction: [])?.time() }
    guard rest.last == UInt8(ascii: "s") else { return nil }
    rest = rest.dropLast()
    let point = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
    guard let seconds = wholeNumber(rest[..<point]), isFirst || seconds < 60 else { return nil }
    let (sum, overflows) = total.addingReportingOverflow(seconds)
    return overflows ? nil : DecimalNumber(whole: sum, fraction: rest[point...])?.time()
  }

  /// Parses `minutes:seconds` or `hours:minutes:seconds`; the seconds may have decimals.
  private static func clock(_ text: ArraySlice<UInt8>) -> MediaTime? {
    let point = text.firstIndex(of: UInt8(ascii: ".")) ?? text.endIndex
    var (total, fieldCount, start) = (UInt64(0), 0, text.startIndex)
    while true {
      let end = text[start..<point].firstIndex(of: UInt8(ascii: ":")) ?? point
      guard let number = wholeNumber(text[start..<end]) else { return nil }
      fieldCount += 1
      // One or two digits follow each colon.
      guard fieldCount == 1 || (fieldCount <= 3 && end - start <= 2 && number < 60) else { return nil }
      let (product, isTooLarge) = total.multipliedReportingOverflow(by: 60)
      let (sum, overflows) = product.addingReportingOverflow(number)
      if isTooLarge || overflows { return nil }
      total = sum
      if end == point { break }
      start = end + 1
    }
    guard fieldCount >= 2 else { return nil }
    return DecimalNumber(whole: total, fraction: text[point...])?.time()
  }

  private static func percent(_ text: ArraySlice<UInt8>) -> TimeExpression? {
    // The limit applies to the text, not to the rounded value.
    let point = text.firstIndex(of: UInt8(ascii: ".")) ?? text.endIndex
    let isWhole = text[point...].dropFirst().allSatisfy { $0 == UInt8(ascii: "0") }
    guard let whole = wholeNumber(text[..<point]), whole < 100 || (whole == 100 && isWhole),
      let part = DecimalNumber(text, allowsSign: false, allowsExponent: false)?.time(shift: -2)
    else { return nil }
    let divisor = Int64(greatestCommonDivisor(part.value.magnitude, UInt64(part.timescale)))
    return .percent(numerator: part.value / divisor, denominator: Int64(part.timescale) / divisor)
  }
}

extension MediaTime {
  /// This number times `numerator / denominator`: in its own timescale if the result is exact there, otherwise in
  /// another timescale, if necessary rounded and flagged. The numerator must not be negative; the denominator must be
  /// above zero.
  fileprivate func part(_ numerator: Int64, of denominator: Int64) -> MediaTime {
    guard denominator > 0, numerator >= 0 else { return .invalid }
    let exact = ExactRational(
      isNegative: value < 0, product: [value.magnitude, numerator.magnitude],
      over: [UInt64(timescale), denominator.magnitude])
    return MediaTime(shortest: exact, preferring: timescale, flags: flags, epoch: epoch)
  }
}
