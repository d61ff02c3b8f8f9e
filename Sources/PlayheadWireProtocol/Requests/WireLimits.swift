import PlayheadMediaCore

/// All limits of the protocol for clients. docs/protocol/reference/limits.md lists them, and a test compares the two.
///
/// Exceeding a limit is a numbered error. It never traps and never uses unbounded memory.
package struct WireLimits: Sendable, Hashable {
  /// The length of a line in bytes, without its LF. A longer line gets one `line-too-long` reply and is discarded up to
  /// its LF.
  package var lineByteCount = 65_536
  /// The number of bytes without an LF after which the connection is closed, because the input is not a sequence of
  /// lines.
  package var unterminatedByteCount = 1_048_576
  /// The length of an `@id` in characters, and of a JSON-RPC id in bytes as written.
  package var idByteCount = 64
  /// The nesting depth of `[` and `{` in one JSON line.
  package var jsonDepth = 32
  /// The number of members of one JSON-RPC batch.
  package var batchCount = 1_024
  /// The number of waiting requests of one connection. At the limit the daemon does not read the connection until one
  /// has its reply.
  package var waitingRequestCount = 256
  /// The number of connections of all clients together.
  package var connectionCount = 2_048
  /// The number of connections that are reserved for the daemon's own user at the control socket.
  package var reservedConnectionCount: Int { min(64, connectionCount / 8) }
  /// The number of active subscriptions (`observe`, `tick`, `at`) of one connection.
  package var subscriptionCount = 1_024
  /// The number of `tick` and `meter` events per second, on one connection and in total.
  package var eventRate = 10_000
  package var totalEventRate = 40_000
  /// The number of times in the `at` observers of one connection, and in total.
  package var timeCount = 20_000
  package var totalTimeCount = 100_000
  /// The parts of both totals that connections without the right `control` may use. The rest, a quarter, is reserved
  /// for connections with this right.
  package var watchingEventRate: Int { totalEventRate - totalEventRate / 4 }
  package var watchingTimeCount: Int { totalTimeCount - totalTimeCount / 4 }
  /// The number of patterns in one `observe` or `events`, of keys in one `asset.load`, and of conditions in one `wait`.
  package var patternCount = 64
  /// The number of output bytes that wait for one client. Beyond half of this number the daemon reads no requests of
  /// the client, and drops and counts its events. Beyond the whole number it closes the connection.
  package var outputByteCount = 4_194_304
  /// The number of bytes of the replies to one batch. Further members fail with `batch-too-large` and do not run. The
  /// array of replies is written at once, and its last reply may use half of `outputByteCount`.
  package var batchReplyByteCount: Int { outputByteCount / 4 }
  /// The number of entries of one player's queue.
  package var queueCount = 100_000
  /// The number of bytes that describe the entries of one player's queue: paths, URLs, header fields, and texts of
  /// playlists.
  package var queueByteCount = 67_108_864
  /// The number of changes that one connection collects after `queue.begin`. Each added, moved, replaced or removed
  /// entry is one change.
  package var editCount = 200_000
  /// The number of bytes of the paths in these changes.
  package var editByteCount = 16_777_216
  /// The number of collected changes on all connections together.
  package var collectedChangeCount = 800_000
  /// The number of bytes of the paths in these changes.
  package var collectedByteCount = 67_108_864
  /// The number of entries in one reply to `list`. It is small, so that a reply does not delay other clients.
  package var listCount = 1_000
  /// The number of open assets of one connection.
  package var assetCount = 64
  /// The number of passed descriptors that are open, including those in queues and assets.
  package var openDescriptorCount = 256
  /// The number of passed descriptors of one user that no command has used yet.
  package var descriptorCount = 16
  /// The number of players of one daemon.
  package var playerCount = 64

  /// The number of events in the event log, for clients that reconnect (`events`). The oldest are removed.
  package var loggedEventCount = 4_096
  /// The approximate size of the event log in bytes.
  package var loggedEventByteCount = 2_097_152
  /// The number of changes of one queue that are retained, for clients with an older version. Each inserted, removed or
  /// moved entry is one change.
  package var queueChangeCount = 1_024
  /// The number of values that are retained for one client that does not read in time: the newest value of each key.
  package var retainedValueCount = 4_096
  /// The time in seconds within which a client must read, if its output exceeds the socket buffer.
  package var unreadSeconds = 60

  /// The number of bytes that may be read of a file until it is open (`OpeningLimits.byteCount`).
  package var openingByteCount = 67_108_864

  /// The default limits, as documented in the reference.
  package static let standard = WireLimits()

  package init() {}

  /// The limits with their names in the reference, in its order.
  package var named: [(name: String, value: Int)] { WireLimit.all.map { ($0.name, self[$0]) } }

  /// The value of a limit.
  package subscript(limit: WireLimit) -> Int { self[keyPath: limit.path] }

  /// Sets the limit with this name.
  ///
  /// - Throws: `no-such-property` if there is no such limit, `invalid-argument` for a value outside the range.
  package mutating func set(_ name: String, to value: Int) throws(MediaError) {
    guard let limit = WireLimit.named(name) else {
      let hint = Nearest.name(to: name, among: WireLimit.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
      throw MediaError(.noSuchProperty, "there is no limit \(Excerpt.quoted(name))\(hint)")
    }
    guard limit.range.contains(value) else {
      throw MediaError(
        .invalidArgument,
        "the limit \(name) must be from \(limit.range.lowerBound) to \(limit.range.upperBound) (got \(value))")
    }
    self[keyPath: limit.path] = value
  }
}
