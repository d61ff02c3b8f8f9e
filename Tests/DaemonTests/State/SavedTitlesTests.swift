import DaemonTesting
import Foundation
import RigSupport
import Testing

/// Titles of entries that are not opened, after a restart of the daemon.
@Suite(.timeLimit(.minutes(5))) struct SavedTitlesTests {
  /// The number of entries. The daemon opens the first 8.
  private static let entryCount = 20

  private func tagged(_ directory: StateTests.StateDirectory, _ tags: String...) throws -> [UInt8] {
    let path = directory.folder.file("tagged.flac")
    let arguments = tags.flatMap { ["-metadata", $0] }
    // So long that following entries are not decoded ahead.
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-y", "-i", try directory.wave(1, frameCount: 960_000)] + arguments + [path])
    return try Files.read(path)
  }

  private func rows(_ client: WireClient) throws -> [String] {
    try client.ask("list").filter { $0.hasPrefix("| ") }
  }

  /// Lets the daemon read titles until `isDone` accepts the rows of `list`.
  private func read(_ client: WireClient, until isDone: ([String]) -> Bool) throws {
    while try !isDone(rows(client)) { try client.reply("clock.advance 0.1") }
  }

  @Test(arguments: [SIGKILL, SIGTERM]) func titlesAreListedAtOnceAndCheckedLater(_ signal: Int32) throws {
    let directory = try StateTests.StateDirectory()
    let bytes = try tagged(directory, "title=Same", "artist=A B", "album=C")
    let paths = try (1...Self.entryCount).map { try directory.folder.write("\($0).flac", bytes) }
    let first = try directory.start()
    let client = try first.connect()
    try client.reply("append \(paths.joined(separator: " "))")
    let saved = #" title=Same artist="A B" album=C"#
    try read(client) { $0.allSatisfy { $0.hasSuffix(saved) } }
    // The titles are recorded for saving a moment after they are listed.
    try client.reply("clock.advance 0.2")
    try directory.waitUntilNothingIsOpened(by: first)
    #expect(try client.reply("state.save").hasPrefix("ok writes="))
    first.process.signal(signal)
    _ = try first.process.waitForEnd()

    // Meanwhile one file changes, and another one is removed.
    try directory.folder.write("15.flac", try tagged(directory, "title=Other"))
    try FileManager.default.removeItem(atPath: paths[15])
    let second = try directory.start()
    let other = try second.connect()
    let restored = try rows(other)
    #expect(restored.count == Self.entryCount && restored.allSatisfy { $0.hasSuffix(saved) }, "\(restored)")
    #expect(restored.dropFirst(8).allSatisfy { $0.contains(" status=unknown ") }, "\(restored)")
    let watcher = try second.connect()
    try watcher.reply("observe item.title")
    try read(other) { $0[14].hasSuffix(" title=Other") }
    try other.reply("clock.advance 0.2")
    let checked = try rows(other)
    #expect(checked.enumerated().allSatisfy { $0 == 14 || $1.hasSuffix(saved) }, "\(checked)")
    let changes = try watcher.ask("ping").filter { $0.contains("key=item.title") && $0.contains("new=Other") }
    #expect(changes.count == 1 && field("item", changes.first ?? "") == "15", "\(changes)")
  }
}
