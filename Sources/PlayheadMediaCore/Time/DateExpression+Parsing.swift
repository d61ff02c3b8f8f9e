extension DateExpression {
  /// Parses `text`.
  ///
  /// - Throws: `invalidTime`. The message states the part that is invalid.
  public init(parsing text: some StringProtocol) throws(MediaError) { try self.init(bytes: Array(text.utf8)[...]) }

  /// Parses bytes.
  ///
  /// - Throws: `invalidTime`, as `init(parsing:)`.
  package init(bytes: ArraySlice<UInt8>) throws(MediaError) {
    var reader = DateReader(rest: bytes)
    do throws(DateReader.Fault) { form = try reader.form() } catch {
      let text = String(decoding: bytes.prefix(40), as: UTF8.self) + (bytes.count > 40 ? "..." : "")
      throw MediaError(.invalidTime, "invalid date \"\(text)\": \(error.reason)")
    }
  }
}

/// Reads the parts of a date from a text.
private struct DateReader {
  /// A part that is invalid.
  struct Fault: Error {
    let reason: String
  }

  var rest: ArraySlice<UInt8>

  /// Reads the whole text.
  mutating func form() throws(Fault) -> DateExpression.Form {
    let firstNumber = rest.prefix(while: isDigit)
    guard rest.dropFirst(firstNumber.count).first == UInt8(ascii: "-") else {
      let nanoseconds = try timeOfDay()
      guard rest.isEmpty else {
        throw Fault(reason: "only a full date may have an offset or other parts after the time")
      }
      return .timeOfDay(nanoseconds)
    }
    let day = try dayNumber()
    guard skip("T") else {
      throw Fault(reason: "a T and a time of day must follow the date, such as 2026-12-24T18:00")
    }
    let nanoseconds = try timeOfDay()
    let local = WallTime(nanosecondsSince1970: day * DateExpression.day + nanoseconds)
    guard !rest.isEmpty else { return .local(local) }
    let offset = try offsetSeconds()
    guard rest.isEmpty else { throw Fault(reason: "nothing may follow the offset") }
    return .instant(local.advanced(byNanoseconds: -offset * DateExpression.second))
  }

  /// Reads a date. Returns the days since 1970-01-01.
  private mutating func dayNumber() throws(Fault) -> Int64 {
    let year = try number("year", digitCount: 4, 1970...2200)
    try expect("-", "a hyphen must follow the year")
    let month = try number("month", 1...12)
    try expect("-", "a hyphen and the day must follow the month")
    let day = try number("day", 1...ISODate.days(in: month, year))
    return ISODate.dayNumber(year, month, day)
  }

  /// Reads a time of day. Returns the nanoseconds since 00:00.
  private mutating func timeOfDay() throws(Fault) -> Int64 {
    let hour = try number("hour", 0...23)
    try expect(":", "a colon and the minute must follow the hour")
    let minute = try number("minute", 0...59)
    var nanoseconds = (hour * 60 + minute) * 60 * DateExpression.second
    guard skip(":") else { return nanoseconds }
    nanoseconds += try number("second", 0...59) * DateExpression.second
    guard skip(".") else { return nanoseconds }
    let decimals = rest.prefix(while: isDigit)
    guard (1...9).contains(decimals.count) else {
      throw Fault(reason: "a second has 1 to 9 decimals (got \(decimals.count))")
    }
    rest = rest[decimals.endIndex...]
    return nanoseconds
      + (0..<9).reduce(0) { value, index in
        value * 10 + (index < decimals.count ? Int64(decimals[decimals.startIndex + index]) - 48 : 0)
      }
  }

  /// Reads an offset from UTC, in seconds.
  private mutating func offsetSeconds() throws(Fault) -> Int64 {
    if skip("Z") { return 0 }
    let isWest = skip("-")
    guard isWest || skip("+") else { throw Fault(reason: "only Z or an offset such as +01:00 may follow the time") }
    let hours = try number("hour of the offset", 0...14)
    try expect(":", "a colon and the minutes must follow the hours of the offset")
    let seconds = try (hours * 60 + number("minute of the offset", 0...59)) * 60
    guard seconds <= (isWest ? 12 : 14) * 3_600 else {
      throw Fault(reason: "the offset must be between -12:00 and +14:00")
    }
    return isWest ? -seconds : seconds
  }

  /// Reads a number of exactly `digitCount` digits in a range.
  private mutating func number(
    _ name: String, digitCount: Int = 2, _ range: ClosedRange<Int64>
  ) throws(Fault) -> Int64 {
    let digits = rest.prefix(while: isDigit)
    guard digits.count == digitCount else {
      throw Fault(reason: "the \(name) must have \(digitCount) digits (got \(digits.count))")
    }
    let value = digits.reduce(0) { $0 * 10 + Int64($1) - 48 }
    guard range.contains(value) else {
      throw Fault(
        reason: "the \(name) must be between \(padded(range.lowerBound)) and \(padded(range.upperBound))"
          + " (got \(String(decoding: digits, as: UTF8.self)))")
    }
    rest = rest[digits.endIndex...]
    return value
  }

  private func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar, _ reason: String) throws(Fault) {
    guard skip(character) else { throw Fault(reason: reason) }
  }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
