import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// The memory used to parse a line with its request: total bytes allocated and peak bytes. The parser is new, so that
/// it cannot release earlier memory meanwhile.
///
/// The total is checked in optimized builds only (`scripts/bench parse`), the peak in all builds.
@Suite struct AllocationTests {
  /// The maximum length of a line.
  private static let maximumByteCount = WireLimits.standard.lineByteCount

  /// A line that repeats `element` between a head and a tail.
  private static func line(_ head: String, _ element: String, _ tail: String = "", byteCount: Int) -> [UInt8] {
    let room = byteCount - head.utf8.count - tail.utf8.count
    var text = head
    for _ in 0..<max(1, room / element.utf8.count) { text += element }
    // JSON has no comma after the last element.
    if element.hasSuffix(",") { text.removeLast() }
    return Array((text + tail).utf8)
  }

  private static func json(_ method: String, _ name: String, _ element: String, byteCount: Int) -> [UInt8] {
    line(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"\#(name)":["#, element, "]}}", byteCount: byteCount)
  }

  /// The shapes: the name of a line, and a function that creates it with a given number of bytes.
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

  /// Whether this is an optimized build, like a release of the daemon.
  private static let isOptimized: Bool = {
    var isOptimized = true
    assert(
      {
        isOptimized = false
        return true
      }())
    return isOptimized
  }()

  /// The shapes that are not valid requests.
  private static let rejectedShapes: Set<String> = [
    "JSON: empty lists", "words that are too many", "no command", "an open quote",
  ]

  /// The shapes that are not valid requests above a size, because a command limits its paths, keys and conditions.
  private static let shapesRejectedAboveALimit: Set<String> = [
    "one long path", "one long quoted path", "one path of escapes", "one edit with a long path", "JSON: one long path",
    "JSON: escapes", "tiny keys", "long keys", "conditions", "conditions of time", "values of an asset",
  ]

  private static func isRejected(_ line: [UInt8]) -> Bool {
    var parser = RequestParser()
    if case .rejected = parser.parse(line.span) { return true }
    return false
  }

  private static func measure(_ line: [UInt8]) -> AllocationProbe.Counts {
    var parser = RequestParser()
    var outcome = ParsedLine.blank
    let counts = AllocationProbe.count {
      outcome = parser.parse(line.span)
      // The members of a batch are parsed during iteration.
      if case .batch(let members) = outcome { for _ in members {} }
    }
    withExtendedLifetime((parser, outcome)) {}
    return counts
  }

  /// Initializes the tables that all parsers share.
  private static func warmUp() { for (_, make) in shapes { _ = measure(make(200)) } }

  /// Additional permitted bytes: buffers that a first value of a kind needs, and an error's text.
  private static let allowance = 2_048

  @Test(.enabled(if: AllocationProbe.isAvailable))
  func parsingALineAllocatesAtMostFourTimesItsLength() {
    var rows = ["bytes | allocated | ratio | peak | shape"]
    Self.warmUp()
    for (name, make) in Self.shapes {
      var before: (lineByteCount: Int, byteCount: Int)?
      for byteCount in [1_024, Self.maximumByteCount / 4, Self.maximumByteCount] {
        let line = make(byteCount)
        if !Self.shapesRejectedAboveALimit.contains(name) {
          #expect(Self.isRejected(line) == Self.rejectedShapes.contains(name), "\(name), \(byteCount)")
        }
        let counts = Self.measure(line)
        let ratio = Double(counts.byteCount) / Double(line.count)
        rows.append(
          "\(line.count) | \(counts.byteCount) | \((ratio * 100).rounded() / 100) | \(counts.peakByteCount) | \(name)")
        #expect(counts.peakByteCount <= 4 * line.count + Self.allowance, "\(rows.last ?? "")")
        // Without optimization, generic code allocates additional boxes.
        if Self.isOptimized { #expect(counts.byteCount <= 4 * line.count + Self.allowance, "\(rows.last ?? "")") }
        // The allocated bytes grow at most linearly with the line.
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
