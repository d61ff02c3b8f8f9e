import PlayheadMediaCore

/// `remove`: removes entries from the queue.
public enum RemoveCommand: ImmediateCommand, QueueEditingCommand {
  public struct Parameters: ParameterList {
    /// At least one.
    public let ids: Parameter<WireList<EntryReference>>
    public let ifVersion: Parameter<Int?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      ids = list.list("ids", .entry, "ID", "the ids of the entries")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  public typealias Reply = ChangedQueueReply

  public static let name: CommandName = "remove"

  public static let definition = CommandDefinition<Self>(
    .queue, "Remove entries from the queue.",
    details:
      "All entries are removed, or none: an id that is unknown or given twice is an error. If the current entry"
      + " is removed, the next entry plays.",
    errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + CommandTable.editErrors,
    example: ["> remove 4", "< ok version=4"])

  public static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(edit(arguments)), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}

extension RemoveCommand: SingleEditCommand {
  public static func edit(_ arguments: Arguments<Self>) -> RequestedEdit { .remove(arguments.ids) }
}

/// `move`: moves an entry.
public enum MoveCommand: ImmediateCommand, QueueEditingCommand {
  public struct Parameters: ParameterList {
    public let id: Parameter<EntryReference>
    /// 0 is the position of the current entry.
    public let to: Parameter<Int?>
    public let after: Parameter<EntryReference?>
    public let before: Parameter<EntryReference?>
    public let ifVersion: Parameter<Int?>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      id = list.optional(.id, .entry, "ID", default: .current, "the entry; default: the current one")
      to = list.option(.to, .integer(0...Int.max), "INDEX", "the new position; 0 is that of the current entry")
      after = list.option(.after, .entry, "ID", "after this entry")
      before = list.option(.before, .entry, "ID", "before this entry")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  public typealias Reply = ChangedQueueReply

  public static let name: CommandName = "move"

  public static let definition = CommandDefinition<Self>(
    .queue, "Move an entry.",
    details: """
      - `to` is the new position, counted from the current entry (0).
      - An entry that is moved to 0 becomes current and plays from its start. The former current entry becomes the \
      next one.
      - If the current entry is moved away, the next entry becomes current.
      - In a shuffled queue only the shuffled order changes.
      """,
    errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + CommandTable.editErrors,
    example: ["> move 4 to=1", "< ok version=4"])

  public static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard position(arguments) != nil else {
      throw arguments.failure("exactly one of to, after and before is required")
    }
  }

  public static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(edit(arguments)), player: arguments.player, ifVersion: arguments.ifVersion)
  }

  /// The new position. Nil unless the request has exactly one.
  private static func position(_ arguments: Arguments<Self>) -> RequestedPosition? {
    switch (arguments.to, arguments.after, arguments.before) {
    case (let index?, nil, nil): .index(index)
    case (nil, let id?, nil): .after(item: id)
    case (nil, nil, let id?): .before(item: id)
    default: nil
    }
  }
}

extension MoveCommand: SingleEditCommand {
  public static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    guard let position = position(arguments) else { preconditionFailure("a checked request has a position") }
    return .move(arguments.id, to: position)
  }
}

/// `replace`: replaces an entry.
public enum ReplaceCommand: ImmediateCommand, QueueEditingCommand {
  public struct Parameters: ParameterList {
    public let id: Parameter<EntryReference>
    public let path: Parameter<FilePath>
    public let precise: Parameter<Bool>
    public let ifVersion: Parameter<Int?>
    public let player: Parameter<String>
    public let network: Parameter<NetworkOptions>

    public init(_ list: inout ParameterListBuilder) {
      id = list.required(.id, .entry, "ID", "the entry")
      path = list.required(
        .path, .path, "PATH", "an absolute path, a `file://`, `http://` or `https://` URL, or `fd:TOKEN`")
      precise = list.precise()
      ifVersion = list.ifVersion()
      player = list.player()
      network = list.network()
    }
  }

  public typealias Reply = NewEntriesReply

  public static let name: CommandName = "replace"

  public static let definition = CommandDefinition<Self>(
    .queue, "Replace an entry by another file.",
    details: "The new entry has a new id. If it replaces the current entry, it plays from its start.",
    errors: [.noSuchItem, .versionMismatch, .noSuchPlayer, .unsupportedLocation] + CommandTable.editErrors,
    example: ["> replace 4 /music/five.flac", "< ok items=5 version=5"])

  public static func check(_ arguments: Arguments<Self>) throws(MediaError) { try arguments.network.checkHeader() }

  public static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(edit(arguments)), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}

extension ReplaceCommand: SingleEditCommand {
  public static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    .replace(
      arguments.id,
      by: RequestedEdit.NewEntries(
        [arguments.path], isPrecise: arguments.precise, network: arguments.network, resumes: false))
  }
}

/// `clear`: removes all entries.
public enum ClearCommand: ImmediateCommand, QueueEditingCommand {
  public typealias Parameters = PlayerVersionParameters
  public typealias Reply = ChangedQueueReply

  public static let name: CommandName = "clear"

  public static let definition = CommandDefinition<Self>(
    .queue, "Clear the queue.",
    details: "Playback ends, and the rate stays. The history is cleared.",
    errors: [.versionMismatch, .noSuchPlayer] + CommandTable.editErrors,
    example: ["> clear", "< ok version=5"])

  public static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(.clear), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}

extension ClearCommand: SingleEditCommand {
  public static func edit(_: Arguments<Self>) -> RequestedEdit { .clear }
}
