import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Playlists on a web server.
@Suite(.timeLimit(.minutes(2))) struct HTTPPlaylistTests {
  private func server(_ files: [String: String]) throws -> HTTPServer {
    let server = try HTTPServer()
    for (name, text) in files { try server.write(Array(text.utf8), to: name) }
    return server
  }

  @Test func relativeEntriesOfAServersPlaylistAreOnThatServer() throws {
    let server = try server([
      "a.m3u": "#EXTM3U\n#EXTINF:5,One\n1.mp3\n/abs/2.mp3?x=1\nb.pls\nhttp://other.example/3.ogg\nlive.m3u8\n",
      "b.pls": "[playlist]\nFile1=deep/4.flac\nTitle1=Four\n",
    ])
    let list = try Playlist(at: .url("\(server.address)/a.m3u"))
    #expect(
      list.entries.map(\.location.displayText) == [
        "\(server.address)/1.mp3", "\(server.address)/abs/2.mp3?x=1", "\(server.address)/deep/4.flac",
        "http://other.example/3.ogg", "\(server.address)/live.m3u8",
      ])
    #expect(list.entries[0].title == "One" && list.entries[2].title == "Four")
    #expect(list.skippedCount == 0)
  }

  @Test func playlistFromAServerCannotNameLocalFiles() throws {
    let server = try server(["a.m3u": "file:///etc/passwd\n../../../etc/passwd\n1.mp3\nfile:///a.m3u\n"])
    let list = try Playlist(at: .url("\(server.address)/a.m3u"))
    #expect(list.entries.map(\.location) == [.url("\(server.address)/etc/passwd"), .url("\(server.address)/1.mp3")])
    #expect(list.skippedCount == 2)
    #expect(list.warnings.map(\.error.code) == [.notAllowed, .notAllowed])
    #expect(list.warnings.map(\.line) == [1, 4])
  }

  @Test func localPlaylistMayReferToPlaylistsOnServers() throws {
    let server = try server(["b.m3u": "1.mp3\n", "self.m3u": "self.m3u\n"])
    let text = "0.mp3\n\(server.address)/b.m3u\n\(server.address)/none.m3u\n"
    let copy = try self.server(["a.m3u": text])
    let list = try Playlist(contentsOf: copy.files.file("a.m3u"))
    #expect(
      list.entries.map(\.location) == [.file(Array(copy.files.file("0.mp3").utf8)), .url("\(server.address)/1.mp3")])
    #expect(list.warnings.map(\.error.code) == [.httpNotFound])
    // Not if network access is disabled.
    var options = HTTPOptions()
    options.isNetworkAllowed = false
    let local = try Playlist(
      at: .file(Array(copy.files.file("a.m3u").utf8)), reading: PlaylistReading(options: options))
    #expect(local.entries.count == 1)
    #expect(local.warnings.map(\.error.code) == [.networkNotAllowed, .networkNotAllowed])
    expectCode(.playlistCycle) { () throws(MediaError) in _ = try Playlist(at: .url("\(server.address)/self.m3u")) }
  }

  @Test func headerFieldsAreSentOnlyToTheServerOfThePlaylist() throws {
    let other = try server(["b.m3u": "1.mp3\n"])
    let first = try server(["a.m3u": "\(other.address)/b.m3u\nc.m3u\n", "c.m3u": "2.mp3\n"])
    var options = HTTPOptions()
    options.headers = [.init(name: "X-Api-Key", value: "k")]
    let location = PlaylistLocation.url("\(first.address)/a.m3u")
    #expect(try Playlist(at: location, reading: PlaylistReading(options: options)).entries.count == 2)
    #expect(try first.drain().filter { $0 == "header X-Api-Key: k" }.count == 2)
    #expect(try other.drain().filter { $0 == "header X-Api-Key: k" }.isEmpty)
    options.headerScope = .any
    _ = try Playlist(at: location, reading: PlaylistReading(options: options))
    #expect(try other.drain().filter { $0 == "header X-Api-Key: k" }.count == 1)
  }

  @Test func invalidOversizedOrMissingPlaylistIsAnError() throws {
    let server = try server(["a.mp3": "\0\0\0\0", "empty.m3u": ""])
    try server.write([UInt8](repeating: 0x23, count: PlaylistLimits.byteCount + 1), to: "large.m3u")
    for (name, code) in [
      ("a.mp3", MediaError.Code.notAPlaylist), ("none.m3u", .httpNotFound), ("large.m3u", .playlistLimitExceeded),
      ("a.mp3?status=403", .httpForbidden), ("a.mp3?redirect=1&to=file:///etc/passwd", .unsupportedLocation),
    ] {
      expectCode(code, name) { () throws(MediaError) in _ = try Playlist(at: .url("\(server.address)/\(name)")) }
    }
  }

  @Test func readingIsCancelled() throws {
    let server = try server(["a.m3u": "1.mp3\n"])
    let reading = PlaylistReading()
    reading.cancel()
    expectCode(.cancelled) { () throws(MediaError) in
      _ = try Playlist(at: .url("\(server.address)/a.m3u"), reading: reading)
    }
  }

  private func expectCode(_ code: MediaError.Code, _ name: String = "", _ body: () throws(MediaError) -> Void) {
    do throws(MediaError) {
      try body()
      Issue.record("no error: \(name)")
    } catch {
      #expect(error.code == code, "\(name): \(error)")
    }
  }
}
