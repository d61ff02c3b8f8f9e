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
  public var connectionCount = 256
  /// Live subscriptions (`observe`, `tick`, `at`) of one connection.
  public var subscriptionCount = 1_024
  /// Bytes that wait to be read by one peer. Beyond half of it no request is taken and events are dropped and counted; beyond all
  /// of it the connection is closed.
  public var outputByteCount = 4_194_304
  /// Entries of one player's queue.
  public var queueCount = 100_000
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
  /// Descriptors that were handed over and wait for a command that takes them.
  public var descriptorCount = 16
  /// Players of one daemon.
  public var playerCount = 64

  /// The limits of protocol.md.
  public static let standard = WireLimits()

  public init() {}

  /// The limits as the protocol's document names them, in its order.
  public var named: [(name: String, value: Int)] {
    [
      ("line-bytes", lineByteCount), ("unterminated-bytes", unterminatedByteCount), ("id-bytes", idByteCount),
      ("json-depth", jsonDepth), ("batch-members", batchCount), ("waiting-requests", waitingRequestCount),
      ("connections", connectionCount), ("subscriptions", subscriptionCount), ("output-bytes", outputByteCount),
      ("queue-length", queueCount), ("edit-changes", editCount), ("edit-bytes", editByteCount),
      ("gathered-changes", gatheredCount), ("gathered-bytes", gatheredByteCount), ("list-rows", listCount),
      ("assets", assetCount), ("descriptors", descriptorCount), ("players", playerCount),
    ]
  }
}
