import PlayheadMediaCore
import Testing

struct MediaTimeTextTests {
  // MARK: - Parsing decimals

  @Test(
    arguments: [
      ("83.5", 835, 10), ("0", 0, 1), ("-0", 0, 1), ("-0.0", 0, 1), ("-0.25", -25, 100), ("1e-3", 1, 1000),
      ("1E3", 1000, 1),
      ("1e+3", 1000, 1), ("1.50", 15, 10), ("1.0", 1, 1), ("100", 100, 1), ("100.000", 100, 1), ("0.1e1", 1, 1),
      ("1200e-2", 12, 1), ("1230e-2", 123, 10), ("007.5", 75, 10), ("0.000000001", 1, 1_000_000_000),
      ("9.999999999", 9_999_999_999, 1_000_000_000), ("0e999999999999999999999999", 0, 1), ("0e-5", 0, 1),
      ("9223372036854775807", .max, 1), ("-9223372036854775808", .min, 1), ("-922337203685477580.8", .min, 10),
      ("9223372036.854775807", .max, 1_000_000_000), ("9.223372036854775807e18", .max, 1),
      ("0.000000000000000000000000000000000000000000001e45", 1, 1),
      ("100000000000000000000000000000000000000000000000e-46", 10, 1),
    ] as [(String, Int64, Int32)])
  func decimalsAreExact(text: String, value: Int64, timescale: Int32) throws {
    let time = try #require(MediaTime(decimal: text))
    #expect(time.isIdentical(to: MediaTime(value, timescale)), "\(time)")
  }

  @Test(
    arguments: [
      ("0.1234567894", 123_456_789, 1_000_000_000), ("0.1234567895", 12_345_679, 100_000_000),
      ("-0.1234567895", -12_345_679, 100_000_000), ("0.0000000005", 1, 1_000_000_000), ("0.00000000049", 0, 1),
      ("-0.0000000001", 0, 1), ("0.9999999999", 1, 1),
      ("0.99999999949999999999999999999999999999999999", 999_999_999, 1_000_000_000),
      ("1e-10", 0, 1), ("1e-999999999999999999999999", 0, 1), ("5e-10", 1, 1_000_000_000),
      // These numbers of digits fit only at a smaller power of ten.
      ("9223372036854775806.5", .max, 1), ("92233720368547758.075", 922_337_203_685_477_581, 10),
      ("922337203685477580.75", 922_337_203_685_477_581, 1), ("-9223372036854775807.9", .min, 1),
      ("12345678901.2345678905", 12_345_678_901_234_567_89, 100_000_000),
      ("1.00000000000000000000000000000000000000000000000000001", 1, 1),
      ("1.23456789012345678901234567890123456789012345678901", 123_456_789, 100_000_000),
    ] as [(String, Int64, Int32)])
  func decimalsWithTooManyDigitsAreRoundedAndFlagged(text: String, value: Int64, timescale: Int32) throws {
    let time = try #require(MediaTime(decimal: text))
    #expect(time.isIdentical(to: .rounded(value, timescale)), "\(time)")
  }

  @Test(arguments: [
    "", "-", "+", "+1", "--1", ".5", "5.", "-.5", "1.e3", "1e", "1e+", "1e-", "1e1.5", "1e 3", " 1", "1 ", "1\n", "\t1",
    "1,5", "1_000",
    "0x10", "1f", "nan", "NaN", "inf", "-inf", "Infinity", "1.2.3", "1e2e3", "e5", "١٢", "1\u{0}", "1m", "½", "−1",
    "1/2", "1:00",
    // Too large for whole seconds.
    "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999", "-1e999999999999999999999999",
    "9223372036854775807.5",
    "99999999999999999999999999999999999999999999999999999999999999",
  ])
  func otherTextIsRejectedAsADecimal(text: String) {
    #expect(MediaTime(decimal: text) == nil)
  }

