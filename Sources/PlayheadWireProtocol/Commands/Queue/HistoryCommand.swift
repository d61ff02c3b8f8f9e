import PlayheadMediaCore

/// `history`: lists the entries that were played.
public enum HistoryCommand: ImmediateCommand {
  public struct Parameters: ParameterList {
    public let limit: Parameter<Int>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      let count = WireLimits.standard.listCount
      limit = list.option(
        .limit, .integer(0...count), "N", default: count, "the maximum number of entries; default: \(count)")
      player = list.player()
    }
  }

  public struct Row: ReplyFields {
    public var item: UInt64
    /// Nil if it is unknown.
    public var path: FilePath?
    /// `unknown`, `readyToPlay` or `failed`.
    public var status: String
    public var duration: MediaTime

    public init(item: UInt64, path: FilePath?, status: String, duration: MediaTime) {
      (self.item, self.path, self.status, self.duration) = (item, path, status, duration)
    }

    public static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(nullable: .path) { $0.path }, Field(.statusOfEntry) { $0.status },
      Field(nullable: .duration) { $0.duration },
    ]
  }

  public struct Reply: ReplyRows {
    /// The number of all entries of the history.
    public var count: Int
    public var version: UInt64
    public var rows: [Row]

    public init(count: Int, version: UInt64, rows: [Row]) {
      (self.count, self.version, self.rows) = (count, version, rows)
    }

    public static let fields: [Field<Self>] = [Field(.count) { $0.count }, Field(.version) { $0.version }]
  }

  public static let name: CommandName = "history"

  public static let definition = CommandDefinition<Self>(
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
