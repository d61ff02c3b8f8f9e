import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import Testing

@testable import PlayheadPlayback

/// The properties that entries inherit from their playlist.
@Suite struct PlaylistOriginTests {
  @Test func playlistEntriesInheritHTTPHeadersOnlyAtTheSameOrigin() throws {
    var options = HTTPOptions()
    options.headers = [.init(name: "X-Api-Key", value: "k")]
    func headerCount(_ entry: String, of playlist: PlaylistLocation?) -> Int? {
      var assets = PlaylistAssets(prefersPreciseDuration: false, options: options, playlistLocation: playlist)
      return assets.asset(for: PlaylistEntry(location: .url(entry)))?.httpOptions.headers.count
    }
    let playlist = PlaylistLocation.url("https://a.example/list.m3u")
    #expect(headerCount("https://a.example/1.mp3", of: playlist) == 1)
    for entry in ["http://a.example/1.mp3", "https://b.example/1.mp3", "https://a.example:8443/1.mp3"] {
      #expect(headerCount(entry, of: playlist) == 0, "\(entry)")
    }
    #expect(headerCount("https://a.example/1.mp3", of: .file(Array("/list.m3u".utf8))) == 0)
    options.headerScope = .any
    #expect(headerCount("https://b.example/1.mp3", of: playlist) == 1)
    #expect(headerCount("http://b.example/1.mp3", of: playlist) == 0, "never from https to http")
    #expect(headerCount("http://b.example/1.mp3", of: .file(Array("/list.m3u".utf8))) == 1)
  }
}
