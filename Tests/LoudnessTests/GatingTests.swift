import CPlayheadEbur128
import Testing

@testable import PlayheadLoudness

/// Loudness of gated blocks, and weights of channels.
@Suite struct GatingTests {
  private func loudness(_ blocks: [Double?]) -> Double? {
    var gating = GatingBlocks()
    for block in blocks { gating.add(block) }
    return gating.integratedLoudness.map { ($0 * 1_000).rounded() / 1_000 }
  }

  @Test func quietBlocksAreExcludedAsInITUBS1770() {
    #expect(loudness([]) == nil)
    #expect(loudness([nil, nil]) == nil)
    #expect(loudness([-70.1, -80]) == nil)
    #expect(loudness([-23, -23, nil, -71]) == -23)
    // Blocks more than 10 LU below the mean do not count.
    #expect(loudness([-20, -20, -34]) == -20)
    // The mean of powers: two of -20 and two of -26.
    #expect(loudness([-20, -20, -26, -26]) == -22.037)
  }

  @Test func channelsAreWeightedByTheirPositions() {
    #expect(ChannelRoles.roles(mask: nil, channelCount: 2) == [EBUR128_LEFT, EBUR128_RIGHT])
    #expect(ChannelRoles.roles(mask: nil, channelCount: 1) == [EBUR128_CENTER])
    let fivePointOne = [
      EBUR128_LEFT, EBUR128_RIGHT, EBUR128_CENTER, EBUR128_UNUSED, EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND,
    ]
    // 5.1 with back or side channels; without a mask, or with a mask of another channel count.
    for mask in [0x3F, 0x60F, nil, 0x3] as [UInt64?] {
      #expect(ChannelRoles.roles(mask: mask, channelCount: 6) == fivePointOne)
    }
    // With side channels, the back channels have the weight of the standard.
    #expect(
      ChannelRoles.roles(mask: 0x63F, channelCount: 8) == [
        EBUR128_LEFT, EBUR128_RIGHT, EBUR128_CENTER, EBUR128_UNUSED, EBUR128_Mp135, EBUR128_Mm135,
        EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND,
      ])
    #expect(ChannelRoles.roles(mask: nil, channelCount: 11) == Array(repeating: EBUR128_CENTER, count: 11))
  }
}
