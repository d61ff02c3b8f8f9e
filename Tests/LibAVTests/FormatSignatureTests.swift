import Testing

@testable import LibAV

@Suite struct FormatSignatureTests {
  private let beginning: [UInt8] = Array("fLaC".utf8) + [0x00, 0, 0, 34]

  @Test func aStreamWithItsParametersInFrontIsFLAC() {
    #expect(FormatSignature.isFLAC(beginning))
    // The only block before the audio.
    var last = beginning
    last[4] = 0x80
    #expect(FormatSignature.isFLAC(last))
  }

  @Test(arguments: 0..<8) func anyOtherByteLeavesItToFFmpeg(_ index: Int) {
    var bytes = beginning
    bytes[index] ^= 0x41
    #expect(!FormatSignature.isFLAC(bytes))
  }

  @Test(arguments: 0..<8) func aShorterFileIsLeftToFFmpeg(_ count: Int) {
    #expect(!FormatSignature.isFLAC(Array(beginning.prefix(count))))
  }
}
