import MediaCore

/// Every bound that the protocol puts on a peer, in one place. protocol.md (*Limits*) lists them; a test compares.
///
/// Exceeding one is a numbered error, never a trap and never unbounded memory.
public struct WireLimits: Sendable, Hashable {
  /// Bytes of a line without its LF. Beyond it the line is answered once with `line-too-long` and discarded up to its LF.
  public var lineByteCount = 65_536
  /// Bytes without an LF after which the connection is closed: who sends this much has no line in mind.
  public var unterminatedByteCount = 1_048_576
  /// Characters of an `@id`; and bytes of a JSON-RPC id as it stands in the line.
  public var idByteCount = 64
  /// Levels of `[` and `{` in one JSON line.
  public var jsonDepth = 32
  /// Members of one JSON-RPC batch.
  public var batchCount = 1_024
  /// Requests of one connection that wait for their reply. At the limit the connection is not read until one is answered.
  public var waitingRequestCount = 256
  /// Connections of all peers together.
  public var connectionCount = 2_048
  /// Connections that are left to the daemon's own user at the control socket, whoever else has all others.
  public var keptConnectionCount: Int { min(64, connectionCount / 8) }
  /// Live subscriptions (`observe`, `tick`, `at`) of one connection.
  public var subscriptionCount = 1_024
  /// Events a second that `tick` and `meter` may ask for on one connection, and on all together.
  public var eventRate = 10_000
  public var totalEventRate = 40_000
  /// Times that the `at`s of one connection may wait for, and of all together.
  public var timeCount = 20_000
  public var totalTimeCount = 100_000
  /// The parts of both totals that connections without the right `control` may use. The rest, a quarter, is reserved for
  /// connections with this right.
  public var watchingEventRate: Int { totalEventRate - totalEventRate / 4 }
  public var watchingTimeCount: Int { totalTimeCount - totalTimeCount / 4 }
  /// Patterns in one `observe` or `events`, keys in one `asset.load`, and conditions in one `wait`.
  public var patternCount = 64
  /// Bytes that wait to be read by one peer. Beyond half of it no request is taken and events are dropped and counted; beyond all
  /// of it the connection is closed.
  public var outputByteCount = 4_194_304
  /// Bytes of the replies to one batch. Further members are answered with `batch-too-large` and not run: the array of
  /// replies is written at once, and its last reply may take half of `outputByteCount`.
  public var batchReplyByteCount: Int { outputByteCount / 4 }
  /// Entries of one player's queue.
  public var queueCount = 100_000
  /// Bytes that describe the entries of one player's queue: paths, addresses, header fields, and texts of playlists.
  public var queueByteCount = 67_108_864
  /// Changes that one connection gathers behind `queue.begin`: each entry that is added, moved, replaced or removed is one.
  public var editCount = 200_000
  /// Bytes of the paths in them.
  public var editByteCount = 16_777_216
  /// Changes that are gathered on all connections together.
  public var gatheredCount = 800_000
  /// Bytes of the paths in them.
  public var gatheredByteCount = 67_108_864
  /// Entries in one reply to `list`: what is written in a moment, and leaves others their turn.
  public var listCount = 1_000
  /// Assets that one connection has open.
  public var assetCount = 64
  /// Descriptors that were handed over and are open, in queues and assets too.
  public var openDescriptorCount = 256
  /// Descriptors of one user that were handed over and wait for a command that takes them.
  public var descriptorCount = 16
  /// Players of one daemon.
  public var playerCount = 64

  /// Events that the daemon keeps for who comes back (`events`); the oldest are forgotten.
  public var loggedEventCount = 4_096
  /// About how many bytes these take.
  public var loggedEventByteCount = 2_097_152
  /// Changes of one queue that are kept for who has an older version of it: each entry that came, went or was moved is one.
  public var queueChangeCount = 1_024
  /// Values that are kept for one peer while events do not fit: the newest of each key.
  public var keptValueCount = 4_096
  /// Seconds in which a peer with more waiting than its socket holds must read something.
  public var unreadSeconds = 60

  /// Bytes that may be read of a file until it is open (`OpeningLimits.byteCount`).
  public var openingByteCount = 67_108_864

  /// The limits of protocol.md.
  public static let standard = WireLimits()

  public init() {}

  /// The limits as the protocol's document names them, in its order.
  public var named: [(name: String, value: Int)] { WireLimit.all.map { ($0.name, self[$0]) } }

  /// The value of one of them.
  public subscript(limit: WireLimit) -> Int { self[keyPath: limit.path] }

  /// Sets one of them by its name.
  ///
  /// Errors: `no-such-property` when none has this name, `invalid-argument` for a value that is out of its range.
  public mutating func set(_ name: String, to value: Int) throws(MediaError) {
    guard let limit = WireLimit.named(name) else {
      let hint = Nearest.name(to: name, among: WireLimit.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
      throw MediaError(.noSuchProperty, "there is no limit \(Excerpt.quoted(name))\(hint)")
    }
    guard limit.range.contains(value) else {
      throw MediaError(
        .invalidArgument,
        "the limit \(name) is from \(limit.range.lowerBound) to \(limit.range.upperBound), not \(value)")
    }
    self[keyPath: limit.path] = value
  }
}
