import MediaAssets
import MediaCore
import Playback
import Testing

@testable import ControlServer

/// What an entry of a queue is in a list. Over the wire: `IntegrationTests.PlaylistTests` and `OpenFileTests`.
@Suite struct ExportedEntryTests {
  @Test func whatHasANameIsInAListUnderItAndElseNotAtAll() throws {
    let assets = [
      Asset(path: "/music/a.flac"), try Asset(url: "http://me:secret@h/a.flac"), Asset(data: [1, 2, 3]),
      Asset(name: "mine.flac") { () throws(MediaError) in throw MediaError(.fileNotFound, "not asked for") },
    ]
    let places = assets.enumerated().map { PlayerItem(asset: $1, id: UInt64($0 + 1)).exported?.place }
    #expect(places == [.file(Array("/music/a.flac".utf8)), .url("http://h/a.flac"), nil, nil])
  }
}
