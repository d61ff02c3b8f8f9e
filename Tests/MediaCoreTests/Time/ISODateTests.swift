import PlayheadMediaCore
import Testing

@Suite struct ISODateTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-11-22T09:30:00.250+01:00", 1_795_336_200_250_000_000),
    ("2026-11-22", 1_795_305_600_000_000_000), ("2000-02-29T23:59:59-0030", 951_870_599_000_000_000),
    ("1969-12-31T23:59:59.999999999Z", -1), ("2026-11-22 09:30", 1_795_339_800_000_000_000),
  ])
  func datesAreParsed(_ text: String, _ nanoseconds: Int64) {
    #expect(ISODate.parse(text) == nanoseconds)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-29", "1900-02-29", "1899-12-31", "2101-01-01", "2026-11-22T24:00:00Z",
    "2026-11-22T09:60:00Z", "2026-11-22T09:30:61Z", "2026-11-22T09:30:00.Z", "2026-11-22T09:30:00+25:00",
    "2026-11-22T09:30:00Zx", "2026-11-22T09:30:00+01:", "\u{662}026-11-22",
  ])
  func invalidDatesAreRejected(_ text: String) {
    #expect(ISODate.parse(text) == nil)
  }

  @Test func formattedDatesParseBack() {
    for (nanoseconds, text) in [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999999999Z"),
      (1_795_336_200_250_000_000, "2026-11-22T08:30:00.250Z"), (951_782_400_000_001_000, "2000-02-29T00:00:00.000001Z"),
    ] as [(Int64, String)] {
      #expect(ISODate.text(nanoseconds) == text)
      #expect(ISODate.parse(text) == nanoseconds)
    }
    // The difference of any two dates fits in an Int64.
    let ends = ["1900-01-01T00:00:00Z", "2100-12-31T23:59:60.999999999-23:59"].compactMap(ISODate.parse)
    #expect(ends.count == 2 && !ends[1].subtractingReportingOverflow(ends[0]).overflow)
  }
}