  @Test func longTextIsParsedCompletely() {
    let zeros = String(repeating: "0", count: 60_000)
    let nines = String(repeating: "9", count: 60_000)
    #expect(MediaTime(decimal: "\(zeros)1.5\(zeros)")?.isIdentical(to: MediaTime(15, 10)) == true)
    #expect(MediaTime(decimal: "0.\(zeros)1e60001")?.isIdentical(to: MediaTime(1, 1)) == true)
    #expect(MediaTime(decimal: "1\(zeros)e-60000")?.isIdentical(to: MediaTime(1, 1)) == true)
    #expect(MediaTime(decimal: "0.\(nines)")?.isIdentical(to: .rounded(1, 1)) == true)
    #expect(MediaTime(decimal: "1e-\(nines)")?.isIdentical(to: .rounded(0, 1)) == true)
    #expect(MediaTime(decimal: "1e\(zeros)2")?.isIdentical(to: MediaTime(100, 1)) == true)
    #expect(MediaTime(decimal: "1e\(nines)") == nil)
    #expect(MediaTime(decimal: nines) == nil)
    #expect(MediaTime(decimal: "\(nines)x") == nil)
  }

  @Test func substringsAreParsed() {
    #expect(MediaTime(decimal: "seek 83.5".dropFirst(5)) == MediaTime(835, 10))
    #expect(MediaTime(fraction: "pts=1/3".dropFirst(4)) == MediaTime(1, 3))
  }

