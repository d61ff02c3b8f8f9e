import Testing

@testable import PlayheadLibAV

@Suite struct FormatSignatureTests {
  private let signature: [UInt8] = Array("fLaC".utf8) + [0x00, 0, 0, 34]

  @Test func streamInfoAsTheFirstBlockIsRecognizedAsFLAC() {
    #expect(FormatSignature.isFLAC(signature))
    // The only block before the audio.
    var last = signature
    last[4] = 0x80
    #expect(FormatSignature.isFLAC(last))
  }

  @Test(arguments: 0..<8) func anyDifferentByteIsNotRecognizedAsFLAC(_ index: Int) {
    var bytes = signature
    bytes[index] ^= 0x41
    #expect(!FormatSignature.isFLAC(bytes))
  }

  @Test(arguments: 0..<8) func fewerThanEightBytesAreNotRecognizedAsFLAC(_ count: Int) {
    #expect(!FormatSignature.isFLAC(Array(signature.prefix(count))))
  }
}
