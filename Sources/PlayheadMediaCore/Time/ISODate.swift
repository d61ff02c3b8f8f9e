/// Dates in ISO 8601 format: `2026-11-22T09:30:00.250+01:00`. The value is in nanoseconds since 1970-01-01T00:00:00Z,
/// without leap seconds.
package enum ISODate {
  /// Parses a date of the years 1900 to 2100, so that differences of dates fit in an `Int64` of nanoseconds. The time
  /// of day is optional. A missing time zone means UTC. Nil for any other text.
  package static func parse(_ text: some StringProtocol) -> Int64? {
    var rest = Array(text.utf8)[...]
    guard let year = readNumber(4, &rest), skip("-", &rest), let month = readNumber(2, &rest), skip("-", &rest),
      let day = readNumber(2, &rest), (1...12).contains(month), (1...days(in: month, year)).contains(day),
      (1900...2100).contains(year)
    else { return nil }
    let dayNumber = dayNumber(year, month, day)
    if rest.isEmpty { return dayNumber * 86_400_000_000_000 }
    guard skip("T", &rest) || skip("t", &rest) || skip(" ", &rest), let hour = readNumber(2, &rest), hour < 24,
      skip(":", &rest),
      let minute = readNumber(2, &rest), minute < 60
    else { return nil }
    var second: Int64 = 0
    var fraction: Int64 = 0
    if skip(":", &rest) {
      guard let value = readNumber(2, &rest), value <= 60 else { return nil }
      second = value
      if skip(".", &rest) || skip(",", &rest) {
        let digits = rest.prefix { (48...57).contains($0) }
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        let decimals = Array(digits.prefix(9))
        for index in 0..<9 { fraction = fraction * 10 + (index < decimals.count ? Int64(decimals[index]) - 48 : 0) }
        rest = rest[digits.endIndex...]
      }
    }
    guard let zone = zoneMinutes(&rest), rest.isEmpty else { return nil }
    let minutes = dayNumber * 1_440 + hour * 60 + minute - zone
    return (minutes * 60 + second) * 1_000_000_000 + fraction
  }

  /// The ISO 8601 text of a date, in UTC, with 3, 6 or 9 decimals as necessary.
  package static func text(_ nanoseconds: Int64) -> String {
    let seconds = floorDivide(nanoseconds, 1_000_000_000)
    let fraction = nanoseconds - seconds * 1_000_000_000
    let day = floorDivide(seconds, 86_400)
    let time = seconds - day * 86_400
    let (year, month, dayOfMonth) = calendarDate(day)
    var decimals = padded(fraction, 9)
    while decimals.count > 3, decimals.hasSuffix("000") { decimals.removeLast(3) }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T\(padded(time / 3_600, 2)):"
      + "\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2)).\(decimals)Z"
  }

  private static func zoneMinutes(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if rest.isEmpty || skip("Z", &rest) || skip("z", &rest) { return 0 }
    let isWest = skip("-", &rest)
    guard isWest || skip("+", &rest), let hours = readNumber(2, &rest), hours < 24 else { return nil }
    let minutes = skip(":", &rest) || !rest.isEmpty ? readNumber(2, &rest) : 0
    guard let minutes, minutes < 60 else { return nil }
    return isWest ? -(hours * 60 + minutes) : hours * 60 + minutes
  }

  private static func readNumber(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, let value = number(digits) else { return nil }
    rest = rest.dropFirst(count)
    return value
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    digits.allSatisfy { (48...57).contains($0) } ? digits.reduce(0) { $0 * 10 + Int64($1) - 48 } : nil
  }

  private static func skip(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.first == UInt8(truncatingIfNeeded: character.value) else { return false }
    rest = rest.dropFirst()
    return true
  }

  private static func padded(_ value: Int64, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  /// The quotient, rounded down.
  static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
    value >= 0 ? value / by : -((-value + by - 1) / by)
  }

  /// The number of days of a month.
  static func days(in month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01 in the Gregorian calendar. Years begin in March (Hinnant, chrono-compatible low-level date
  /// algorithms).
  static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = floorDivide(shifted, 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a number of days since 1970-01-01.
  static func calendarDate(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = dayNumber + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }
}