  /// The result for every text of digits, point and exponent equals the result of unlimited arithmetic.
  @Test func decimalsAgreeWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<600 {
      let whole = digits(1 + Int(generator.next() % 12), &generator)
      let fraction = digits(Int(generator.next() % 14), &generator)
      let exponent = Int(generator.next() % 13) - 6
      let isNegative = generator.next() % 2 == 0
      let text =
        (isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
        + (exponent == 0 ? "" : "e\(exponent)")
      var mantissa = BigInteger(0)
      for digit in (whole + fraction).utf8 { mantissa = mantissa * BigInteger(10) + BigInteger(digit - 48) }
      var exact = BigRational(isNegative ? -mantissa : mantissa, BigInteger(1))
      let ten = BigRational(BigInteger(10), BigInteger(1))
      let power = exponent - fraction.utf8.count
      for _ in 0..<abs(power) { exact = power > 0 ? exact * ten : exact / ten }

      guard let time = MediaTime(decimal: text) else {
        Issue.record("\(text) is not a time")
        continue
      }
      #expect(BigRational(time).isEqual(to: exact) != time.hasBeenRounded, "\(text) is \(time)")
      let denominator = time.hasBeenRounded ? 1_000_000_000 : Int64(time.timescale)
      let nearest = exact.units(denominator, .halfAwayFromZero).value
      // If nine decimals fit, a rounded time has nine decimals.
      if let nearest = nearest.int64 { #expect(time == MediaTime(nearest, Int32(denominator)), "\(text) is \(time)") }
      #expect(time.timescale == 1 || time.value % 10 != 0, "\(text) is \(time)")
    }
  }

  private func digits(_ count: Int, _ generator: inout SeededGenerator) -> String {
    String((0..<count).map { _ in Character(Unicode.Scalar(UInt8(48 + generator.next() % 10))) })
  }

  // MARK: - Parsing fractions

  @Test(
    arguments: [
      ("441000/44100", 441_000, 44_100), ("0/1", 0, 1), ("-1/3", -1, 3), ("007/010", 7, 10),
      ("9223372036854775807/2147483647", .max, .max), ("-9223372036854775808/1", .min, 1),
      // Reduced only if they do not fit unreduced.
      ("4294967296/8589934592", 1, 2), ("18446744073709551614/4", .max, 2), ("-9223372036854775808/2", .min / 2, 1),
    ] as [(String, Int64, Int32)])
  func fractionsAreExact(text: String, value: Int64, timescale: Int32) throws {
    let time = try #require(MediaTime(fraction: text))
    #expect(time.isIdentical(to: MediaTime(value, timescale)), "\(time)")
  }

  @Test func fractionsWithTooLargeADenominatorAreRounded() throws {
    let time = try #require(MediaTime(fraction: "1/4294967295"))
    #expect(time.isIdentical(to: .rounded(0, .max)))  // (2^31 - 1) / (2^32 - 1) is slightly less than a half.
    #expect(MediaTime(fraction: "2/4294967295")?.isIdentical(to: .rounded(1, .max)) == true)
    #expect(MediaTime(fraction: "1/18446744073709551615")?.isIdentical(to: .rounded(0, .max)) == true)
  }

  @Test(arguments: [
    "", "/", "1/", "/1", "1/0", "0/0", "-/1", "1/-2", "+1/2", "1//2", "1/2/3", " 1/2", "1 /2", "1/2 ", "1.5/2", "1e3/2",
    "1",
    "18446744073709551616/1", "1/18446744073709551616", "18446744073709551615/1", "-9223372036854775809/1", "a/b",
  ])
  func otherTextIsRejectedAsAFraction(text: String) {
    #expect(MediaTime(fraction: text) == nil)
  }

  // MARK: - Formatting

  @Test func decimalDescriptionHasAtMostNineDecimals() {
    let table: [(MediaTime, String)] = [
      (MediaTime(3_682_350, 44_100), "83.5"), (.zero, "0"), (MediaTime(0, 600), "0"), (MediaTime(-5, 4), "-1.25"),
      (MediaTime(-1, 4), "-0.25"), (MediaTime(84, 1), "84"), (MediaTime(100, 1), "100"),
      (MediaTime(1, 3), "0.333333333"),
      (MediaTime(2, 3), "0.666666667"), (MediaTime(-2, 3), "-0.666666667"),
      (MediaTime(1, 2_000_000_000), "0.000000001"),
      (MediaTime(-1, 2_000_000_000), "-0.000000001"), (MediaTime(1, .max), "0"), (MediaTime(-1, .max), "0"),
      (MediaTime(.max - 1, .max), "4294967298"), (MediaTime(2_147_483_646, .max), "1"),
      (MediaTime(-2_147_483_646, .max), "-1"), (MediaTime(1, 1000), "0.001"),
      (MediaTime(1_000_000_001, 1_000_000_000), "1.000000001"),
      (MediaTime(.max, 1), "9223372036854775807"), (MediaTime(.min, 1), "-9223372036854775808"),
      (MediaTime(.max, 2), "4611686018427387903.5"), (MediaTime(1, 2, epoch: 3), "0.5"), (.rounded(1, 2), "0.5"),
      (.invalid, "invalid"), (.indefinite, "indefinite"), (.positiveInfinity, "inf"), (.negativeInfinity, "-inf"),
    ]
    for (time, text) in table { #expect(time.decimalDescription == text, "\(time)") }
  }

  @Test func fractionAndFullDescriptionsShowEveryField() {
    #expect(MediaTime(3_682_350, 44_100).fractionDescription == "3682350/44100")
    #expect(MediaTime(.min, .max).fractionDescription == "-9223372036854775808/2147483647")
    #expect(MediaTime.indefinite.fractionDescription == "indefinite")
    #expect(MediaTime.invalid.fractionDescription == "invalid")
    #expect(MediaTime.positiveInfinity.fractionDescription == "inf")
    #expect(MediaTime.negativeInfinity.fractionDescription == "-inf")
    #expect("\(MediaTime(3_682_350, 44_100))" == "3682350/44100 (83.5)")
    #expect(
      "\(MediaTime(value: 1, timescale: 2, flags: [.valid, .hasBeenRounded], epoch: 4))"
        == "1/2 (0.5, rounded, epoch 4)")
    #expect("\(MediaTime.invalid)" == "invalid")
  }

  @Test func descriptionsParseBack() throws {
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<600 {
      let time = generator.time()
      let fraction = try #require(MediaTime(fraction: time.fractionDescription))
      #expect(fraction == time && !fraction.hasBeenRounded)

      // The text is rounded to nine decimals, and parsing it gives the same text again.
      let text = time.decimalDescription
      if let nearest = BigRational(time).units(1_000_000_000, .halfAwayFromZero).value.int64 {
        let decimal = try #require(MediaTime(decimal: text))
        #expect(decimal == MediaTime(nearest, 1_000_000_000) && !decimal.hasBeenRounded)
        #expect(decimal.decimalDescription == text)
      }
      let short = MediaTime(generator.value(), [1, 10, 1000, 1_000_000, 1_000_000_000][Int(generator.next() % 5)])
      #expect(MediaTime(decimal: short.decimalDescription) == short)
    }
  }
}
