import PlayheadMediaCore
import Testing

@testable import PlayheadWireProtocol

/// The replies of the commands about the queue, in the order of their fields.
@Suite struct QueueReplyTests {
  private static func lines(_ reply: some ReplyFields) -> [String] {
    Lines.text { Reply(reply).encode(to: .words, into: &$0) }.split(separator: "\n").map(String.init)
  }

  private static let applied = QueueEditOutcome(.applied(items: IntegerList([4, 5]), version: 7))
  private static let appliedWithoutEntries = QueueEditOutcome(.applied(items: IntegerList(), version: 7))
  private static let collected = QueueEditOutcome(.collected(count: 3))

  @Test func editWithNewEntriesReturnsTheirIDs() {
    #expect(Self.lines(ExpandedEntriesReply(Self.applied)) == ["ok items=4,5 version=7"])
    #expect(Self.lines(NewEntriesReply(Self.applied)) == ["ok items=4,5 version=7"])
    #expect(Self.lines(CommittedReply(Self.applied)) == ["ok items=4,5 version=7"])
  }

  @Test func editWithoutNewEntriesReturnsTheVersion() {
    #expect(Self.lines(NewEntriesReply(Self.appliedWithoutEntries)) == ["ok version=7"])
    #expect(Self.lines(ChangedQueueReply(Self.appliedWithoutEntries)) == ["ok version=7"])
    #expect(Self.lines(CommittedReply(Self.appliedWithoutEntries)) == ["ok version=7"])
  }

  @Test func collectedEditReturnsOnlyTheNumberOfEdits() {
    #expect(Self.lines(ExpandedEntriesReply(Self.collected)) == ["ok pending=3"])
    #expect(Self.lines(NewEntriesReply(Self.collected)) == ["ok pending=3"])
    #expect(Self.lines(ChangedQueueReply(Self.collected)) == ["ok pending=3"])
  }

  @Test func skippedEntriesOfPlaylistsAreRows() {
    var outcome = Self.applied
    outcome.skippedCount = 2
    outcome.skippedEntries = [SkippedEntry(line: 9, error: MediaError(.unsupportedLocation, "no"))]
    #expect(
      Self.lines(ExpandedEntriesReply(outcome)) == [
        "| line=9 code=2007 name=unsupported-location message=no", "ok items=4,5 version=7 skipped=2",
      ])
  }

  @Test func changesOfTheQueueHaveTheFieldsOfTheirKind() throws {
    let path = try FilePath(text: "/a")
    let rows: [QueueChangesCommand.Row] = [
      .init(version: 1, .insert(item: 4, index: 2, path: path)),
      .init(version: 2, .insert(item: 5, index: 0, path: nil)),
      .init(version: 3, .insert(item: 6, index: 0, path: .some(nil))), .init(version: 4, .remove(item: 4, index: 2)),
      .init(version: 5, .move(item: 6, from: 0, to: 1)), .init(version: 6, .rotate(count: 1)),
    ]
    #expect(
      Self.lines(QueueChangesCommand.Reply(version: 6, changes: rows)) == [
        "| version=1 op=insert item=4 index=2 path=/a", "| version=2 op=insert item=5 index=0",
        "| version=3 op=insert item=6 index=0 path=none", "| version=4 op=remove item=4 index=2",
        "| version=5 op=move item=6 from=0 index=1", "| version=6 op=rotate count=1",
        "ok version=6 count=6 whole=false",
      ])
    #expect(Self.lines(QueueChangesCommand.Reply(version: 6, changes: nil)) == ["ok version=6 count=0 whole=true"])
  }

  @Test func rowOfTheQueueOmitsUnknownTexts() throws {
    let rows: [ListCommand.Row] = [
      .init(
        item: 1, index: 0, path: try FilePath(text: "/a"), status: "readyToPlay", duration: .zero, title: "T",
        artist: "A", album: "B",
        range: TimeRange(
          start: MediaTime(value: 1, timescale: 1), end: MediaTime(value: 2, timescale: 1)), error: nil),
      .init(
        item: 2, index: 1, path: nil, status: "failed", duration: .indefinite, title: nil, artist: nil, album: nil,
        range: nil, error: MediaError(.fileNotFound, "no")),
    ]
    #expect(
      Self.lines(ListCommand.Reply(count: 2, version: 1, next: nil, rows: rows)) == [
        "| item=1 index=0 path=/a status=readyToPlay duration=0 current=true title=T artist=A album=B range=1-2",
        "| item=2 index=1 path=none status=failed duration=indefinite current=false error=file-not-found",
        "ok count=2 version=1 next=none",
      ])
  }

  @Test func otherRepliesHaveNoneForMissingValues() {
    #expect(Self.lines(CurrentEntryReply(item: nil, version: 3)) == ["ok item=none version=3"])
    #expect(Self.lines(ShuffleCommand.Reply(seed: nil, version: 3)) == ["ok shuffle=off version=3"])
    #expect(Self.lines(ShuffleCommand.Reply(seed: 42, version: 3)) == ["ok shuffle=on seed=42 version=3"])
    #expect(
      Self.lines(
        PlaylistExportCommand.Reply(count: 2, version: 1, next: 1, skipped: 1, rows: [.init(text: "#EXTM3U")]))
        == ["| text=#EXTM3U", "ok count=2 version=1 next=1 skipped=1"])
  }
}
