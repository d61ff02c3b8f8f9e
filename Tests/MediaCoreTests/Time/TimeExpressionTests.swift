import PlayheadMediaCore
import RigSupport
import Testing

struct TimeExpressionTests {
  private static func absolute(_ value: Int64, _ timescale: Int32) -> TimeExpression {
    .absolute(MediaTime(value, timescale))
  }
  private static func relative(_ value: Int64, _ timescale: Int32) -> TimeExpression {
    .relative(MediaTime(value, timescale))
  }

  @Test(
    arguments: [
      // Seconds.
      ("83.5", absolute(835, 10)), ("0", absolute(0, 1)), ("5", absolute(5, 1)), ("05.50", absolute(11, 2)),
      ("1e-3", absolute(1, 1000)),
      ("2.5E2", absolute(250, 1)),
      // Milliseconds.
      ("250ms", absolute(1, 4)), ("0ms", absolute(0, 1)), ("1.5ms", absolute(3, 2000)), ("1e3ms", absolute(1, 1)),
      ("0.000001ms", absolute(1, 1_000_000_000)), ("90000ms", absolute(90, 1)),
      // Units.
      ("90s", absolute(90, 1)), ("5s", absolute(5, 1)), ("0s", absolute(0, 1)), ("1.5s", absolute(3, 2)),
      ("1m", absolute(60, 1)), ("90m", absolute(5400, 1)), ("1h", absolute(3600, 1)), ("1m30s", absolute(90, 1)),
      ("1h2m3.5s", absolute(37_235, 10)), ("1h5s", absolute(3605, 1)), ("100h59m", absolute(363_540, 1)),
      ("+1m30s", relative(90, 1)), ("-5s", relative(-5, 1)), ("+1h", relative(3600, 1)),
      ("2562047788015215h30m7s", absolute(.max, 1)),
      // Clock.
      ("1:23.5", absolute(835, 10)), ("1:02:03.25", absolute(372_325, 100)), ("0:00", absolute(0, 1)),
      ("90:00", absolute(5400, 1)),
      ("1:5", absolute(65, 1)), ("00:59.999", absolute(59_999, 1000)), ("100:59:59", absolute(363_599, 1)),
      ("0:00:00.000000001", absolute(1, 1_000_000_000)), ("2562047788015215:30:07", absolute(.max, 1)),
      // Fractions.
      ("441000/44100", absolute(10, 1)), ("1/3", absolute(1, 3)), ("0/44100", absolute(0, 1)),
      // With a sign.
      ("+5", relative(5, 1)), ("-5", relative(-5, 1)), ("-0", relative(0, 1)), ("+0.25", relative(1, 4)),
      ("-1:30", relative(-90, 1)),
      ("+1:02:03.25", relative(372_325, 100)), ("+250ms", relative(1, 4)), ("-250ms", relative(-1, 4)),
      ("+441000/44100", relative(10, 1)), ("-1/3", relative(-1, 3)), ("-1e-3", relative(-1, 1000)),
      // Percentages.
      ("50%", .percent(numerator: 1, denominator: 2)), ("12.5%", .percent(numerator: 1, denominator: 8)),
      ("0%", .percent(numerator: 0, denominator: 1)), ("100%", .percent(numerator: 1, denominator: 1)),
      ("100.000%", .percent(numerator: 1, denominator: 1)), ("33.3%", .percent(numerator: 333, denominator: 1000)),
      ("0.0000001%", .percent(numerator: 1, denominator: 1_000_000_000)),
      ("007%", .percent(numerator: 7, denominator: 100)),
      ("99.99999999999%", .percent(numerator: 1, denominator: 1)),
      ("end", .end),
    ] as [(String, TimeExpression)])
  func everyFormOfTheProtocolIsParsed(text: String, expected: TimeExpression) throws {
    #expect(try TimeExpression(parsing: text) == expected)
  }

  @Test func fractionsKeepTheirTimescale() throws {
    guard case .absolute(let time) = try TimeExpression(parsing: "441000/44100") else {
      Issue.record("not absolute")
      return
    }
    #expect(time.isIdentical(to: MediaTime(441_000, 44_100)))
  }

