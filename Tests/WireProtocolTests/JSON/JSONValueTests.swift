import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadWireProtocol

@Suite struct JSONValueTests {
  private static func parse(_ text: String) throws(MediaError) -> JSONValue {
    try JSONValue(parsing: Array(text.utf8).span)
  }

  @Test(arguments: [
    ("null", JSONValue.null), (" true ", .bool(true)), ("false", .bool(false)), ("0", .number("0")),
    ("-0", .number("-0")),
    ("83.5000000000000000000001", .number("83.5000000000000000000001")), ("1e-3", .number("1e-3")),
    ("-1.5E+9", .number("-1.5E+9")),
    ("\"\"", .string("")), (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")),
    (#""\u00e9\u20AC\u0000""#, .string("é€\0")),
    (#""\ud83d\ude00""#, .string("😀")), (#""\udbff\udfff""#, .string("\u{10FFFF}")),
    ("\"é\u{7F}\"", .string("é\u{7F}")),
    ("[]", .array([])), ("[1, [2], {}]", .array([.number("1"), .array([.number("2")]), .object([])])),
    (#"{"a":1 , "a":2,"":[]}"#, .object([.init("a", .number("1")), .init("a", .number("2")), .init("", .array([]))])),
  ])
  func validJSONIsParsed(text: String, expected: JSONValue) throws {
    #expect(try Self.parse(text) == expected)
  }

  @Test(arguments: [
    "", " ", "nul", "nulll", "True", "'a'", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity", "--1",
    "1-1", "\"", "\"\\",
    "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "\"\u{1}\"", #""\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#,
    #""\ud83d\u0041""#, #""\ude00""#,
    "[", "[1", "[1,", "[1,]", "[,]", "[1 2]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}",
    "{1:1}", "{\"a\" 1}", "1 2",
    "[] []", "//x\n1", "{}}",
  ])
  func invalidJSONIsRejectedWithItsColumn(text: String) throws {
    let error = try #require(throws: MediaError.self) { try Self.parse(text) }
    #expect(error.code == .invalidJSON)
    #expect(error.message.contains("(column "))
  }

  @Test func nestingDeeperThan32LevelsIsRejected() throws {
    let nested = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
    #expect(throws: Never.self) { try Self.parse(nested(32)) }
    expectError(.invalidJSON) { try Self.parse(nested(33)) }
    expectError(.invalidJSON) { try Self.parse(String(repeating: "{\"a\":", count: 13_000)) }
  }

  @Test func bytesThatAreNotUTF8AreRejected() throws {
    for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xEF, 0xBB]] {
      let error = try #require(throws: MediaError.self) { try JSONValue(parsing: bytes.span) }
      #expect(error.code == .invalidUTF8)
    }
  }

  @Test func stringsSurviveEncodingAndParsing() throws {
    var texts = (0...0x2FF).compactMap(Unicode.Scalar.init).map { "a\($0)\($0)b" }
    texts += ["", "\u{2028}\u{2029}\u{2027}", "\u{10FFFF}", "\u{E000}", "\"}\n{"]
    for text in texts {
      var encoded: [UInt8] = []
      JSONValue.object([.init(text, .array([.string(text)]))]).append(to: &encoded)
      #expect(try JSONValue(parsing: encoded.span) == .object([.init(text, .array([.string(text)]))]))
      #expect(!encoded.contains { $0 < 0x20 })
    }
  }
}
