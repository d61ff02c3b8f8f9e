/// The text form of a date in commands (docs/protocol/concepts.md, *Dates*).
///
/// <!-- listing: parse-dates -->
/// ```swift
/// let evening = try DateExpression(parsing: "18:00")
/// let christmas = try DateExpression(parsing: "2026-12-24T18:00:00+01:00")
/// ```
///
/// | Text | Meaning |
/// |---|---|
/// | `2026-12-24T18:00:00Z` `2026-12-24T18:00:00+01:00` | a date with its offset from UTC (RFC 3339) |
/// | `2026-12-24T18:00:00` | a date in local time |
/// | `18:00:00` | the next such time of day, in local time |
///
/// The seconds are optional and may have up to nine decimals: `18:00`, `18:00:30.5`. Every other part has exactly the
/// digits shown. Years are from 1970 to 2200, and offsets from -12:00 to +14:00. `24:00` and leap seconds (`23:59:60`)
/// are not accepted.
///
/// A local time may occur twice or not at all when the offset from UTC changes, as it does for daylight saving time. Of
/// two occurrences, the next one counts. A local time that is skipped is read with the offset before the change (RFC
/// 5545, 3.3.5): if the clock moves from 02:00 to 03:00, `02:30` is 03:30.
public struct DateExpression: Sendable, Hashable {
  /// The kinds of dates.
  enum Form: Sendable, Hashable {
    case instant(WallTime)
    /// A date and time in local time. The value is the instant at which UTC has this date and time.
    case local(WallTime)
    /// The nanoseconds between 00:00 and a time of day.
    case timeOfDay(Int64)
  }

  let form: Form

  /// Creates the expression of a known instant.
  public init(_ instant: WallTime) { form = .instant(instant) }

  init(_ form: Form) { self.form = form }

  /// Returns whether a text has the beginning of a date or a time of day: digits, and then a hyphen or a colon. A
  /// number is not a date.
  package static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
    let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty, digits.endIndex < text.endIndex else { return false }
    return "-:".utf8.contains(text[digits.endIndex])
  }

  // MARK: - Resolution

  /// The instant of the expression.
  ///
  /// - Parameters:
  ///   - reference: The instant of the request. A time of day is the next one after it.
  ///   - utcOffset: Local time minus UTC, in seconds, at an instant.
  public func instant(after reference: WallTime, utcOffset: (WallTime) -> Int64) -> WallTime {
    switch form {
    case .instant(let instant): return instant
    case .local(let local):
      let occurrences = Self.occurrences(ofLocal: local, utcOffset)
      return occurrences.first { $0 > reference } ?? occurrences[0]
    case .timeOfDay(let nanoseconds):
      let localReference = reference.advanced(byNanoseconds: utcOffset(reference) * Self.second)
      let today = ISODate.floorDivide(localReference.nanosecondsSince1970, Self.day)
      // Tomorrow's time is after the reference, unless the local date is changed by a day.
      let candidates = (0...2).flatMap { day in
        Self.occurrences(
          ofLocal: WallTime(nanosecondsSince1970: (today + day) * Self.day + nanoseconds), utcOffset)
      }
      return candidates.first { $0 > reference } ?? candidates[candidates.count - 1]
    }
  }

  static let second: Int64 = 1_000_000_000
  static let day: Int64 = 86_400_000_000_000

  /// The instants at which local time has a value, in order; at least one. A skipped value has the instant of the
  /// offset before the change.
  ///
  /// Offsets are at most 14 hours. At most one change lies within the day before and the day after the value.
  private static func occurrences(ofLocal local: WallTime, _ utcOffset: (WallTime) -> Int64) -> [WallTime] {
    let before = utcOffset(local.advanced(byNanoseconds: -day))
    let after = utcOffset(local.advanced(byNanoseconds: day))
    let first = local.advanced(byNanoseconds: -before * second)
    guard before != after else { return [first] }
    let last = local.advanced(byNanoseconds: -after * second)
    let found = [(first, before), (last, after)].filter { utcOffset($0.0) == $0.1 }.map(\.0)
    return found.isEmpty ? [first] : found
  }
}