  @Test func tooManyDigitsSetTheRoundingFlag() throws {
    for text in ["0.0000000001", "1:00.0000000001", "0.00000001ms", "1/4294967295"] {
      guard case .absolute(let time) = try TimeExpression(parsing: text) else {
        Issue.record("\(text) is not absolute")
        continue
      }
      #expect(time.hasBeenRounded, "\(text)")
    }
    guard case .relative(let time) = try TimeExpression(parsing: "-1.0000000001") else {
      Issue.record("not relative")
      return
    }
    #expect(time.isIdentical(to: .rounded(-1, 1)))
  }

  @Test(arguments: [
    "", " ", "+", "-", "%", "ms", ":", "/", ".", "e", "5 ", " 5", "5\n", "1: 30", "+ 5", "--5", "+-5", "-+5", "++5",
    "−5", "5sec", "s", "m", "h", "1hm", "1ms5s", "1m60s", "1h60m", "1s1m", "1m1h", "1h1h", "1m5", "1.5m", "1.5h",
    "1e1s",
    "1:30s", "1m 5s", "5S", "1H", "1m.5s", "1m5.s", "-+5s", "99999999999999999999s", "9999999999999999999h",
    "250 ms", "250MS", "250Ms", "ms250", "msms", "5msms", "1:30ms", "1/2ms", "50%ms", "5ms%",
    ".5", "5.", "1.2.3", "1e", "1e5.5", "0x10", "1_000", "1,5", "nan", "NaN", "inf", "-inf", "infinity", "indefinite",
    "invalid",
    ":30", "1:", "1::2", "1:60", "1:99", "1:2:60", "1:60:00", "1:2:3:4", "1:030", "1:30.", "1.5:30", "1:30.5.5",
    "1:-30", "-1:-30", "1:3e1", "1:30.5e1",
    "1:30:", "::", "a:b", "1e3:00",
    "1/", "/1", "1/0", "1//2", "1/2/3", "1.5/2", "1/-2", "--1/2", "+-1/2", "1/2%",
    "+50%", "-50%", "101%", "100.1%", "100.0000000000000000000000001%", "1e2%", "50 %", "%50", "50%%", "50.%", ".5%",
    "END", "End", "+end", "-end", "end ", "ends", "end5", "-1%", "١", "5\u{0}", "1:3٠", "🎵",
  ])
  func otherTextIsAnInvalidTime(text: String) {
    expectError(.invalidTime) { try TimeExpression(parsing: text) }
  }

  @Test(arguments: [
    "9223372036854775808", "1e19", "1e999999999", "1e99999999999999999999ms", "-9223372036854775808",
    "9223372036854775807.5",
    "153722867280912930:08", "2562047788015215:30:08", "99999999999999999999:00", "18446744073709551615:00:00",
    "18446744073709551615/1", "99999999999999999999/1", "1/99999999999999999999", "9223372036854775808/1",
  ])
  func overflowingNumbersAreAnInvalidTime(text: String) {
    expectError(.invalidTime) { try TimeExpression(parsing: text) }
  }

  @Test(
    arguments: [
      ("1:75", "minutes and seconds after a colon are at most 59"), ("+1:75", "minutes and seconds"),
      ("-99:99.5", "minutes and seconds"), ("1:60:00", "minutes and seconds"),
      ("1:2:3:4", "at most hours, minutes and seconds"), ("1:", "before and after each colon"),
      (":30", "before and after each colon"), ("1::2", "before and after each colon"),
      ("1:030", "at most two digits"), ("1:23.5", nil), ("90:00", nil), ("soon", nil), ("", nil), ("+", nil),
      ("1:3e1", nil), ("1.5:30", nil), ("50%", nil), ("99999999999999999999:00", nil),
    ] as [(String, String?)])
  func faultStatesTheBrokenRuleOfAClockTime(text: String, rule: String?) throws {
    let fault = TimeExpression.fault(of: Array(text.utf8)[...])
    print("fault of \(text): \(fault ?? "none")")
    if let rule { #expect(fault?.contains(rule) == true, "\(text)") } else { #expect(fault == nil, "\(text)") }
    guard let fault else { return }
    let error = try #require(throws: MediaError.self) { try TimeExpression(parsing: text) }
    #expect(error.message.hasPrefix("invalid time \"\(text)\" (\(fault)): use a form like"), "\(error)")
  }

  @Test func errorShowsTheTextTruncated() throws {
    let short = try #require(throws: MediaError.self) { try TimeExpression(parsing: "soon") }
    #expect(short.message.hasPrefix("invalid time \"soon\": "))
    let long = try #require(throws: MediaError.self) {
      try TimeExpression(parsing: String(repeating: "9", count: 60_000))
    }
    #expect(long.message.utf8.count < 200)
  }

