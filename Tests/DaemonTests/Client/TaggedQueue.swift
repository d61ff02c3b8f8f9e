import DaemonTesting
import RigSupport
import Testing

/// A queue of two files for tests of values: a song with tags, and a file without tags.
enum TaggedQueue {
  /// A server with the queue, ready.
  static func makeServer(title: String) throws -> TestServer {
    let daemon = try InProcessServer.recording()
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=100", "-metadata", "title=\(title)", "-metadata",
      "artist=The Band", "-metadata", "album=First", daemon.folder.file("one.flac"),
    ])
    try TimeCode.writeWAV(path: daemon.folder.file("two.wav"), file: 1, frameCount: 48_000)
    let loaded = try daemon.playhead("load", "one.flac", "two.wav", "wait=ready", folder: daemon.folder.path)
    try #require(loaded.status == 0)
    return daemon
  }
}
