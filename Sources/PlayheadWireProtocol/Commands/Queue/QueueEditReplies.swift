import PlayheadMediaCore

/// The result of an edit, from which the replies of the commands that edit the queue are made.
package struct QueueEditOutcome: Sendable {
  /// The effect of an edit.
  package enum Effect: Sendable {
    /// The queue was edited. `items` are the ids of the new entries. `version` is that of the queue after the edit.
    case applied(items: IntegerList, version: UInt64)
    /// The edit was collected. `count` is the number of edits that were collected for `queue.commit`.
    case collected(count: Int)
  }

  package var effect: Effect
  /// The number of entries of playlists that were left out.
  package var skippedCount = 0
  /// The entries that were left out, as far as they are reported.
  package var skippedEntries: [SkippedEntry] = []

  package init(_ effect: Effect) { self.effect = effect }

  /// The ids of the new entries. Nil if there are none, and for an edit that was only collected.
  fileprivate var items: IntegerList? {
    if case .applied(let items, _) = effect, !items.isEmpty { items } else { nil }
  }
  fileprivate var version: UInt64? { if case .applied(_, let version) = effect { version } else { nil } }
  fileprivate var pending: Int? { if case .collected(let count) = effect { count } else { nil } }
}

/// An entry of a playlist that was left out.
package struct SkippedEntry: ReplyFields {
  /// The line in the playlist, from 1. 0 if no single line is the cause.
  package var line: Int
  package var error: MediaError

  package init(line: Int, error: MediaError) { (self.line, self.error) = (line, error) }

  package static let fields: [Field<Self>] = [
    Field(.line) { $0.line }, Field(.code) { $0.error.code.rawValue }, Field(.name) { $0.error.code.name },
    Field(.message) { $0.error.message },
  ]
}

/// The reply of a command that edits the queue.
package protocol QueueEditReply: ReplyFields {
  init(_ outcome: QueueEditOutcome)
}

/// The reply of commands that add no entries.
package struct ChangedQueueReply: QueueEditReply {
  private let outcome: QueueEditOutcome

  package init(_ outcome: QueueEditOutcome) { self.outcome = outcome }

  package static var alternatives: [String] { ["version", "pending"] }

  package static let fields: [Field<Self>] = [
    Field(optional: .version) { $0.outcome.version }, Field(optional: .pending) { $0.outcome.pending },
  ]
}

/// The reply of commands that add entries without reading playlists.
package struct NewEntriesReply: QueueEditReply {
  private let outcome: QueueEditOutcome

  package init(_ outcome: QueueEditOutcome) { self.outcome = outcome }

  package static var alternatives: [String] { ["version", "pending"] }

  package static let fields: [Field<Self>] = [
    Field(optional: .items) { $0.outcome.items }, Field(optional: .version) { $0.outcome.version },
    Field(optional: .pending) { $0.outcome.pending },
  ]
}

/// The reply of commands that add entries and read playlists.
package struct ExpandedEntriesReply: QueueEditReply, ReplyRows {
  private let outcome: QueueEditOutcome

  package init(_ outcome: QueueEditOutcome) { self.outcome = outcome }

  package var rows: [SkippedEntry] { outcome.skippedEntries }

  package static var alternatives: [String] { ["version", "pending"] }

  package static let fields: [Field<Self>] = [
    Field(optional: .items) { $0.outcome.items }, Field(optional: .version) { $0.outcome.version },
    Field(optional: .pending) { $0.outcome.pending },
    Field(optional: .skippedEntries) { $0.outcome.skippedCount > 0 ? $0.outcome.skippedCount : nil },
  ]
}

/// The reply of `queue.commit`, which always applies the edits.
package struct CommittedReply: QueueEditReply {
  private let items: IntegerList?
  private let version: UInt64

  package init(_ outcome: QueueEditOutcome) {
    guard let version = outcome.version else { preconditionFailure("a commit was collected") }
    (items, self.version) = (outcome.items, version)
  }

  package static let fields: [Field<Self>] = [
    Field(optional: .items) { $0.items }, Field(.version) { $0.version },
  ]
}
