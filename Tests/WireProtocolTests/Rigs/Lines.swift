import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// Functions for tests with lines.
enum Lines {
  static func parse(_ line: String) -> ParsedLine { parse(Array(line.utf8)) }

  static func parse(_ line: [UInt8]) -> ParsedLine {
    var parser = RequestParser()
    return parser.parse(line.span)
  }

  /// The arguments of a valid line.
  static func arguments(_ line: String, _ location: SourceLocation = #_sourceLocation) throws -> ParsedArguments {
    try request(line, location).arguments
  }

  /// The arguments of a valid line for one command.
  static func arguments<C: Command>(
    _ line: String, of _: C.Type, _ location: SourceLocation = #_sourceLocation
  ) throws -> Arguments<C> {
    let request = try request(line, location)
    guard request.name == C.name else { throw Unexpected("\(request)") }
    return Arguments(parsed: request.arguments)
  }

  static func request(_ line: String, _ location: SourceLocation = #_sourceLocation) throws -> Request {
    let outcome = parse(line)
    guard case .request(let request) = outcome else {
      throw Unexpected("\(line) became \(outcome)")
    }
    return request
  }

  /// The rejection of an invalid line.
  static func rejection(_ line: [UInt8]) throws -> Rejection {
    guard case .rejected(let rejection) = parse(line) else {
      throw Unexpected("\(String(decoding: line, as: UTF8.self)) was accepted")
    }
    return rejection
  }

  static func rejection(_ line: String) throws -> Rejection { try rejection(Array(line.utf8)) }

  /// All outcomes of a reader for bytes that arrive in chunks of these sizes, repeated cyclically.
  static func incoming(_ bytes: [UInt8], chunks sizes: [Int], limits: WireLimits = .standard) -> [RequestReader
    .Incoming]
  {
    var reader = RequestReader(limits: limits)
    var result: [RequestReader.Incoming] = []
    var start = 0
    var turn = 0
    while start < bytes.count {
      let end = min(bytes.count, start + sizes[turn % sizes.count])
      turn += 1
      let chunk = Array(bytes[start..<end])
      var offset = 0
      while let next = reader.next(in: chunk.span, at: &offset) { result.append(next) }
      start = end
    }
    return result
  }

  static func text(_ write: (inout [UInt8]) -> Void) -> String {
    var buffer: [UInt8] = []
    write(&buffer)
    return String(decoding: buffer, as: UTF8.self)
  }
}

struct Unexpected: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// SplitMix64: the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
