import PlayheadMediaCore

/// `queue.changes`: lists the changes of the queue.
package enum QueueChangesCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// The version after which the changes begin.
    package let since: Parameter<Int>
    /// The instance of the daemon that `since` belongs to. Nil: any.
    package let instance: Parameter<String?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      since = list.required(.since, .integer(0...Int.max), "VERSION", "an earlier version of the queue")
      instance = list.option(
        .instance, .text(maximumByteCount: 64), "INSTANCE", "the instance of the daemon with that version")
      player = list.player()
    }
  }

  /// A change of the queue.
  package struct Row: ReplyFields {
    /// The change. Indexes are 0 for the current entry.
    package enum Change: Sendable {
      /// An entry was added. The outer optional of `path` is nil if the entry is no longer in the queue. The inner one
      /// is nil if the path is unknown.
      case insert(item: UInt64, index: Int, path: FilePath??)
      case remove(item: UInt64, index: Int)
      case move(item: UInt64, from: Int, to: Int)
      /// The first entries moved to the end.
      case rotate(count: Int)
    }

    /// The version of the queue after the change.
    package var version: UInt64
    package var change: Change

    package init(version: UInt64, _ change: Change) { (self.version, self.change) = (version, change) }

    private var operation: String {
      switch change {
      case .insert: "insert"
      case .remove: "remove"
      case .move: "move"
      case .rotate: "rotate"
      }
    }
    private var item: UInt64? {
      switch change {
      case .insert(let item, _, _), .remove(let item, _), .move(let item, _, _): item
      case .rotate: nil
      }
    }
    private var from: Int? { if case .move(_, let from, _) = change { from } else { nil } }
    private var index: Int? {
      switch change {
      case .insert(_, let index, _), .remove(_, let index), .move(_, _, let index): index
      case .rotate: nil
      }
    }
    private var count: Int? { if case .rotate(let count) = change { count } else { nil } }
    private var path: FilePath?? { if case .insert(_, _, let path) = change { path } else { nil } }

    package static let fields: [Field<Self>] = [
      Field(.version) { $0.version }, Field(.op) { $0.operation }, Field(optional: .item) { $0.item },
      Field(optional: .from) { $0.from }, Field(optional: .index) { $0.index },
      Field(optional: .countOfRotation) { $0.count }, Field(nullableIfPresent: .path) { $0.path },
    ]
  }

  package struct Reply: ReplyRows {
    package var version: UInt64
    /// Nil if the whole order may have changed.
    package var changes: [Row]?

    package init(version: UInt64, changes: [Row]?) { (self.version, self.changes) = (version, changes) }

    package var rows: [Row] { changes ?? [] }

    package static let fields: [Field<Self>] = [
      Field(.version) { $0.version }, Field(.countOfRows) { $0.rows.count }, Field(.whole) { $0.changes == nil },
    ]
  }

  package static let name: CommandName = "queue.changes"

  package static let definition = CommandDefinition<Self>(
    .queue, "List the changes of the queue since a version.",
    details: """
      Applied in order to a copy of that version, the rows give the current queue. `op` is one of these:

      - `insert`: an entry was added at `index`; `path` is given while the entry is in the queue
      - `remove`: the entry at `index` was removed
      - `move`: the entry at `from` was moved to `index`
      - `rotate`: the first `count` entries were moved to the end

      If `whole=true`, there are no rows, and the client needs `list`. The reason is one of these:

      - the whole order changed (`load`, `clear`, `shuffle`)
      - there are too many changes
      - this instance does not know the version
      """,
    right: .read, errors: [.noSuchPlayer],
    example: [
      "> queue.changes 7", "< | version=8 op=insert item=12 index=3 path=/music/one.flac",
      "< | version=9 op=remove item=4 index=0", "< ok version=9 count=2 whole=false",
    ])
}
