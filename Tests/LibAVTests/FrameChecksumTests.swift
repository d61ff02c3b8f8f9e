import MediaTesting
import Testing

@testable import PlayheadLibAV

@Suite struct FrameChecksumTests {
  /// RFC 9639's polynomial, bit by bit.
  private static func checksum(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(UInt16(0)) { remainder, byte in
      (0..<8).reduce(remainder ^ UInt16(byte) << 8) { value, _ in value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x8005
      }
    }
  }

  @Test func checksumAcceptsAnIntactFrameAndRejectsAFlippedBit() {
    var generator = SeededGenerator(seed: 7)
    for count in Array(0...400) + [4_096, 8_191, 70_000] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let sum = Self.checksum(bytes)
      var frame = bytes + [UInt8(sum >> 8), UInt8(sum & 255)]
      #expect(frame.withUnsafeBufferPointer { FrameChecksum.isValid($0) }, "\(count) bytes")
      frame[Int.random(in: frame.indices, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      #expect(!frame.withUnsafeBufferPointer { FrameChecksum.isValid($0) }, "\(count) bytes, one of them wrong")
    }
  }
}
