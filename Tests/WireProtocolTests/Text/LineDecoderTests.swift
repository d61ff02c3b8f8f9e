import Testing

@testable import PlayheadWireProtocol

@Suite struct LineDecoderTests {
  private enum Outcome: Equatable {
    case line(String)
    case tooLong(beginning: String)
    case close
  }

  private static var small: WireLimits {
    var limits = WireLimits()
    limits.lineByteCount = 8
    limits.unterminatedByteCount = 20
    return limits
  }

  private static func decode(_ bytes: [UInt8], chunk size: Int, limits: WireLimits) -> (
    outcomes: [Outcome], pending: Int
  ) {
    var decoder = LineDecoder(limits: limits)
    var outcomes: [Outcome] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      let chunk = Array(bytes[start..<min(bytes.count, start + size)])
      var offset = 0
      while let element = decoder.next(in: chunk.span, at: &offset) {
        switch element {
        case .line(let range): outcomes.append(.line(String(decoding: chunk[range], as: UTF8.self)))
        case .assembledLine: outcomes.append(.line(String(decoding: decoder.assembled, as: UTF8.self)))
        case .tooLong: outcomes.append(.tooLong(beginning: String(decoding: decoder.assembled, as: UTF8.self)))
        case .closeConnection: outcomes.append(.close)
        }
      }
    }
    return (outcomes, decoder.pendingByteCount)
  }

  private static func decode(_ text: String, limits: WireLimits = small) throws -> (outcomes: [Outcome], pending: Int) {
    let bytes = Array(text.utf8)
    let whole = decode(bytes, chunk: max(1, bytes.count), limits: limits)
    for size in 1...max(1, bytes.count) {
      let chunked = decode(bytes, chunk: size, limits: limits)
      try #require(chunked.outcomes == whole.outcomes, "chunks of \(size)")
    }
    return whole
  }

  @Test func linesEndAtALineFeedWithoutOnePrecedingCarriageReturn() throws {
    #expect(try Self.decode("a\nb\r\n\n\r\nc\r\r\n").outcomes == ["a", "b", "", "", "c\r"].map { .line($0) })
  }

  @Test func onlyALineFeedEndsALine() throws {
    let text = "a\rb\u{0B}\u{0C}\u{0}\u{85}"
    #expect(try Self.decode(text + "\n").outcomes == [.line(text)])
  }

  @Test func bytesAfterTheLastLineFeedStayPending() throws {
    #expect(try Self.decode("one\ntwo").outcomes == [.line("one")])
    #expect(Self.decode(Array("one\ntwo".utf8), chunk: 7, limits: .standard).pending == 3)
  }

  @Test func lineOfExactlyTheLimitIsAccepted() throws {
    #expect(try Self.decode("12345678\nx\n").outcomes == [.line("12345678"), .line("x")])
  }

  @Test func overlongLineIsReportedOnceAndDecodingContinuesAfterIt() throws {
    #expect(try Self.decode("123456789\nx\n").outcomes == [.tooLong(beginning: "123456789"), .line("x")])
    let outcomes = try Self.decode("a\n123456789abcdefghij\nb\nABCDEFGHIJKLM\r\n\n").outcomes
    #expect(outcomes.count == 5)
    #expect(outcomes.filter { if case .tooLong = $0 { true } else { false } }.count == 2)
    #expect(outcomes.last == .line(""))
  }

  @Test func connectionClosesAfterTooManyBytesWithoutALineFeed() throws {
    #expect(try Self.decode("12345678901234567890\nx\n").outcomes.last == .line("x"))
    let outcomes = try Self.decode("123456789012345678901\nx\n").outcomes
    #expect(outcomes.count == 2)
    #expect(outcomes.last == .close)
  }

  @Test func standardLimitsApplyExactly() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)
    for (bytes, expected) in [(long + [10], 1), (long + [120, 10], 1)] {
      for size in [bytes.count, 4_096, 7] {
        let outcomes = Self.decode(bytes + Array("y\n".utf8), chunk: size, limits: .standard).outcomes
        #expect(outcomes.count == expected + 1)
        #expect(outcomes.last == .line("y"))
        if case .line = outcomes[0] { #expect(bytes.count == 65_537) } else { #expect(bytes.count == 65_538) }
      }
    }
    let endless = [UInt8](repeating: 0, count: 1_048_577)
    #expect(Self.decode(endless, chunk: 50_000, limits: .standard).outcomes.last == .close)
    #expect(Self.decode(endless.dropLast() + [10], chunk: 50_000, limits: .standard).outcomes.count == 1)
  }

  @Test func memoryIsBoundedDuringAnEndlessLine() {
    var decoder = LineDecoder()
    let chunk = [UInt8](repeating: UInt8(ascii: "z"), count: 1_000)
    for _ in 0..<2_000 {
      var offset = 0
      while decoder.next(in: chunk.span, at: &offset) != nil {}
      #expect(offset == chunk.count)
      #expect(decoder.pendingByteCount <= 65_536)
      #expect(decoder.assembled.count <= LineDecoder.beginningByteCount)
    }
  }

  @Test func decodingCanStopInTheMiddleOfAChunk() {
    var decoder = LineDecoder()
    let chunk = Array("one\ntwo\nthree\n".utf8)
    var offset = 0
    #expect(decoder.next(in: chunk.span, at: &offset) == .line(0..<3))
    #expect(offset == 4)
    let rest = Array(chunk[offset...])
    offset = 0
    #expect(decoder.next(in: rest.span, at: &offset) == .line(0..<3))
    #expect(decoder.next(in: rest.span, at: &offset) == .line(4..<9))
    #expect(decoder.next(in: rest.span, at: &offset) == nil)
  }

  @Test func chunkSizeDoesNotChangeTheLinesOfRandomStreams() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 1...80, using: &generator)).map { _ in
        Bool.random(using: &generator) ? UInt8(ascii: "a") : [10, 13, 0, 255].randomElement(using: &generator) ?? 0
      }
      let whole = Self.decode(bytes, chunk: bytes.count, limits: Self.small)
      let size = Int.random(in: 1...bytes.count, using: &generator)
      #expect(Self.decode(bytes, chunk: size, limits: Self.small).outcomes == whole.outcomes)
    }
  }
}
