import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct ReplyTests {
  private static let words = ReplyAddress(form: .words, id: .words("5"))
  private static let json = ReplyAddress(form: .json, id: .jsonNumber("5"))
  private static func text(_ reply: Reply, _ address: ReplyAddress) -> String {
    Lines.text { reply.encode(to: address, into: &$0) }
  }

  private static var seekFields: Fields {
    var fields: Fields = ["finished": true]
    fields.append(position: MediaTime(value: 3_682_350, timescale: 44_100))
    fields.append("requested", .time(MediaTime(value: 167, timescale: 2)))
    return fields
  }

  @Test func okIsEncodedInBothForms() {
    #expect(Self.text(.ok, .words) == "ok\n")
    #expect(Self.text(.ok, Self.words) == "@5 ok\n")
    #expect(Self.text(.ok, Self.json) == "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n")
    for address in [.words, Self.words, Self.json, ReplyAddress(form: .json, id: .none)] {
      #expect(Lines.text { Reply.encodeOK(to: address, into: &$0) } == Self.text(.ok, address))
    }
    #expect(
      Self.text(.ok(Self.seekFields), Self.words) == "@5 ok finished=true time=83.5 pts=3682350/44100 requested=83.5\n")
    #expect(
      Self.text(.ok(Self.seekFields), Self.json)
        == #"{"jsonrpc":"2.0","id":5,"result":{"finished":true,"time":83.5,"pts":"3682350/44100","requested":83.5}}"#
        + "\n")
  }

  @Test func rowsComeBeforeTheFinalLine() {
    let reply = Reply.ok(["count": 2], rows: [["item": 1, "path": "/a b"], ["item": 2, "path": nil]])
    #expect(Self.text(reply, Self.words) == "@5 | item=1 path=\"/a b\"\n@5 | item=2 path=none\n@5 ok count=2\n")
    #expect(
      Self.text(reply, Self.json)
        == #"{"jsonrpc":"2.0","id":5,"result":{"count":2,"rows":[{"item":1,"path":"/a b"},{"item":2,"path":null}]}}"#
        + "\n")
    #expect(Self.text(.ok([:], rows: []), Self.json) == "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"rows\":[]}}\n")
    #expect(Self.text(.ok([:], rows: []), .words) == "ok\n")
  }

  @Test func errorsHaveNumberNameAndMessage() {
    let error = MediaError(.noSuchItem, "no item \"1\"\n", operation: "seek", underlying: "x")
    #expect(
      Self.text(.error(error), .words)
        == #"error code=2004 name=no-such-item message="no item \"1\"\n" operation=seek underlying=x"# + "\n")
    #expect(
      Self.text(.error(error), Self.json)
        == #"{"jsonrpc":"2.0","id":5,"error":{"code":2004,"message":"no item \"1\"\n","data":{"number":2004,"name":"no-such-item","operation":"seek","underlying":"x"}}}"#
        + "\n")
    let unknown = MediaError(MediaError.Code(rawValue: 9_999), "m")
    #expect(Self.text(.error(unknown), .words) == "error code=9999 name=error-9999 message=m\n")
  }

  @Test func jsonIDsAreEchoedAndNotificationsHaveNoReply() {
    #expect(Self.text(.ok, ReplyAddress(form: .json, id: .jsonString("a\"\n"))).contains(#""id":"a\"\n","#))
    #expect(Self.text(.ok, ReplyAddress(form: .json, id: .jsonNull)).contains(#""id":null,"#))
    #expect(Self.text(.ok, ReplyAddress(form: .json, id: .jsonNumber("1.0"))).contains(#""id":1.0,"#))
    #expect(Self.text(.ok(["a": 1]), ReplyAddress(form: .json, id: .none)).isEmpty)
  }

  @Test(arguments: [
    (FieldValue.none, "none", "null"), ("a", "a", #""a""#), ("", #""""#, #""""#), ("a b", #""a b""#, #""a b""#),
    ("a=b", "a=b", #""a=b""#),
    ("x\ny", #""x\ny""#, #""x\ny""#), ("it's", #""it's""#, #""it's""#), (7, "7", "7"),
    (.int(Int64.min), "-9223372036854775808", "-9223372036854775808"),
    (.int(UInt64.max), "18446744073709551615", "18446744073709551615"), (true, "true", "true"), (.float(1.0), "1", "1"),
    (.float(0.75), "0.75", "0.75"),
    (.float(-0.0), "0", "0"), (.float(Float(0.1)), "0.1", "0.1"), (.float(Double.nan), "none", "null"),
    (.float(1e300), "1e+300", "1e+300"),
    (.time(.indefinite), "indefinite", #""indefinite""#), (.time(.zero), "0", "0"),
    (.fraction(.invalid), "invalid", #""invalid""#),
    (.time(MediaTime(value: -1, timescale: 3)), "-0.333333333", "-0.333333333"),
    (.seconds(nanoseconds: 2_000_000), "0.002", "0.002"),
    (.integers([1, 2]), "1,2", "[1,2]"), (.integers([Int]()), #""""#, "[]"),
    (.integers([UInt64.max, 3]), "18446744073709551615,3", "[18446744073709551615,3]"), (.list([]), #""""#, "[]"),
    (.strings(["a,b", "c\\", "d e"]), #""a\\,b,c\\\\,d e""#, #"["a,b","c\\","d e"]"#),
  ])
  func valuesAreEncodedInBothForms(value: FieldValue, words: String, json: String) throws {
    #expect(Lines.text { value.appendWords(to: &$0) } == words)
    #expect(Lines.text { value.appendJSON(to: &$0) } == json)
    #expect(throws: Never.self) { try JSONValue(parsing: Array(json.utf8).span) }
  }

  @Test func encodedTimesEqualTheDescriptionsOfMediaTime() {
    var generator = SeededGenerator(seed: 3)
    var times = [0, 1, -1, 999_999_999, .max, .min].flatMap { value in
      [1, 3, 7, 44_100, 1_000_000_000, .max].map { MediaTime(value: value, timescale: $0) }
    }
    for _ in 0..<20_000 {
      let value = Int64.random(in: .min ... .max, using: &generator) >> Int64.random(in: 0...63, using: &generator)
      times.append(
        MediaTime(
          value: value,
          timescale: Int32.random(in: 1 ... .max, using: &generator) >> Int32.random(in: 0...30, using: &generator) | 1)
      )
    }
    times += [.invalid, .indefinite, .positiveInfinity, .negativeInfinity]
    for time in times {
      #expect(Lines.text { $0.append(seconds: time) } == time.decimalDescription)
      #expect(Lines.text { $0.append(fraction: time) } == time.fractionDescription)
    }
  }

  @Test func everyErrorCodeHasItsJSONCode() {
    let jsonRPCCodes: [MediaError.Code: Int] = [
      .unknownCommand: -32_601, .badArguments: -32_602, .invalidJSON: -32_700, .lineTooLong: -32_700,
    ]
    for number in MediaError.Code.names.keys {
      let code = MediaError.Code(rawValue: number)
      #expect(WireError(MediaError(code, "")).jsonCode == jsonRPCCodes[code] ?? number)
    }
  }
}
