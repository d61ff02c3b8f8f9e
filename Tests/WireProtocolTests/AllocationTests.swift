import MediaCore
import MediaTesting
import Testing

@testable import WireProtocol

/// What reading a line takes: bytes asked for in all and held at once, its request included, by a parser that has no memory yet that it
/// could give back meanwhile.
///
/// What is asked for in all is looked at in an optimized build (`scripts/bench parse`); what is held at once in any.
@Suite struct AllocationTests {
  /// The limit of a line.
  private static let full = WireLimits.standard.lineByteCount

  /// A line of the piece, over and over, between these.
  private static func line(_ head: String, _ piece: String, _ tail: String = "", byteCount: Int) -> [UInt8] {
    let room = byteCount - head.utf8.count - tail.utf8.count
    var text = head
    for _ in 0..<max(1, room / piece.utf8.count) { text += piece }
    // JSON has no comma behind the last element.
    if piece.hasSuffix(",") { text.removeLast() }
    return Array((text + tail).utf8)
  }

  private static func json(_ method: String, _ name: String, _ piece: String, byteCount: Int) -> [UInt8] {
    line(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"\#(name)":["#, piece, "]}}", byteCount: byteCount)
  }

  /// The shapes: what the line is called, and how it is made in so many bytes.
  private static let shapes: [(name: String, make: @Sendable (Int) -> [UInt8])] = [
    ("one long path", { line("load /", "a", byteCount: $0) }),
    ("one long quoted path", { line("load \"/", "a b", "\"", byteCount: $0) }),
    ("one path of escapes", { line("load \"/", "\\x41", "\"", byteCount: $0) }),
    ("the shortest paths", { line("load ", "/ ", byteCount: $0) }),
    ("tiny paths", { line("append ", "/a ", byteCount: $0) }),
    ("tiny quoted paths", { line("append ", "'/' ", byteCount: $0) }),
    ("paths of 16 bytes", { line("append ", "/0123456789abcde ", byteCount: $0) }),
    ("lists of media", { line("append ", "/a.m3u ", byteCount: $0) }),
    ("tiny URLs of files", { line("append ", "file:///%61 ", byteCount: $0) }),
    ("tiny addresses", { line("append ", "http://a ", byteCount: $0) }),
    ("tiny ids", { line("remove ", "1 ", byteCount: $0) }),
    ("long ids", { line("remove ", "0000000000000000017 ", byteCount: $0) }),
    ("tiny times", { line("at ", "1 ", byteCount: $0) }),
    ("times of a clock", { line("at ", "1:2 ", byteCount: $0) }),
    ("fractions", { line("at ", "1/3 ", byteCount: $0) }),
    ("long times", { line("at ", "1.00000000000000001 ", byteCount: $0) }),
    ("tiny keys", { line("observe ", "* ", byteCount: $0) }),
    ("long keys", { line("observe ", "player.timeControlStatus ", byteCount: $0) }),
    ("conditions", { line("wait ", "ended ", byteCount: $0) }),
    ("conditions of time", { line("wait ", "time>=1 ", byteCount: $0) }),
    ("players", { line("play-at now ", "a ", byteCount: $0) }),
    ("values of an asset", { line("asset.load 1 ", "tracks ", byteCount: $0) }),
    ("edits that clear", { line("queue.edit ", "clear ", byteCount: $0) }),
    ("edits with ids", { line("queue.edit ", "\"remove 1\" ", byteCount: $0) }),
    ("edits with an option", { line("queue.edit ", "'move 5 to=0' ", byteCount: $0) }),
    ("edits with a path", { line("queue.edit ", "\"append /a\" ", byteCount: $0) }),
    ("one edit with a long path", { line("queue.edit \"append '/", "a", "'\"", byteCount: $0) }),
    ("one edit with tiny paths", { line("queue.edit \"append ", "/ ", "\"", byteCount: $0) }),
    ("header fields", { line("load /a header=\"", "a:\\n", "\"", byteCount: min($0, 16_000)) }),
    ("a header", { line("load /a header=a:", "b", byteCount: min($0, 16_000)) }),
    ("languages", { line("asset.metadata 1 language=", "a,", byteCount: min($0, 1_000)) }),
    ("a long number", { line("rate 1.", "0", byteCount: $0) }),
    (
      "JSON: one long path", { json("load", "paths", #""/\#(String(repeating: "a", count: $0 - 80))""#, byteCount: $0) }
    ),
    (
      "JSON: escapes",
      { line(#"{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":["/"#, #"\u0041"#, #""]}}"#, byteCount: $0) }
    ),
    ("JSON: tiny paths", { json("load", "paths", #""/","#, byteCount: $0) }),
    ("JSON: tiny ids", { json("remove", "ids", "1,", byteCount: $0) }),
    ("JSON: tiny times", { json("at", "times", "1,", byteCount: $0) }),
    ("JSON: edits as objects", { json("queue.edit", "ops", #"{"method":"clear"},"#, byteCount: $0) }),
    (
      "JSON: edits with parameters",
      { json("queue.edit", "ops", #"{"method":"remove","params":{"ids":[1]}},"#, byteCount: $0) }
    ),
    ("JSON: edits as texts", { json("queue.edit", "ops", #""remove 1","#, byteCount: $0) }),
    ("JSON: empty lists", { line(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":["#, "[],", "]}", byteCount: $0) }),
    ("JSON: a batch", { line("[", #"{"jsonrpc":"2.0","id":1,"method":"ping"},"#, "]", byteCount: min($0, 40_000)) }),
    ("words that are too many", { line("ping ", "a ", byteCount: $0) }),
    ("no command", { line("", "a", byteCount: $0) }),
    ("an open quote", { line("load '", "a ", byteCount: $0) }),
  ]

  /// Whether this is built as the daemon is when it is released.
  private static let isOptimized: Bool = {
    var isOptimized = true
    assert(
      {
        isOptimized = false
        return true
      }())
    return isOptimized
  }()

  /// The shapes that are no request.
  private static let refused: Set<String> = [
    "JSON: empty lists", "words that are too many", "no command", "an open quote",
  ]

  /// The shapes that are no request above a size: of paths, keys and conditions a command takes only so much.
  private static let refusedBeyondALimit: Set<String> = [
    "one long path", "one long quoted path", "one path of escapes", "one edit with a long path", "JSON: one long path",
    "JSON: escapes", "tiny keys", "long keys", "conditions", "conditions of time", "values of an asset",
  ]

  private static func isRefused(_ line: [UInt8]) -> Bool {
    var parser = RequestParser()
    if case .rejected = parser.parse(line.span) { return true }
    return false
  }

  private static func measure(_ line: [UInt8]) -> AllocationProbe.Counts {
    var parser = RequestParser()
    var outcome = ParsedLine.blank
    let counts = AllocationProbe.count {
      outcome = parser.parse(line.span)
      // The members of a batch are read one by one.
      if case .batch(let members) = outcome { for _ in members {} }
    }
    withExtendedLifetime((parser, outcome)) {}
    return counts
  }

  /// Has the tables made that all parsers share.
  private static func warmUp() { for (_, make) in shapes { _ = measure(make(200)) } }

  /// What a line may take besides: buffers that a first value of a kind needs, and an error's text.
  private static let allowance = 2_048

  @Test(.enabled(if: AllocationProbe.isAvailable))
  func aLineTakesNoMoreThanFourTimesItself() {
    var rows = ["bytes | allocated | ratio | held at once | shape"]
    Self.warmUp()
    for (name, make) in Self.shapes {
      var before: (lineByteCount: Int, byteCount: Int)?
      for byteCount in [1_024, Self.full / 4, Self.full] {
        let line = make(byteCount)
        if !Self.refusedBeyondALimit.contains(name) {
          #expect(Self.isRefused(line) == Self.refused.contains(name), "\(name), \(byteCount)")
        }
        let counts = Self.measure(line)
        let ratio = Double(counts.byteCount) / Double(line.count)
        rows.append(
          "\(line.count) | \(counts.byteCount) | \((ratio * 100).rounded() / 100) | \(counts.peakByteCount) | \(name)")
        #expect(counts.peakByteCount <= 4 * line.count + Self.allowance, "\(rows.last ?? "")")
        // Without optimization, what is generic makes boxes of its own.
        if Self.isOptimized { #expect(counts.byteCount <= 4 * line.count + Self.allowance, "\(rows.last ?? "")") }
        // Of so many times the line, so many times as much.
        if let before, line.count > before.lineByteCount {
          let growth = Double(line.count) / Double(before.lineByteCount)
          #expect(
            Double(counts.byteCount) <= Double(before.byteCount) * growth * 1.2 + Double(Self.allowance),
            "\(rows.last ?? "")")
        }
        before = (line.count, counts.byteCount)
      }
    }
    print(rows.joined(separator: "\n"))
  }
}
