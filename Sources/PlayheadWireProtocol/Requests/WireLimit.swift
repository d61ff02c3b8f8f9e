/// One of the protocol's limits: its name in the reference and in the configuration, and its valid range.
package struct WireLimit: Sendable {
  package let name: String
  /// The valid range. A smaller value would make the daemon useless, a larger one would not limit anything.
  package let range: ClosedRange<Int>
  let path: WritableKeyPath<WireLimits, Int> & Sendable

  private init(_ name: String, _ path: WritableKeyPath<WireLimits, Int> & Sendable, _ range: ClosedRange<Int>) {
    (self.name, self.path, self.range) = (name, path, range)
  }

  /// All limits, in the order of the reference.
  package static let all: [WireLimit] = [
    WireLimit("line-bytes", \.lineByteCount, 256...16_777_216),
    WireLimit("unterminated-bytes", \.unterminatedByteCount, 256...1_073_741_824),
    WireLimit("id-bytes", \.idByteCount, 1...1_024),
    WireLimit("json-depth", \.jsonDepth, 4...128),
    WireLimit("batch-members", \.batchCount, 1...65_536),
    WireLimit("waiting-requests", \.waitingRequestCount, 1...65_536),
    WireLimit("connections", \.connectionCount, 1...65_536),
    WireLimit("subscriptions", \.subscriptionCount, 1...65_536),
    WireLimit("event-rate", \.eventRate, 1...1_000_000),
    WireLimit("total-event-rate", \.totalEventRate, 1...1_000_000),
    WireLimit("times", \.timeCount, 1...10_000_000),
    WireLimit("total-times", \.totalTimeCount, 1...10_000_000),
    WireLimit("patterns", \.patternCount, 1...1_024),
    WireLimit("output-bytes", \.outputByteCount, 65_536...1_073_741_824),
    WireLimit("queue-length", \.queueCount, 1...1_000_000),
    WireLimit("queue-bytes", \.queueByteCount, 4_096...1_073_741_824),
    WireLimit("edit-changes", \.editCount, 1...2_000_000),
    WireLimit("edit-bytes", \.editByteCount, 4_096...1_073_741_824),
    WireLimit("gathered-changes", \.collectedChangeCount, 1...8_000_000),
    WireLimit("gathered-bytes", \.collectedByteCount, 4_096...1_073_741_824),
    WireLimit("list-rows", \.listCount, 1...1_000),
    WireLimit("assets", \.assetCount, 1...4_096),
    WireLimit("descriptors", \.descriptorCount, 1...1_024),
    WireLimit("open-descriptors", \.openDescriptorCount, 1...65_536),
    WireLimit("players", \.playerCount, 1...1_024),
    WireLimit("event-log", \.loggedEventCount, 1...1_000_000),
    WireLimit("event-log-bytes", \.loggedEventByteCount, 65_536...1_073_741_824),
    WireLimit("queue-changes", \.queueChangeCount, 1...65_536),
    WireLimit("kept-values", \.retainedValueCount, 1...65_536),
    WireLimit("unread-seconds", \.unreadSeconds, 1...86_400),
    WireLimit("opening-bytes", \.openingByteCount, 1_048_576...1_099_511_627_776),
  ]

  /// The limit with this name. Nil if there is none.
  package static func named(_ name: String) -> WireLimit? { all.first { $0.name == name } }
}
