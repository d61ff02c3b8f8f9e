import Playback
import Testing
import WireProtocol

@Suite struct SeekReasonTests {
  @Test func theProtocolNamesEveryReason() throws {
    let details = try #require(CommandTable.spec(.seek)).details
    // Answered as an error: the place makes no sense in that item.
    for reason in SeekResult.UnfinishedReason.allCases where reason != .durationUnknown {
      #expect(details.contains("`\(reason.rawValue)`"))
    }
  }
}
