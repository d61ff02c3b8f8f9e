import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

@Suite struct JSONRequestTests {
  private static func line(_ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
  }

  /// A line in text form and the JSON parameters with the same meaning.
  @Test(arguments: [
    ("hello protocol=1", #"{"protocol":1}"#), ("hello rights=read,write", #"{"rights":["read","write"]}"#),
    ("ping", "{}"), ("ping", "[]"), ("help seek", #"{"command":"seek"}"#),
    ("stats", "{}"), ("rpc.discover", "{}"), ("bye", "{}"), ("config.reload", "{}"), ("play", "{}"),
    ("folder.list", "{}"),
    ("folder.list /a after=/a/b limit=2", #"{"path":"/a","after":"/a/b","limit":2}"#),
    ("pause player=*", #"{"player":"*"}"#), ("pause player=x", #"{"player":"x"}"#),
    ("toggle", "{}"),
    ("stop", "{}"),
    ("seek 83.5", #"{"time":83.5}"#), ("seek 83.5", #"{"time":"83.5"}"#), ("seek 1:23.5", #"{"time":"1:23.5"}"#),
    ("seek +5", #"{"time":"+5"}"#), ("seek 1/3 fast", #"{"time":"1/3","fast":true}"#),
    ("seek 5 fast=false", #"{"time":5,"fast":false}"#), ("seek 5 chase", #"{"time":5,"chase":true}"#),
    ("seek 5 before=0.25 after=inf item=3", #"{"time":5e0,"before":0.25,"after":"inf","item":3}"#),
    ("rate -2", #"{"rate":-2.0}"#), ("default-rate 1.5", #"{"rate":1.5}"#), ("volume 0.5", #"{"volume":0.5}"#),
    ("mute on", #"{"state":true}"#),
    ("mute off", #"{"state":false}"#), ("replay-gain protect=off", #"{"protect":false}"#),
    ("mute toggle", #"{"state":"toggle"}"#),
    ("auto-wait on", #"{"state":true}"#), ("step -5", #"{"count":-5}"#), ("preroll", "{}"),
    ("preroll 2", #"{"rate":2}"#),
    ("play-immediately 2", #"{"rate":2}"#), ("rate-together 2 a b", #"{"rate":2,"players":["a","b"]}"#),
    ("item.end-time 2 forward=90 reverse=none", #"{"id":2,"forward":90,"reverse":"none"}"#),
    ("item.buffer 2 3", #"{"id":2,"duration":3}"#),
    ("end-action pause", #"{"action":"pause"}"#), ("repeat one", #"{"mode":"one"}"#),
    ("loop 1 2.5 count=2", #"{"start":1,"end":"2.5","count":2}"#), ("loop off", #"{"off":true}"#), ("loop", "{}"),
    ("status", "{}"), ("load '/a b' /c wait=ready", #"{"paths":["/a b","/c"],"wait":"ready"}"#),
    ("load /a", #"{"paths":"/a"}"#),
    ("append /a if-version=3", #"{"if-version":3,"paths":["/a"]}"#),
    ("insert /a after=1", #"{"paths":["/a"],"after":1}"#),
    ("remove 1 2", #"{"ids":[1,2]}"#), ("clear", "{}"), ("list offset=1 limit=2", #"{"offset":1,"limit":2}"#),
    ("next", "{}"),
    ("item.status 4", #"{"id":4}"#), ("observe player.rate queue.*", #"{"keys":["player.rate","queue.*"]}"#),
    ("unobserve 1", #"{"id":1}"#), ("tick 0.5", #"{"interval":0.5}"#), ("at 90 1:35.25", #"{"times":[90,"1:35.25"]}"#),
    ("untick 1", #"{"id":1}"#), ("wait time>=90 ended timeout=5", #"{"conditions":["time>=90","ended"],"timeout":5}"#),
    ("clock.advance 2.5", #"{"duration":2.5}"#), ("player.create x", #"{"name":"x"}"#),
    ("player.close x", #"{"name":"x"}"#),
    ("asset.cancel 3", #"{"id":3}"#), ("asset.cancel 3", #"{"id":3,"keys":[]}"#),
    ("asset.cancel 3 duration metadata", #"{"id":3,"keys":["duration","metadata"]}"#),
    ("asset.cancel 3 tracks", #"{"id":3,"keys":"tracks"}"#),
    ("player.list", "{}"), ("output.status", "{}"),
    // Numbers for words that are numbers.
    ("waveform /a file=/b.dat bits=8", #"{"path":"/a","file":"/b.dat","bits":8}"#),
    ("waveform /a file=/b.dat bits=8", #"{"path":"/a","file":"/b.dat","bits":"8"}"#),
    ("export /a file=/b.wav bits=24", #"{"paths":["/a"],"file":"/b.wav","bits":24}"#),
    ("record.prepare /a.wav bits=16", #"{"file":"/a.wav","bits":16}"#),
    ("record.prepare /a container=caf", #"{"file":"/a","container":"caf"}"#),
    // Arrays of texts.
    ("media-selection audible language=de,en", #"{"group":"audible","language":["de","en"]}"#),
    (
      "media-selection audible principal=is-auxiliary-content characteristics=transcribes-spoken-dialog,is-auxiliary-content",
      #"{"group":"audible","principal":["is-auxiliary-content"],"characteristics":["transcribes-spoken-dialog","is-auxiliary-content"]}"#
    ),
    (
      "session.category playback options=mixWithOthers,duckOthers",
      #"{"category":"playback","options":["mixWithOthers","duckOthers"]}"#
    ),
    ("output.set preferred=a,b", #"{"preferred":["a","b"]}"#), ("output.set preferred=", #"{"preferred":[]}"#),
    (
      #"load http://a/b header="A: 1\nB: 2" interface=eth0,wlan0"#,
      #"{"paths":["http://a/b"],"header":["A: 1","B: 2"],"interface":["eth0","wlan0"]}"#
    ),
    // Without a value.
    ("seek 5", #"{"time":5,"before":null,"item":null,"fast":null}"#), ("pause", #"{"player":null}"#),
    ("asset.cancel 3", #"{"id":3,"keys":null}"#), ("end-action", #"{"action":null}"#),
    ("item.end-time 2 forward=none", #"{"id":2,"forward":null}"#),
    ("item.select 2 audio=none", #"{"id":2,"audio":null}"#),
    ("session.policy timeout=none", #"{"timeout":null}"#),
  ])
  func jsonAndTextFormParseToTheSameCommand(words: String, params: String) throws {
    let method = String(words.prefix { $0 != " " })
    let request = try Lines.request(Self.line(method, params))
    #expect(request.arguments == (try Lines.arguments(words)))
    #expect(request.address == ReplyAddress(form: .json, id: .jsonNumber("1")))
  }

  @Test func decimalTimeIsParsedExactly() throws {
    let arguments = try Lines.arguments(Self.line("seek", #"{"time":0.1}"#), of: SeekCommand.self)
    #expect(try arguments.seek().target == .time(.absolute(MediaTime(value: 1, timescale: 10))))
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, RequestID.jsonNumber("7")),
    (#"{"jsonrpc":"2.0","id":-1.50e2,"method":"ping"}"#, .jsonNumber("-1.50e2")),
    (
      #"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}"#,
      .jsonNumber("123456789012345678901234567890")
    ),
    (#"{"method":"ping","id":"a\u00e9\"","jsonrpc":"2.0","extra":[1]}"#, .jsonString("aé\"")),
    (#"{"jsonrpc":"2.0","id":"","method":"ping"}"#, .jsonString("")),
    (#" {"jsonrpc":"2.0","id":null,"method":"ping"} "#, .jsonNull),
    (#"{"jsonrpc":"2.0","method":"ping"}"#, .none),
  ])
  func requestIDsAreKeptVerbatim(line: String, id: RequestID) throws {
    let address = try Lines.request(line).address
    #expect(address == ReplyAddress(form: .json, id: id))
    #expect(address.expectsReply == (id != .none))
    #expect(address.hasID == (id != .none && id != .jsonNull))
  }

  @Test(arguments: [
    ("{", -32_700, RequestID.jsonNull), (#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, -32_700, .jsonNull),
    ("{}", -32_600, .jsonNull), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32_600, .jsonNumber("1")),
    (#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32_600, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1}"#, -32_600, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32_600, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, -32_600, .jsonNull),
    (#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32_600, .jsonNull),
    (#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"play"}"#, -32_600, .jsonNumber("1")),
    ("[]", -32_600, .jsonNull),
    (#"{"jsonrpc":"2.0","id":1,"method":"nosuch"}"#, -32_601, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek"}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":1}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":5,"time":6}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":[5]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":null}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":5,"fast":"true"}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":-5}}"#, 1002, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":1e999}}"#, 1002, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"seek","params":{"time":"soon"}}"#, 1002, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"remove","params":{"ids":null}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"remove","params":{"ids":[null]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"waveform","params":{"path":"/a","bits":7}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"waveform","params":{"path":"/a","bits":8.0}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"output.set","params":{"preferred":["a,b"]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"output.set","params":{"preferred":[1]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"output.set","params":{"lost":["null"]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"remove","params":{"ids":[]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"remove","params":{"ids":["1"]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"remove","params":{"ids":[1.5]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":[["/a"]]}}"#, -32_602, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":["ftp://a/b"]}}"#, 2007, .jsonNumber("1")),
    (#"{"jsonrpc":"2.0","method":"nosuch"}"#, -32_601, .none),
  ])
  func invalidRequestsAreRejectedWithJSONRPCCodes(line: String, code: Int, id: RequestID) throws {
    let rejection = try Lines.rejection(line)
    #expect(rejection.error.jsonCode == code, "\(rejection.error)")
    #expect(rejection.address == ReplyAddress(form: .json, id: id))
  }

  @Test func lineThatIsNotUTF8IsAParseError() throws {
    let rejection = try Lines.rejection(Array(#"{"a":""#.utf8) + [0xFF] + Array("\"}".utf8))
    #expect(rejection.error.jsonCode == -32_700)
    #expect(rejection.error.error.code == .invalidUTF8)
  }

  @Test func idLongerThan64CharactersIsRejected() throws {
    #expect(throws: Never.self) {
      try Lines.request(#"{"jsonrpc":"2.0","id":"\#(String(repeating: "x", count: 64))","method":"ping"}"#)
    }
    let rejection = try Lines.rejection(
      #"{"jsonrpc":"2.0","id":"\#(String(repeating: "x", count: 65))","method":"ping"}"#)
    #expect(rejection.error.jsonCode == -32_600)
  }

  @Test(arguments: [
    ("9", RequestID.jsonNumber("9")), ("1.50e2", .jsonNumber("1.50e2")), (#""9""#, .jsonString("9")),
    (#""a \u00e9\n""#, .jsonString("a \u{E9}\n")),
  ])
  func cancelKeepsTheRequestIDVerbatim(json: String, id: RequestID) throws {
    let request = try Lines.request(Self.line("cancel", #"{"id":\#(json)}"#))
    #expect(request.name == CancelCommand.name && Arguments<CancelCommand>(parsed: request.arguments).id == id)
  }

  @Test(arguments: ["true", "null", "[9]", "{}"])
  func cancelRejectsAnInvalidRequestID(json: String) throws {
    #expect(try Lines.rejection(Self.line("cancel", #"{"id":\#(json)}"#)).error.jsonCode == -32_602)
  }

  @Test func batchRepliesAreEncodedTogetherInCompletionOrder() throws {
    let line =
      #"[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","method":"play"},{"jsonrpc":"2.0","id":"b","method":"nosuch"}]"#
    guard case .batch(let members) = Lines.parse(line) else { throw Unexpected("no batch") }
    try #require(members.count == 4)
    var batch = BatchReply(memberCount: members.count)
    for (index, member) in members.enumerated().reversed() {
      switch member {
      case .request(let request): #expect(batch.add(.ok, for: request.address) == (index == 0))
      case .rejected(let rejection): #expect(batch.add(rejection.reply, for: rejection.address) == (index == 0))
      }
    }
    let text = Lines.text { batch.encode(into: &$0) }
    let value = try JSONValue(parsing: Array(text.utf8).span)
    guard case .array(let replies) = value else { throw Unexpected(text) }
    #expect(replies.map { $0["id"] } == [.string("b"), .null, .number("1")])
    #expect(replies.map { $0["error"]?["code"] } == [.number("-32601"), .number("-32600"), nil])
    #expect(text.hasSuffix("]\n") && text.filter { $0 == "\n" }.count == 1)
  }

  @Test func batchOfNotificationsHasNoReply() throws {
    guard case .batch(let members) = Lines.parse(#"[{"jsonrpc":"2.0","method":"play"},{"jsonrpc":"2.0","method":"x"}]"#)
    else {
      throw Unexpected("no batch")
    }
    var batch = BatchReply(memberCount: 2)
    for member in members {
      switch member {
      case .request(let request): _ = batch.add(.ok, for: request.address)
      case .rejected(let rejection): _ = batch.add(rejection.reply, for: rejection.address)
      }
    }
    #expect(batch.outstandingCount == 0)
    #expect(Lines.text { batch.encode(into: &$0) }.isEmpty)
  }

  @Test func batchOfMoreThan1024MembersIsRejected() throws {
    let member = #"{"jsonrpc":"2.0","method":"ping"}"#
    let batch = { (count: Int) in "[" + Array(repeating: member, count: count).joined(separator: ",") + "]" }
    guard case .batch(let members) = Lines.parse(batch(1_024)) else { throw Unexpected("no batch") }
    #expect(members.count == 1_024)
    #expect(try Lines.rejection(batch(1_025)).error.jsonCode == -32_600)
  }
}
