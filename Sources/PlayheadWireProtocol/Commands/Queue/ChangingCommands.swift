import PlayheadMediaCore

/// `remove`: removes entries from the queue.
package enum RemoveCommand: ImmediateCommand, QueueEditingCommand {
  package struct Parameters: ParameterList {
    /// At least one.
    package let ids: Parameter<WireList<EntryReference>>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      ids = list.list("ids", .entry, "ID", "the ids of the entries")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package typealias Reply = ChangedQueueReply

  package static let name: CommandName = "remove"

  package static let definition = CommandDefinition<Self>(
    .queue, "Remove entries from the queue.",
    details:
      "All entries are removed, or none: an id that is unknown or given twice is an error. If the current entry"
      + " is removed, the next entry plays.",
    errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + CommandTable.editErrors,
    example: ["> remove 4", "< ok version=4"])

  package static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(edit(arguments)), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}

extension RemoveCommand: SingleEditCommand {
  package static func edit(_ arguments: Arguments<Self>) -> RequestedEdit { .remove(arguments.ids) }
}

/// `move`: moves an entry.
package enum MoveCommand: ImmediateCommand, QueueEditingCommand {
  package struct Parameters: ParameterList {
    package let id: Parameter<EntryReference>
    /// 0 is the position of the current entry.
    package let to: Parameter<Int?>
    package let after: Parameter<EntryReference?>
    package let before: Parameter<EntryReference?>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.optional(.id, .entry, "ID", default: .current, "the entry; default: the current one")
      to = list.option(.to, .integer(0...Int.max), "INDEX", "the new position; 0 is that of the current entry")
      after = list.option(.after, .entry, "ID", "after this entry")
      before = list.option(.before, .entry, "ID", "before this entry")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package typealias Reply = ChangedQueueReply

  package static let name: CommandName = "move"

  package static let definition = CommandDefinition<Self>(
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

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard position(arguments) != nil else {
      throw arguments.failure("exactly one of to, after and before is required")
    }
  }

  package static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
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
  package static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    guard let position = position(arguments) else { preconditionFailure("a checked request has a position") }
    return .move(arguments.id, to: position)
  }
}

/// `replace`: replaces an entry.
package enum ReplaceCommand: ImmediateCommand, QueueEditingCommand {
  package struct Parameters: ParameterList {
    package let id: Parameter<EntryReference>
    package let path: Parameter<FilePath>
    package let precise: Parameter<Bool>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>
    package let network: Parameter<NetworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      id = list.required(.id, .entry, "ID", "the entry")
      path = list.required(
        .path, .path, "PATH", "an absolute path, a `file://`, `http://` or `https://` URL, or `fd:TOKEN`")
      precise = list.precise()
      ifVersion = list.ifVersion()
      player = list.player()
      network = list.network()
    }
  }

  package typealias Reply = NewEntriesReply

  package static let name: CommandName = "replace"

  package static let definition = CommandDefinition<Self>(
    .queue, "Replace an entry by another file.",
    details: "The new entry has a new id. If it replaces the current entry, it plays from its start.",
    errors: [.noSuchItem, .versionMismatch, .noSuchPlayer, .unsupportedLocation] + CommandTable.editErrors,
    example: ["> replace 4 /music/five.flac", "< ok items=5 version=5"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { try arguments.network.checkHeader() }

  package static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(edit(arguments)), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}

extension ReplaceCommand: SingleEditCommand {
  package static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    .replace(
      arguments.id,
      by: RequestedEdit.NewEntries(
        [arguments.path], isPrecise: arguments.precise, network: arguments.network, resumes: false))
  }
}

/// `clear`: removes all entries.
package enum ClearCommand: ImmediateCommand, QueueEditingCommand {
  package typealias Parameters = PlayerVersionParameters
  package typealias Reply = ChangedQueueReply

  package static let name: CommandName = "clear"

  package static let definition = CommandDefinition<Self>(
    .queue, "Clear the queue.",
    details: "Playback ends, and the rate stays. The history is cleared.",
    errors: [.versionMismatch, .noSuchPlayer] + CommandTable.editErrors,
    example: ["> clear", "< ok version=5"])

  package static func request(_ arguments: Arguments<Self>) -> QueueEditRequest {
    QueueEditRequest(.one(.clear), player: arguments.player, ifVersion: arguments.ifVersion)
  }
}

extension ClearCommand: SingleEditCommand {
  package static func edit(_: Arguments<Self>) -> RequestedEdit { .clear }
}
