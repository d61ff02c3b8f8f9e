import PlayheadMediaCore

/// `history`: lists the entries that were played.
package enum HistoryCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let limit: Parameter<Int>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      let count = WireLimits.standard.listCount
      limit = list.option(
        .limit, .integer(0...count), "N", default: count, "the maximum number of entries; default: \(count)")
      player = list.player()
    }
  }

  package struct Row: ReplyFields {
    package var item: UInt64
    /// Nil if it is unknown.
    package var path: FilePath?
    /// `unknown`, `readyToPlay` or `failed`.
    package var status: String
    package var duration: MediaTime

    package init(item: UInt64, path: FilePath?, status: String, duration: MediaTime) {
      (self.item, self.path, self.status, self.duration) = (item, path, status, duration)
    }

    package static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(nullable: .path) { $0.path }, Field(.statusOfEntry) { $0.status },
      Field(nullable: .duration) { $0.duration },
    ]
  }

  package struct Reply: ReplyRows {
    /// The number of all entries of the history.
    package var count: Int
    package var version: UInt64
    package var rows: [Row]

    package init(count: Int, version: UInt64, rows: [Row]) {
      (self.count, self.version, self.rows) = (count, version, rows)
    }

    package static let fields: [Field<Self>] = [Field(.count) { $0.count }, Field(.version) { $0.version }]
  }

  package static let name: CommandName = "history"

  package static let definition = CommandDefinition<Self>(
    .queue, "List the history of the queue, newest first.",
    details:
      "The history contains the newest \(1_000) entries that ended or were left. It does not contain entries that"
      + " failed or were removed. `load` and `clear` clear the history.",
    right: .read, errors: [.noSuchPlayer],
    example: [
      "> history limit=1", "< | item=1 path=\"/music/one more.flac\" status=readyToPlay duration=183.2",
      "< ok count=4 version=8",
    ])
}
