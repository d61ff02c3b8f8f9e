// `playhead save`: the daemon sends the lines of a playlist, and the client writes them to a file, atomically.
import PlayheadMediaCore
import PlayheadWholeFiles
import PlayheadWireProtocol

enum Save {
  /// The reason why the playlist was not written. The client exits with status 1.
  struct Failure: Error {
    var message: String
  }

  /// Requests the queue as a playlist and writes it. Returns the exit status.
  ///
  /// - Throws: `Failure`, `ErrorReply`, `Unreachable`, `MediaError`.
  static func run(
    _ options: Invocation.SaveOptions, _ encoder: RequestEncoder, isJSON: Bool, absolute: ([UInt8]) -> [UInt8],
    _ socket: String
  ) throws -> Int32 {
    let file = WholeFile(path: absolute(options.file), replaces: options.replaces, hint: "--force replaces it")
    do throws(MediaError) { try file.check() } catch { throw Failure(message: error.message) }
    let format = options.format ?? self.format(of: file.name)
    let daemon = RequestClient(try DaemonConnection(path: socket)) { words in
      let line = try encoder.words(words)
      try RequestCheck.check(line)
      return line
    }
    var lines: [UInt8] = []
    var offset = 0
    var skippedCount = 0
    var entryCount: String?
    var version: String?
    while true {
      var words = [
        "playlist.export", "format=\(format)", "offset=\(offset)",
      ].map { Array($0.utf8) }
      words.append(Array("base=".utf8) + file.folder)
      if let player = options.player { words.append(Array("player=".utf8) + player) }
      let part = try daemon.send(words)
      for row in part.rows { lines += Array((row["text"] ?? "").utf8) + [UInt8(ascii: "\n")] }
      guard version == nil || part.fields["version"] == version else {
        throw Failure(message: "the queue changed during the export; nothing was written")
      }
      (version, entryCount) = (part.fields["version"], part.fields["count"])
      skippedCount += part.fields["skipped"].flatMap { Int($0) } ?? 0
      guard let nextOffset = part.fields["next"].flatMap({ Int($0) }), nextOffset > offset else { break }
      offset = nextOffset
    }
    do throws(MediaError) { try file.write(lines) } catch { throw Failure(message: error.message) }
    if isJSON {
      var text: [UInt8] = []
      JSONValue.object([
        .init("format", .string(format)), .init("count", .number(entryCount ?? "0")),
        .init("skipped", .number("\(skippedCount)")),
      ]).append(to: &text)
      Terminal.print(text + [UInt8(ascii: "\n")])
    } else if skippedCount > 0 {
      Terminal.printDiagnostic(
        "omitted \(skippedCount) of \(entryCount ?? "the") entries: they have no name that a playlist can contain")
    }
    return PlayheadClient.Status.done
  }

  /// The playlist format for a file name; M3U8 for unknown extensions.
  private static func format(of name: [UInt8]) -> String {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "m3u8" }
    let suffix = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return PlaylistExportCommand.Format(rawValue: suffix)?.rawValue ?? "m3u8"
  }
}
