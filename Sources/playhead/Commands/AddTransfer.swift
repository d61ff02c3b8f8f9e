import PlayheadMediaCore
import PlayheadWireProtocol

/// An edit that adds files to a queue: `load`, `append` or `insert`, with its options as words such as `after=2`.
struct AddingEdit: Equatable {
  var command: CommandName
  var options: [[UInt8]] = []

  /// The words of some of the options.
  func words(of names: ParameterName...) -> [[UInt8]] { options.filter { Self.isOption($0, names) } }

  /// The words of the other options.
  func words(except names: ParameterName...) -> [[UInt8]] { options.filter { !Self.isOption($0, names) } }

  /// The last value of an option; nil without one.
  func value(of name: ParameterName) -> [UInt8]? {
    words(of: name).last.map { Array($0.dropFirst(name.rawValue.utf8.count + 1)) }
  }

  private static func isOption(_ word: [UInt8], _ names: [ParameterName]) -> Bool {
    let name = word.prefix { $0 != UInt8(ascii: "=") }
    return names.contains { name.elementsEqual($0.rawValue.utf8) }
  }
}

/// Adds paths to the queue: in one request if they fit in a line, else in several between `queue.begin` and
/// `queue.commit`.
struct AddTransfer: ~Copyable {
  /// The maximum number of path bytes in a line; the rest is for the command. Halved if the daemon rejects a line as
  /// too long.
  private var maximumPathByteCount: Int
  /// The maximum number of requests without a reply.
  private static let maximumPendingReplyCount = 8
  /// The maximum number of attempts at an edit when other clients change the queue.
  private static let maximumAttemptCount = 5

  private var connection: DaemonConnection
  private let edit: AddingEdit
  private let encoder = RequestEncoder()
  private var player: [[UInt8]] { edit.words(of: .player) }

  init(_ connection: consuming DaemonConnection, _ edit: AddingEdit) {
    self.connection = connection
    self.edit = edit
    maximumPathByteCount = Self.maximumPathByteCount(beside: edit.options)
  }

  /// Adds absolute paths. Calls `progress` with the number of paths sent so far.
  ///
  /// - Throws: `Failure`, `ErrorReply`, `Unreachable`, `MediaError`.
  mutating func send(_ paths: [[UInt8]], progress: (Int) -> Void) throws -> DaemonReply {
    while true {
      let batches = Self.batches(paths, byteCount: maximumPathByteCount)
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
      return try request([Array(edit.command.rawValue.utf8)] + edit.options + [Array("--".utf8)] + paths)
    }
    try checkBatches(of: paths)
    let isVersionChosen = edit.value(of: .ifVersion) != nil
    for _ in 1..<Self.maximumAttemptCount {
      do {
        return try sendAsOneEdit(batches, progress)
      } catch let reply as ErrorReply where reply.error.code == .versionMismatch && !isVersionChosen {
        continue
      }
    }
    return try sendAsOneEdit(batches, progress)
  }

  /// Checks that the edit may have several requests: the daemon reads no playlists between them.
  ///
  /// - Throws: `Failure`.
  private func checkBatches(of paths: [[UInt8]]) throws(Add.Failure) {
    let isPlaylist = edit.value(of: .list).map { $0.elementsEqual("true".utf8) }
    let playlistCount = paths.count { path in
      isPlaylist ?? ((try? FilePath(text: Self.text(path)))?.isNamedAsPlaylist == true)
    }
    guard playlistCount == 0 else {
      throw Add.Failure(
        message:
          "nothing added: \(paths.count) files including \(playlistCount) playlists are too many for one request;"
          + " add the playlists separately")
    }
  }

  // MARK: - Batches

