import MediaCore
import WireProtocol

/// Adds paths to the queue: in one request if they fit in a line, else in several between `queue.begin` and
/// `queue.commit`.
struct AddTransfer: ~Copyable {
  /// The maximum number of path bytes in a line; the rest is for the command. Halved if the daemon rejects a line as
  /// too long.
  private var maximumPathByteCount = WireLimits.standard.lineByteCount - 2_048
  /// The maximum number of requests without a reply.
  private static let maximumPendingReplyCount = 8
  /// The maximum number of attempts at an edit when other clients change the queue.
  private static let maximumAttemptCount = 5

  private var connection: DaemonConnection
  private let options: Invocation.AddOptions
  private let encoder = RequestEncoder()
  private let player: [[UInt8]]

  init(_ connection: consuming DaemonConnection, _ options: Invocation.AddOptions) {
    self.connection = connection
    self.options = options
    player = options.player.map { [Array("player=".utf8) + $0] } ?? []
  }

  /// Adds absolute paths. Calls `progress` with the number of paths sent so far.
  ///
  /// - Throws: `Failure`, `ErrorReply`, `Unreachable`, `MediaError`.
  mutating func send(_ paths: [[UInt8]], progress: (Int) -> Void) throws -> DaemonReply {
    while true {
      let batches = batches(paths)
      do {
        return try send(paths, batches, progress)
      } catch let reply as ErrorReply where reply.error.code == .lineTooLong && batches.count < paths.count {
        // This daemon accepts only shorter lines, and does not report its limit.
        maximumPathByteCount /= 2
      }
    }
  }

  private mutating func send(
    _ paths: [[UInt8]], _ batches: [ArraySlice<[UInt8]>], _ progress: (Int) -> Void
  ) throws -> DaemonReply {
    guard batches.count > 1 else {
      let command = options.replaces ? "load" : options.insertsNext ? "insert" : "append"
      return try request([Array(command.utf8)] + player + [Array("--".utf8)] + paths)
    }
    let playlistCount = paths.count { path in (try? FilePath(text: Self.text(path)))?.isNamedAsPlaylist == true }
    guard playlistCount == 0 else {
      throw Add.Failure(
        message:
          "nothing added: \(paths.count) files including \(playlistCount) playlists are too many for one request;"
          + " add the playlists separately"
      )
    }
    for _ in 1..<Self.maximumAttemptCount {
      do {
        return try sendAsOneEdit(batches, progress)
      } catch let reply as ErrorReply where reply.error.code == .versionMismatch {
        continue
      }
    }
    return try sendAsOneEdit(batches, progress)
  }

  // MARK: - Batches

  /// Sends the batches between `queue.begin` and `queue.commit`, and returns the reply to `queue.commit`.
  private mutating func sendAsOneEdit(
    _ batches: [ArraySlice<[UInt8]>], _ progress: (Int) -> Void
  ) throws -> DaemonReply {
    // An insertion after the current entry is an insertion before the next one, as long as the queue does not change.
    // Without a next entry, it is at the end.
    var positionWords: [[UInt8]] = []
    var begin = ["queue.begin"]
    if options.insertsNext {
      let nextEntry = try request(["list", "offset=1", "limit=1"].map { Array($0.utf8) } + player)
      if let item = nextEntry.rows.first?["item"] { positionWords = [Array("before=\(item)".utf8)] }
      if let version = nextEntry.fields["version"] { begin.append("if-version=\(version)") }
    }
    _ = try request(begin.map { Array($0.utf8) } + player)
    var pendingReplyCount = 0
    var sentCount = 0
    do {
      for (index, batch) in batches.enumerated() {
        let command = options.replaces && index == 0 ? "load" : positionWords.isEmpty ? "append" : "insert"
        try send(encoder.words([Array(command.utf8)] + positionWords + player + [Array("--".utf8)] + batch))
        pendingReplyCount += 1
        sentCount += batch.count
        while pendingReplyCount >= Self.maximumPendingReplyCount {
          pendingReplyCount -= 1
          _ = try connection.waitForReply()
        }
        progress(sentCount)
      }
      while pendingReplyCount > 0 {
        pendingReplyCount -= 1
        _ = try connection.waitForReply()
      }
    } catch let reply as ErrorReply {
      // Discard the unfinished edit, so that the connection is usable again.
      for _ in 0..<pendingReplyCount { _ = try? connection.waitForReply() }
      _ = try? request([Array("queue.abort".utf8)] + player)
      throw reply
    }
    return try request([Array("queue.commit".utf8)] + player)
  }

  /// Sends a line.
  ///
  /// - Throws: `Unreachable`, or the `ErrorReply` that the daemon sent before it closed the connection.
  private mutating func send(_ line: [UInt8]) throws {
    try connection.requireTrust(for: line)
    do throws(Unreachable) { try connection.send(line) } catch {
      connection.finishSending()
      // The loop ends with an error when the stream ends.
      while true { _ = try connection.waitForReply() }
    }
  }

  private mutating func request(_ words: [[UInt8]]) throws -> DaemonReply {
    let line = try encoder.words(words)
    try RequestCheck.check(line)
    try connection.sendIgnoringDisconnection(line)
    return try connection.waitForReply()
  }

  /// The text form of a path on the wire.
  private static func text(_ path: [UInt8]) -> String {
    FilePath(bytes: path)?.text ?? String(decoding: path, as: UTF8.self)
  }

  /// Splits the paths into batches that fit in a line.
  private func batches(_ paths: [[UInt8]]) -> [ArraySlice<[UInt8]>] {
    var batches: [ArraySlice<[UInt8]>] = []
    var start = 0
    var byteCount = 0
    for (index, path) in paths.enumerated() {
      // Quotes, and for each byte at most an escape, or a percent sign and two digits.
      let isPlain = path.allSatisfy {
        (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"")
      }
      let cost = isPlain ? path.count + 3 : 4 * path.count + 16
      if index > start, byteCount + cost > maximumPathByteCount {
        batches.append(paths[start..<index])
        (start, byteCount) = (index, 0)
      }
      byteCount += cost
    }
    return batches + [paths[start...]]
  }
}
