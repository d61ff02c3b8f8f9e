import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import Testing

@testable import PlayheadControlServer

/// The playlist form of a queue entry. `DaemonTests.PlaylistTests` and `OpenFileTests` test it over the wire.
@Suite struct ExportedEntryTests {
  @Test func onlyEntriesWithAPathOrURLAreExported() throws {
    let assets = [
      Asset(path: "/music/a.flac"), try Asset(url: "http://me:secret@h/a.flac"), Asset(data: [1, 2, 3]),
      Asset(name: "mine.flac") { () throws(MediaError) in throw MediaError(.fileNotFound, "not asked for") },
    ]
    let items = assets.enumerated().map { PlayerItem(asset: $1, id: UInt64($0 + 1)) }
    let locations = items.map { $0.exportedEntry?.location }
    #expect(locations == [.file(Array("/music/a.flac".utf8)), .url("http://h/a.flac"), nil, nil])
    // The counted entries are those that are listed.
    #expect(items.map { $0.isListable } == [true, true, false, false])
  }

  @Test func countsOfBlocksAddUpInOrder() {
    var counts = ListedCounts(version: 3)
    #expect(counts.blockCount == 0 && counts.count(before: 0) == 0 && counts.lastBlock(before: 0) == nil)
    for count in [0, 250, 0, 7, 0] { counts.append(count) }
    #expect(counts.blockCount == 5)
    #expect((0...5).map { counts.count(before: $0) } == [0, 0, 250, 250, 257, 257])
    #expect((0...5).map { counts.lastBlock(before: $0) } == [nil, nil, 1, 1, 3, 3])
  }
}
