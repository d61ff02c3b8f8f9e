import DaemonTesting
import PlayheadMediaCore
import Testing

/// Invalid requests: each causes an error with a code, and changes nothing. Each case prints its row. The same for
/// users of the library: `PlaybackTests.BadInputTests`.
@Suite struct BadInputTests {
  /// A request and the code of its error. `PATH` is a file. Items 1 (current, playing) and 2 are in the queue, and item
  /// 3 was removed. Item 4 belongs to another player, and item 99 never existed. A tick had ID 1, an observation ID 2.
  typealias Case = (request: String, code: MediaError.Code)

  static let rates: [Case] =
    ["nan", "inf", "-inf", "33", "-33", "1e300", "0", "fast"].map { ("rate \($0)", .badArguments) }
    + [#"{"rate":1e999}"#, #"{"rate":-33}"#, #"{"rate":"nan"}"#].map {
      (#"{"jsonrpc":"2.0","id":1,"method":"rate","params":\#($0)}"#, .badArguments)
    }

  static let levels: [Case] =
    ["nan", "inf", "1.001", "-1.001", "left"].map { ("pan \($0)", .badArguments) }
    + ["nan", "inf", "1.001", "-1.001"].map { ("volume \($0)", .badArguments) }
    + [(#"{"jsonrpc":"2.0","id":1,"method":"pan","params":{"pan":-2}}"#, .badArguments)]

  static let times: [Case] =
    ["nan", "inf", "1/0", "1e400", "99999999999999999999"].map { ("seek \($0)", .invalidTime) }
    + [2, 3, 4, 99].flatMap { item in
      [("seek 1 item=\(item)", .noSuchItem), ("loop 0 1 item=\(item)", .noSuchItem)]
    }

  static let items: [Case] =
    [3, 4, 99].flatMap { item in
      [
        ("remove 1 \(item)", .noSuchItem), ("insert PATH after=\(item)", .noSuchItem),
        ("insert PATH before=\(item)", .noSuchItem), ("item.status \(item)", .noSuchItem),
        ("at 1 item=\(item)", .noSuchItem), ("move \(item) to=0", .noSuchItem),
        ("move 2 before=\(item)", .noSuchItem), ("replace \(item) PATH", .noSuchItem), ("jump \(item)", .noSuchItem),
        ("wait item=\(item)", .noSuchItem),
      ]
        // Commands that both get and set.
        + [
          "volume", "volume 0.5", "end-time", "end-time forward=1", "pitch", "pitch varispeed", "buffer", "buffer 1",
          "copy", "select audio=0", "tracks", "chapters", "log", "metadata", "artwork", "artwork file=/nowhere/a",
        ].map { command in
          let words = command.split(separator: " ", maxSplits: 1)
          return ("item.\(words[0]) \(item)\(words.dropFirst().map { " \($0)" }.joined())", .noSuchItem)
        }
    }
    + [
      ("remove 0", .badArguments), ("remove -0", .badArguments), ("remove -1", .noSuchItem), ("remove #9", .noSuchItem),
      ("play player=unknown", .noSuchPlayer),
    ]

  /// The queue has version 2.
  static let edits: [Case] =
    [
      "load PATH", "append PATH", "insert PATH", "insert PATH after=2", "remove 2", "move 2 to=0", "replace 1 PATH",
      "clear",
      "next", "previous", "jump 2", "shuffle on", "queue.edit \"remove 2\" clear", "queue.begin",
    ].flatMap { request in ["1", "3"].map { ("\(request) if-version=\($0)", .versionMismatch) } }
    + [("remove 2 if-version=-1", .badArguments), ("remove 2 if-version=now", .badArguments)]

  static let observers: [Case] = [
    ("untick 1", .noSuchObserver), ("untick 99", .noSuchObserver), ("unobserve 2", .noSuchObserver),
    ("unobserve 99", .noSuchObserver), ("untick 0", .badArguments), ("untick one", .badArguments),
  ]

  /// The complete state that a case could change, as reported by the daemon.
  private func snapshot(_ client: WireClient) throws -> [String] {
    try ["status", "list", "status player=other", "list player=other", "player.list"].flatMap(client.ask)
  }

  @Test(arguments: [
    ("rates", rates), ("levels", levels), ("times", times), ("items", items), ("edits", edits),
    ("observers", observers),
  ])
  func invalidInputIsRejectedWithACodeAndChangesNothing(_ kind: String, _ cases: [Case]) throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = try (1...4).map { try daemon.wave($0, frameCount: 480_000) }
    #expect(try client.reply("load \(paths[0]) \(paths[1]) \(paths[2]) wait=ready").hasPrefix("ok"))
    #expect(try client.reply("remove 3").hasPrefix("ok"))
    #expect(try client.reply("player.create other").hasPrefix("ok"))
    #expect(try client.reply("append \(paths[3]) player=other wait=ready").hasPrefix("ok"))
    #expect(try client.reply("tick 60") == "ok id=1")
    #expect(try client.reply("observe output.state").hasPrefix("ok id=2"))
    #expect(try client.reply("untick 1") == "ok")
    #expect(try client.reply("unobserve 2") == "ok")
    #expect(try client.reply("play").hasPrefix("ok"))
    #expect(try client.reply("clock.advance 0.1").hasPrefix("ok"))
    for bad in cases {
      let before = try snapshot(client)
      try client.send(bad.request.replacing("PATH", with: paths[2]))
      let reply = try client.line() ?? ""
      let after = try snapshot(client)
      print(
        "bad input, wire | \(bad.request) | on 10 s of time code, WAV by TimeCode.writeWAV | \(reply)"
          + " | \(before == after ? "nothing changed" : "CHANGED: \(before) to \(after)")")
      let number = reply.hasPrefix("{") ? #""number":\#(bad.code.rawValue),"# : "error code=\(bad.code.rawValue) "
      #expect(reply.contains(number), "\(bad.request)")
      #expect(before == after, "\(bad.request)")
      #expect(try client.reply("clock.advance 0.02").hasPrefix("ok"))
    }
    #expect(try client.reply("clear").hasPrefix("ok"))
    // The audio continued unaffected.
    #expect(try daemon.recorded() == "1[0..<\(4_800 + cases.count * 960)]")
  }
}
