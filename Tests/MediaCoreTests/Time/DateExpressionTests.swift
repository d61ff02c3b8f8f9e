import Testing

@testable import PlayheadMediaCore

/// Dates and times of day, with rules of local time that do not depend on the computer.
@Suite struct DateExpressionTests {
  private static func wallTime(_ text: String) throws -> WallTime {
    WallTime(nanosecondsSince1970: try #require(ISODate.parse(text)))
  }

  /// Central Europe in 2026: UTC+01:00, and UTC+02:00 from March 29 to October 25, 01:00 UTC.
  private static func centralEurope(_ instant: WallTime) -> Int64 {
    let summer = 1_774_746_000_000_000_000..<1_792_890_000_000_000_000 as Range<Int64>
    return summer.contains(instant.nanosecondsSince1970) ? 7_200 : 3_600
  }

  private static func instant(_ text: String, after reference: String) throws -> String {
    let expression = try DateExpression(parsing: text)
    return expression.instant(after: try wallTime(reference), utcOffset: centralEurope).description
  }

  @Test(arguments: [
    ("2026-12-24T18:00:00+01:00", "2026-12-24T17:00:00.000Z"), ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00.000Z"),
    ("2026-12-24T18:00-12:00", "2026-12-25T06:00:00.000Z"), ("2026-12-24T18:00+14:00", "2026-12-24T04:00:00.000Z"),
    ("2026-12-24T18:00:00", "2026-12-24T17:00:00.000Z"), ("2026-07-24T18:00", "2026-07-24T16:00:00.000Z"),
    ("2028-02-29T00:00:00.000000001Z", "2028-02-29T00:00:00.000000001Z"),
    ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"), ("2200-12-31T23:59Z", "2200-12-31T23:59:00.000Z"),
  ])
  func datesAreInstants(text: String, expected: String) throws {
    #expect(try Self.instant(text, after: "2026-11-30T20:00:00Z") == expected)
  }

  @Test(arguments: [
    ("22:00", "2026-11-30T21:00:00.000Z"), ("18:00", "2026-12-01T17:00:00.000Z"),
    ("18:00:30.5", "2026-12-01T17:00:30.500Z"), ("21:00", "2026-12-01T20:00:00.000Z"),
    ("21:00:00.000000001", "2026-11-30T20:00:00.000000001Z"), ("00:00", "2026-11-30T23:00:00.000Z"),
    ("23:59:59.999999999", "2026-11-30T22:59:59.999999999Z"),
  ])
  func timesOfDayAreTheNextOnes(text: String, expected: String) throws {
    #expect(try Self.instant(text, after: "2026-11-30T20:00:00Z") == expected)
  }

  /// RFC 5545, 3.3.5: the offset before the change.
  @Test(arguments: [
    ("02:30", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00.000Z"),
    ("02:30", "2026-03-29T00:59:59Z", "2026-03-29T01:30:00.000Z"),
    ("02:30", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00.000Z"),
    ("03:00", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00.000Z"),
    ("2026-03-29T02:00", "2026-01-01T00:00:00Z", "2026-03-29T01:00:00.000Z"),
    ("2026-03-29T01:59:59", "2026-01-01T00:00:00Z", "2026-03-29T00:59:59.000Z"),
  ])
  func skippedLocalTimesHaveTheOffsetBeforeTheChange(text: String, reference: String, expected: String) throws {
    #expect(try Self.instant(text, after: reference) == expected)
  }

  @Test(arguments: [
    ("02:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00.000Z"),
    ("02:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00.000Z"),
    ("02:30", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00.000Z"),
    ("2026-10-25T02:30", "2026-10-01T00:00:00Z", "2026-10-25T00:30:00.000Z"),
    ("2026-10-25T02:30", "2026-10-25T00:40:00Z", "2026-10-25T01:30:00.000Z"),
    // Both have passed.
    ("2026-10-25T02:30", "2026-11-30T00:00:00Z", "2026-10-25T00:30:00.000Z"),
    ("2026-10-25T03:00", "2026-10-01T00:00:00Z", "2026-10-25T02:00:00.000Z"),
  ])
  func ofTwoEqualLocalTimesTheNextOneCounts(text: String, reference: String, expected: String) throws {
    #expect(try Self.instant(text, after: reference) == expected)
  }

  /// Samoa skipped 2011-12-30: UTC-10:00 became UTC+14:00 at 10:00 UTC.
  @Test func skippedDayHasTheOffsetBeforeTheChange() throws {
    let change = try Self.wallTime("2011-12-30T10:00:00Z")
    func samoa(_ instant: WallTime) -> Int64 { instant < change ? -36_000 : 50_400 }
    let reference = try Self.wallTime("2011-12-29T00:00:00Z")
    let skipped = try DateExpression(parsing: "2011-12-30T12:00")
    #expect(skipped.instant(after: reference, utcOffset: samoa) == (try Self.wallTime("2011-12-30T22:00:00Z")))
    let next = try DateExpression(parsing: "2011-12-31T00:00")
    #expect(next.instant(after: reference, utcOffset: samoa) == change)
  }

  @Test(arguments: [
    ("2026-13-01T00:00", "the month must be between 01 and 12 (got 13)"),
    ("2026-00-01T00:00", "the month must be between 01 and 12 (got 00)"),
    ("2026-04-31T00:00", "the day must be between 01 and 30 (got 31)"),
    ("2026-12-32T00:00", "the day must be between 01 and 31 (got 32)"),
    ("2026-01-00T00:00", "the day must be between 01 and 31 (got 00)"),
    ("2026-02-29T00:00", "the day must be between 01 and 28 (got 29)"),
    ("2100-02-29T00:00", "the day must be between 01 and 28 (got 29)"),
    ("1969-12-31T23:59Z", "the year must be between 1970 and 2200 (got 1969)"),
    ("2201-01-01T00:00Z", "the year must be between 1970 and 2200 (got 2201)"),
    ("26-12-24T18:00", "the year must have 4 digits (got 2)"),
    ("2026-1-24T18:00", "the month must have 2 digits (got 1)"),
    ("24:00", "the hour must be between 00 and 23 (got 24)"), ("25:00", "the hour must be between 00 and 23 (got 25)"),
    ("23:60", "the minute must be between 00 and 59 (got 60)"),
    ("23:59:60", "the second must be between 00 and 59 (got 60)"), ("8:00", "the hour must have 2 digits (got 1)"),
    ("18:", "the minute must have 2 digits (got 0)"), ("18:0", "the minute must have 2 digits (got 1)"),
    ("18", "a colon and the minute must follow the hour"), ("18:00:", "the second must have 2 digits (got 0)"),
    ("18:00:30.", "a second has 1 to 9 decimals (got 0)"),
    ("18:00:30.0000000001", "a second has 1 to 9 decimals (got 10)"),
    ("18:00Z", "only a full date may have an offset"), ("18:00 ", "only a full date may have an offset"),
    ("2026-12", "a hyphen and the day must follow the month"), ("2026-", "the month must have 2 digits (got 0)"),
    ("2026-12-24", "a T and a time of day must follow the date"),
    ("2026-12-24 18:00", "a T and a time of day must follow the date"),
    ("2026-12-24t18:00", "a T and a time of day must follow the date"),
    ("2026-12-24T", "the hour must have 2 digits (got 0)"),
    ("2026-12-24T18", "a colon and the minute must follow the hour"),
    ("2026-12-24T18:00z", "only Z or an offset such as +01:00 may follow the time"),
    ("2026-12-24T18:00+15:00", "the hour of the offset must be between 00 and 14 (got 15)"),
    ("2026-12-24T18:00+14:01", "the offset must be between -12:00 and +14:00"),
    ("2026-12-24T18:00-12:01", "the offset must be between -12:00 and +14:00"),
    ("2026-12-24T18:00+01:60", "the minute of the offset must be between 00 and 59 (got 60)"),
    ("2026-12-24T18:00+01", "a colon and the minutes must follow the hours of the offset"),
    ("2026-12-24T18:00+0100", "the hour of the offset must have 2 digits (got 4)"),
    ("2026-12-24T18:00Z ", "nothing may follow the offset"), ("", "the hour must have 2 digits (got 0)"),
    ("\u{661}8:00", "the hour must have 2 digits (got 0)"),
  ])
  func invalidTextsAreRejectedWithTheInvalidPart(text: String, reason: String) {
    #expect { try DateExpression(parsing: text) } throws: { error in
      guard let error = error as? MediaError else { return false }
      return error.code == .invalidTime && error.message.contains(reason) && error.message.contains("\"\(text)\"")
    }
  }

  /// Each beginning of a valid text is either a shorter valid text or an error.
  @Test func truncatedTextsAreRejected() {
    let text = "2026-12-24T18:00:00.25+01:00"
    let valid = (1...text.count).filter { (try? DateExpression(parsing: text.prefix($0))) != nil }
    #expect(valid == [16, 19, 21, 22, 28])
  }

  @Test func datesAreToldFromNumbers() {
    for text in ["18:00", "2026-12-24T18:00", "2026-", "1:x"] { #expect(DateExpression.isDate(Array(text.utf8)[...])) }
    for text in ["", "83.5", "1e-3", "5012", "-1:30", "+1:30", "now", "frame:1", "1/2"] {
      #expect(!DateExpression.isDate(Array(text.utf8)[...]))
    }
  }

  @Test func hostTimeOfAnInstantFollowsFromAReading() {
    let reading = WallClockReading(
      wallTime: WallTime(nanosecondsSince1970: 1_000), hostTime: HostTime(nanoseconds: 50), bootNanoseconds: 60)
    #expect(reading.hostTime(at: WallTime(nanosecondsSince1970: 1_500)) == HostTime(nanoseconds: 550))
    #expect(reading.hostTime(at: WallTime(nanosecondsSince1970: 900)) == HostTime(nanoseconds: -50))
    #expect(WallTime(nanosecondsSince1970: .max).advanced(byNanoseconds: 1).nanosecondsSince1970 == .max)
    #expect(
      WallTime(nanosecondsSince1970: .min).nanoseconds(since: WallTime(nanosecondsSince1970: 1)) == .min)
  }
}