  /// Sends the batches between `queue.begin` and `queue.commit`, and returns the reply to `queue.commit`.
  private mutating func sendAsOneEdit(
    _ batches: [ArraySlice<[UInt8]>], _ progress: (Int) -> Void
  ) throws -> DaemonReply {
    var positionWords = edit.words(of: .after, .before)
    var begin = [Array("queue.begin".utf8)] + edit.words(of: .ifVersion)
    if edit.command == InsertCommand.name, positionWords.isEmpty {
      // An insertion after the current entry is an insertion before the next one, as long as the queue does not change.
      // Without a next entry, it is at the end.
      let nextEntry = try request(["list", "offset=1", "limit=1"].map { Array($0.utf8) } + player)
      if let item = nextEntry.rows.first?["item"] { positionWords = [Array("before=\(item)".utf8)] }
      if begin.count == 1, let version = nextEntry.fields["version"] {
        begin.append(Array("if-version=\(version)".utf8))
      }
    }
    _ = try request(begin + player)
    // Each batch after the same entry precedes the earlier batches.
    let isReversed = !edit.words(of: .after).isEmpty
    let ordered = isReversed ? batches.reversed() : batches
    let otherWords = edit.words(except: .after, .before, .ifVersion, .wait)
    var pendingReplyCount = 0
    var sentCount = 0
    do {
      for (index, batch) in ordered.enumerated() {
        let command =
          edit.command == LoadCommand.name && index == 0 ? "load" : positionWords.isEmpty ? "append" : "insert"
        try send(encoder.words([Array(command.utf8)] + positionWords + otherWords + [Array("--".utf8)] + batch))
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
    var reply = try request([Array("queue.commit".utf8)] + edit.words(of: .wait) + player)
    if isReversed { Self.restoreOrder(ofItemsIn: &reply, batches) }
    return reply
  }

  /// Sorts the ids of batches that were sent in reverse order.
  private static func restoreOrder(ofItemsIn reply: inout DaemonReply, _ batches: [ArraySlice<[UInt8]>]) {
    guard var items = reply.fields.list("items") else { return }
    var sorted: [String] = []
    for batch in batches {
      sorted += items.suffix(batch.count)
      items.removeLast(min(batch.count, items.count))
    }
    for index in reply.fields.entries.indices where reply.fields.entries[index].name == "items" {
      reply.fields.entries[index].value = sorted.joined(separator: ",")
    }
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

  /// Whether the paths fit in one request with these options.
  static func fitsInLine(_ paths: [[UInt8]], options: [[UInt8]]) -> Bool {
    batches(paths, byteCount: maximumPathByteCount(beside: options)).count == 1
  }

  /// Splits the paths into batches that fit in a line with these options.
  static func batches(_ paths: [[UInt8]], options: [[UInt8]]) -> [ArraySlice<[UInt8]>] {
    batches(paths, byteCount: maximumPathByteCount(beside: options))
  }

  private static func maximumPathByteCount(beside options: [[UInt8]]) -> Int {
    max(1, WireLimits.standard.lineByteCount - 2_048 - options.reduce(0) { $0 + byteCount(of: $1) })
  }

  /// The maximum number of bytes of a word on the wire: quotes, and for each byte at most an escape, or a percent sign
  /// and two digits.
  private static func byteCount(of word: [UInt8]) -> Int {
    let isPlain = word.allSatisfy {
      (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"")
    }
    return isPlain ? word.count + 3 : 4 * word.count + 16
  }

  /// Splits the paths into batches of at most `byteCount` bytes. A longer path is a batch of its own.
  private static func batches(_ paths: [[UInt8]], byteCount maximum: Int) -> [ArraySlice<[UInt8]>] {
    var batches: [ArraySlice<[UInt8]>] = []
    var start = 0
    var byteCount = 0
    for (index, path) in paths.enumerated() {
      let cost = Self.byteCount(of: path)
      if index > start, byteCount + cost > maximum {
        batches.append(paths[start..<index])
        (start, byteCount) = (index, 0)
      }
      byteCount += cost
    }
    return batches + [paths[start...]]
  }
}
