import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadWireProtocol
import Testing

@Suite struct SeekReasonTests {
  @Test func protocolNamesEveryReasonOfAnUnfinishedSeek() throws {
    let details = try #require(CommandTable.spec(SeekCommand.name)).details
    // `durationUnknown` is reported as an error, because the time is invalid in that item.
    for reason in SeekResult.UnfinishedReason.allCases where reason != .durationUnknown {
      #expect(details.contains("`\(reason.rawValue)`"))
    }
  }
}