  @Test func substringsAreParsed() throws {
    #expect(try TimeExpression(parsing: "seek 1:23.5".dropFirst(5)) == Self.absolute(835, 10))
  }

  @Test func randomTextDoesNotTrap() {
    var generator = SeededGenerator(seed: 14)
    let alphabet = Array("0123456789999.:/%+-emsnd \u{e9}")
    for _ in 0..<20_000 {
      let text = String(
        (0..<generator.next() % 24).map { _ in alphabet[Int(generator.next() % UInt64(alphabet.count))] })
      guard let expression = try? TimeExpression(parsing: text) else { continue }
      for duration in [MediaTime(.max, 1), .zero, .indefinite, MediaTime(1, .max)] {
        _ = try? expression.resolve(current: MediaTime(.min, 2), duration: duration)
      }
    }
  }

  // MARK: - Resolving

  @Test(arguments: [
    ("83.5", MediaTime(835, 10)), ("+5", MediaTime(15, 1)), ("-5", MediaTime(5, 1)), ("-20", MediaTime(-10, 1)),
    ("-1:30", MediaTime(-80, 1)), ("+250ms", MediaTime(1025, 100)), ("50%", MediaTime(50, 1)),
    ("12.5%", MediaTime(25, 2)),
    ("0%", MediaTime(0, 1)), ("100%", MediaTime(100, 1)), ("end", MediaTime(100, 1)), ("1000", MediaTime(1000, 1)),
  ])
  func expressionsResolveToPositions(text: String, expected: MediaTime) throws {
    let expression = try TimeExpression(parsing: text)
    #expect(try expression.resolve(current: MediaTime(10, 1), duration: MediaTime(100, 1)) == expected)
  }

  @Test func percentagesOfADurationAreExact() throws {
    func resolve(_ text: String, _ duration: MediaTime) throws -> MediaTime {
      try TimeExpression(parsing: text).resolve(current: .zero, duration: duration)
    }
    #expect(try resolve("50%", MediaTime(3_682_350, 44_100)).isIdentical(to: MediaTime(1_841_175, 44_100)))
    #expect(try resolve("50%", MediaTime(1, 44_100)).isIdentical(to: MediaTime(1, 88_200)))
    #expect(try resolve("33.3%", MediaTime(1, 1)).isIdentical(to: MediaTime(333, 1000)))
    #expect(try resolve("100%", MediaTime(.max, 1)).isIdentical(to: MediaTime(.max, 1)))
    #expect(try resolve("99.9999999%", MediaTime(.max, .max)).hasBeenRounded)
    #expect(try resolve("50%", MediaTime(7, 1, epoch: 2)).epoch == 2)
  }

  @Test func unknownTimesCannotBeResolved() throws {
    let unknown: [MediaTime] = [.indefinite, .invalid, .positiveInfinity, .negativeInfinity]
    for text in ["50%", "0%", "end"] {
      let expression = try TimeExpression(parsing: text)
      for duration in unknown {
        expectError(.invalidTime) { try expression.resolve(current: .zero, duration: duration) }
      }
      #expect(throws: Never.self) { try expression.resolve(current: .invalid, duration: .zero) }
    }
    for current in unknown {
      expectError(.invalidTime) { try TimeExpression.relative(.zero).resolve(current: current, duration: .zero) }
      #expect(
        try TimeExpression.absolute(MediaTime(3, 1)).resolve(current: current, duration: current) == MediaTime(3, 1))
    }
  }

  @Test func overflowingResultsAreAnInvalidTime() {
    let far = MediaTime(.max, 1)
    expectError(.invalidTime) {
      try TimeExpression.relative(MediaTime(1, 1)).resolve(current: far, duration: far)
    }
    expectError(.invalidTime) { try TimeExpression.absolute(.indefinite).resolve(current: far, duration: far) }
    expectError(.invalidTime) {
      try TimeExpression.percent(numerator: -1, denominator: 2).resolve(current: far, duration: far)
    }
    expectError(.invalidTime) {
      try TimeExpression.percent(numerator: 1, denominator: 0).resolve(current: far, duration: far)
    }
    expectError(.invalidTime) {
      try TimeExpression.percent(numerator: .max, denominator: 1).resolve(current: far, duration: far)
    }
  }
}
