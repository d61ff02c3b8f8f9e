import PlayheadMediaCore

/// `removed`: the daemon ended a subscription, because its item or player no longer exists.
package struct RemovedEvent: Event {
  /// The reason for the end of the subscription.
  package enum Cause: String, Sendable, Hashable, CaseIterable {
    /// The item of the subscription left the queue.
    case itemRemoved
    case playerClosed
  }

  package let subscription: Int
  package let player: String
  /// The item of the subscription. Nil for `playerClosed`.
  package let item: UInt64?
  package let cause: Cause

  package init(subscription: Int, player: String, item: UInt64?, cause: Cause) {
    (self.subscription, self.player) = (subscription, player)
    (self.item, self.cause) = (item, cause)
  }

  package static let definition = EventDefinition(
    .removed,
    """
    A subscription ended. `cause` is one of these:

    - `itemRemoved`: the item of its `at` left the queue
    - `playerClosed`: its player was closed
    """)

  package static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(optional: .item) { $0.item },
    Field(.causeOfRemoval) { $0.cause },
  ]
}

/// `scan-progress`: the progress of a request of this connection.
package struct ScanProgressEvent: Event {
  /// The id of the scan, local to the connection.
  package let scan: Int
  /// The file that is being read, from 1 to `count`.
  package let file: Int
  package let count: Int
  package let path: FilePath
  /// The part of the file that has been read, 0 to 1. Nil if unknown.
  package let done: Double?

  package init(scan: Int, file: Int, count: Int, path: FilePath, done: Double?) {
    (self.scan, self.file, self.count) = (scan, file, count)
    (self.path, self.done) = (path, done)
  }

  package static let definition = EventDefinition(
    .scanProgress,
    """
    the progress of a request of this connection, before its reply. `done` is a part from 0 to 1:

    - `scan`, `waveform`: the measured part of the file; `none` if its length is unknown
    - `export`: the completed part of the file at `path`
    - `image`: the completed part of the images
    """)

  package static let fields: [Field<Self>] = [
    Field(.scan) { $0.scan }, Field(.fileNumber) { $0.file }, Field(.countOfFiles) { $0.count },
    Field(.path) { $0.path }, Field(nullable: .done) { $0.done },
  ]
}

/// `overflow`: the daemon dropped events because this client did not read. The client should query the state that it
/// needs.
package struct OverflowEvent: Event {
  /// The number of lost events.
  package let droppedCount: Int
  /// The number of changes that are merged into a later event with the same key.
  package let mergedCount: Int
  /// The sequence number of the last event before the overflow. Nil if no numbered event is affected.
  package let since: UInt64?

  package init(droppedCount: Int, mergedCount: Int, since: UInt64?) {
    (self.droppedCount, self.mergedCount, self.since) = (droppedCount, mergedCount, since)
  }

  package static let definition = EventDefinition(
    .overflow,
    "The client did not read in time, and `dropped` events were lost. `merged` changes are included in later changes of"
      + " the same keys. `events since=` with the `since` of this event returns the numbered events that the log still"
      + " has. Ticks and meters are lost.")

  package static let fields: [Field<Self>] = [
    Field(.dropped) { UInt64($0.droppedCount) }, Field(.merged) { $0.mergedCount },
    Field(optional: .since) { $0.since },
  ]
}

/// `closing`: the daemon is about to close the connection.
package struct ClosingEvent: Event {
  package let error: MediaError

  package init(_ error: MediaError) { self.error = error }

  package static let definition = EventDefinition(
    .closing, "The daemon is about to close the connection, for the reason in `message`.")
  package static let fields: [Field<Self>] = MediaError.fields.map { $0.within(\.error) }
}
