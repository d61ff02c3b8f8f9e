import Testing

@testable import PlayheadIsolation

/// Encoding and decoding of messages, including hostile bytes.
@Suite struct MessageCoderTests {
  enum Choice: Codable, Equatable {
    case plain
    case number(Int)
    case optional(Int?)
    case pair(name: String, bytes: [UInt8])
  }

  enum Word: String, Codable { case a, b }

  struct Everything: Codable, Equatable {
    var integer = -5
    var small: Int8? = -1
    var byte: UInt8 = 255
    var short: UInt16 = 65_535
    var large: UInt64? = .max
    var missing: String?
    var text: String? = "Größe \u{1F3B5}\0"
    var choices: [Choice] = [.plain, .number(3), .optional(nil), .optional(4), .pair(name: "x", bytes: [1, 2])]
    var word: Word? = .b
    var words: Set<Word> = [.a, .b]
    var double = Double.infinity
    var float: Float? = -0.5
    var bytes: [UInt8] = [9, 8, 7]
    var nested: [[Int64]] = [[1], [], [2, 3]]
    var flag: Bool? = true
  }

  @Test func decodedValuesEqualTheEncodedOnes() throws {
    let value = Everything()
    let bytes = MessageEncoder.bytes(of: value)
    #expect(try MessageDecoder.value(Everything.self, from: bytes) == value)
    #expect(try MessageDecoder.value(Everything.self, from: [0, 0] + bytes, at: 2) == value)
  }

  @Test func truncatedOrTooLongMessagesAreMalformed() {
    let bytes = MessageEncoder.bytes(of: Everything())
    for count in bytes.indices {
      #expect(throws: MalformedMessage.self) {
        try MessageDecoder.value(Everything.self, from: Array(bytes.prefix(count)))
      }
    }
    #expect(throws: MalformedMessage.self) { try MessageDecoder.value(Everything.self, from: bytes + [0]) }
  }

  @Test func noWrongByteTrapsTheDecoder() {
    let bytes = MessageEncoder.bytes(of: Everything())
    var malformedCount = 0
    for index in bytes.indices {
      for wrong in [0, 1, 2, 0x7F, 0x80, 0xFF] as [UInt8] {
        var other = bytes
        other[index] = wrong
        if (try? MessageDecoder.value(Everything.self, from: other)) == nil { malformedCount += 1 }
      }
    }
    #expect(malformedCount > bytes.count)
  }

  @Test func countBeyondTheRemainingBytesIsMalformed() throws {
    func value<Value: Decodable>(_ type: Value.Type, _ count: Int, _ rest: [UInt8]) throws -> Value {
      try MessageDecoder.value(type, from: MessageEncoder.bytes(of: count) + rest)
    }
    // A count of all remaining bytes is valid.
    #expect(try value([UInt8].self, 3, [7, 8, 9]) == [7, 8, 9])
    #expect(try value(String.self, 3, Array("abc".utf8)) == "abc")
    #expect(try value([Bool].self, 3, [1, 0, 1]) == [true, false, true])
    #expect(try value([String: String].self, 0, []).isEmpty)
    for count in [4, 1 << 40, .max, -1, .min] as [Int] {
      #expect(throws: MalformedMessage.self, "\(count)") { try value([UInt8].self, count, [7, 8, 9]) }
      #expect(throws: MalformedMessage.self, "\(count)") { try value(String.self, count, Array("abc".utf8)) }
      #expect(throws: MalformedMessage.self, "\(count)") { try value([Bool].self, count, [1, 0, 1]) }
      #expect(throws: MalformedMessage.self, "\(count)") { try value([Int].self, count, [1, 0, 1]) }
      #expect(throws: MalformedMessage.self, "\(count)") { try value([String: String].self, count, [0, 0, 0]) }
    }
  }
}
