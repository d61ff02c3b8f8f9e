/// A date in a tag, as precise as the tag states it: `1999`, `1999-05`, `1999-05-17T20:15:00Z` (ISO 8601; ID3v2.4,
/// section 4).
public struct MetadataDate: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The year.
  public var year: Int
  /// The month, 1 to 12; nil if unspecified.
  public var month: Int?
  /// The day of the month, from 1; nil if unspecified.
  public var day: Int?
  /// The hour, from 0; nil if unspecified.
  public var hour: Int?
  /// The minute, 0 to 59; nil if unspecified.
  public var minute: Int?
  /// The second, from 0; nil if unspecified.
  public var second: Int?
  /// The offset from UTC in minutes, positive in the east; nil if unspecified.
  public var offsetMinutes: Int?

  /// Parses as many parts as the text has. Returns nil if it does not begin with a year, or if a part is out of range
  /// (month 13).
  public init?(_ text: String) {
    var rest = Substring(text)
    guard let year = Self.digits(4, from: &rest) else { return nil }
    self.year = year
    let parts: [(WritableKeyPath<MetadataDate, Int?>, separators: String, ClosedRange<Int>)] = [
      (\.month, "-", 1...12), (\.day, "-", 1...31), (\.hour, "T ", 0...24), (\.minute, ":", 0...59),
      (\.second, ":", 0...60),
    ]
    for (part, separators, range) in parts {
      guard let separator = rest.first, separators.contains(separator) else { break }
      rest.removeFirst()
      guard let value = Self.digits(2, from: &rest), range.contains(value) else { return nil }
      self[keyPath: part] = value
    }
    if let next = rest.first, next.isNumber { return nil }
    if minute != nil { offsetMinutes = Self.offset(rest) }
  }

  public var description: String {
    func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    var text = String(repeating: "0", count: max(0, 4 - "\(year)".utf8.count)) + "\(year)"
    for (separator, part) in [("-", month), ("-", day), ("T", hour), (":", minute), (":", second)] {
      guard let part else { break }
      text += separator + twoDigits(part)
    }
    if let offsetMinutes {
      let magnitude = abs(offsetMinutes)
      let offset = (offsetMinutes < 0 ? "-" : "+") + twoDigits(magnitude / 60) + ":" + twoDigits(magnitude % 60)
      text += offsetMinutes == 0 ? "Z" : offset
    }
    return text
  }

  private static func digits(_ count: Int, from text: inout Substring) -> Int? {
    let prefix = text.prefix(count)
    guard prefix.utf8.count == count, prefix.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    text = text.dropFirst(count)
    return Int(prefix)
  }

  /// Returns the offset in `Z`, `+01:00` or `-0130`, which may follow fractions of a second.
  private static func offset(_ text: Substring) -> Int? {
    var rest = text
    if rest.first == "." { rest = rest.dropFirst().drop { $0.isNumber } }
    guard let sign = rest.popFirst() else { return nil }
    if sign == "Z" { return 0 }
    guard sign == "+" || sign == "-", let hours = digits(2, from: &rest), hours <= 23 else { return nil }
    if rest.first == ":" { rest.removeFirst() }
    guard let minutes = digits(2, from: &rest), minutes <= 59 else { return nil }
    return (sign == "-" ? -1 : 1) * (60 * hours + minutes)
  }
}
