import MediaAssets
import MediaCore
import NetworkIO
import Playlists
import Testing

@testable import Playback

/// The properties that entries inherit from their playlist.
@Suite struct ListOriginTests {
  @Test func entriesOfAListGetHeaderFieldsOnlyAtItsOrigin() throws {
    var options = HTTPOptions()
    options.headers = [.init(name: "X-Api-Key", value: "k")]
    func fields(_ entry: String, of list: PlaylistLocation?) -> Int? {
      var assets = PlaylistAssets(prefersPreciseDuration: false, options: options, listedAt: list)
      return assets.asset(for: PlaylistEntry(place: .url(entry)))?.httpOptions.headers.count
    }
    let list = PlaylistLocation.url("https://a.example/list.m3u")
    #expect(fields("https://a.example/1.mp3", of: list) == 1)
    for entry in ["http://a.example/1.mp3", "https://b.example/1.mp3", "https://a.example:8443/1.mp3"] {
      #expect(fields(entry, of: list) == 0, "\(entry)")
    }
    #expect(fields("https://a.example/1.mp3", of: .file(Array("/list.m3u".utf8))) == 0)
    options.headerScope = .any
    #expect(fields("https://b.example/1.mp3", of: list) == 1)
    #expect(fields("http://b.example/1.mp3", of: list) == 0, "never from https to http")
    #expect(fields("http://b.example/1.mp3", of: .file(Array("/list.m3u".utf8))) == 1)
  }
}
