import PlayheadMediaCore

/// Commands about the saved state: players, queues and bookmarks.
package typealias StateCommands = CommandList<
  StateCommand, StateSaveCommand, QueueSaveCommand, QueueLoadCommand, QueueSavedCommand, QueueForgetCommand,
  BookmarkAddCommand, BookmarkGoCommand, BookmarkListCommand, BookmarkRemoveCommand
>

/// `state`: shows whether players and queues are saved.
package enum StateCommand: ImmediateCommand {
  package struct Reply: ReplyFields {
    package var saving: Bool
    /// Nil without a folder.
    package var folder: FilePath?
    /// The number of writes since the start of the daemon.
    package var writes: Int
    /// The entries that failed at the start. Nil: none.
    package var crashed: [UInt64]?
    package var error: MediaError?

    package init(saving: Bool, folder: FilePath?, writes: Int, crashed: [UInt64]?, error: MediaError?) {
      (self.saving, self.folder, self.writes) = (saving, folder, writes)
      (self.crashed, self.error) = (crashed, error)
    }

    package static let fields: [Field<Self>] = [
      Field(.saving) { $0.saving }, Field(nullable: .folder) { $0.folder }, Field(.writes) { $0.writes },
      Field(optional: .crashed) { $0.crashed }, Field(optional: .code) { $0.error?.code.rawValue },
      Field(optional: .error) { $0.error?.code.name }, Field(optional: .message) { $0.error?.message },
    ]
  }

  package static let name: CommandName = "state"

  package static let definition = CommandDefinition<Self>(
    .state, "Show whether players and queues are saved.",
    details: """
      - `folder`: the folder of the state, or `none`
      - `writes`: the number of writes since the start
      - `error`: with `saving=false`, why nothing is saved. With `saving=true`, a damaged state was replaced at the \
      start, or changes cannot be written at the moment. Such changes are retained and written later.
      - `crashed`: the entries that failed at the start with `crashed-while-opening`
      """,
    right: .read, example: ["> state", "< ok saving=true folder=/var/lib/zoe/playhead writes=12"])
}

/// `state.save`: saves all changes.
package enum StateSaveCommand: WaitingCommand {
  package struct Reply: ReplyFields {
    /// The number of writes since the start of the daemon.
    package var writes: Int

    package init(writes: Int) { self.writes = writes }

    package static let fields: [Field<Self>] = [Field(.writes) { $0.writes }]
  }

  package static let name: CommandName = "state.save"

  package static let definition = CommandDefinition<Self>(
    .state, "Save all changes now, and reply when they are saved.",
    details: "Optional: every change is saved within a second.", errors: CommandTable.stateErrors,
    example: ["> state.save", "< ok writes=13"])
}

/// `queue.save`: saves a queue under a name.
package enum QueueSaveCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let name: Parameter<String>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      name = list.savedQueueName()
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var name: String
    package var count: Int

    package init(name: String, count: Int) { (self.name, self.count) = (name, count) }

    package static let fields: [Field<Self>] = [Field(.name) { $0.name }, Field(.countOfEntries) { $0.count }]
  }

  package static let name: CommandName = "queue.save"

  package static let definition = CommandDefinition<Self>(
    .state, "Save the queue under a name.",
    details:
      "The current entry is the first one of the saved queue. A saved queue of the same name is replaced."
      + " Positions, the history and the settings of the player are not saved.",
    errors: [.tooManySavedQueues, .noSuchPlayer] + CommandTable.stateErrors,
    example: ["> queue.save \"Sunday morning\"", "< ok name=\"Sunday morning\" count=12"])
}

/// `queue.load`: replaces a queue by a saved one.
package enum QueueLoadCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let name: Parameter<String>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      name = list.savedQueueName()
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var name: String
    package var count: Int
    /// The ids of the first and the last entry. Nil for an empty queue.
    package var first: UInt64?
    package var last: UInt64?
    package var version: UInt64

    package init(name: String, count: Int, first: UInt64?, last: UInt64?, version: UInt64) {
      (self.name, self.count, self.first, self.last, self.version) = (name, count, first, last, version)
    }

    package static let fields: [Field<Self>] = [
      Field(.name) { $0.name }, Field(.countOfEntries) { $0.count }, Field(optional: .first) { $0.first },
      Field(optional: .last) { $0.last }, Field(.version) { $0.version },
    ]
  }

  package static let name: CommandName = "queue.load"

  package static let definition = CommandDefinition<Self>(
    .state, "Replace the queue by a saved one.",
    details:
      "Corresponds to `load`: the rate stays, and the history is cleared. The entries have new ids. They keep"
      + " their network options and settings.",
    errors: [.noSuchSavedQueue, .versionMismatch, .queueTooLong, .noSuchPlayer] + CommandTable.stateErrors,
    example: ["> queue.load \"Sunday morning\"", "< ok name=\"Sunday morning\" count=12 first=20 last=31 version=5"])
}

/// `queue.saved`: lists the saved queues.
package enum QueueSavedCommand: WaitingCommand {
  package struct Row: ReplyFields {
    package var name: String
    package var count: Int
    /// In seconds since 1970.
    package var saved: Int64

    package init(name: String, count: Int, saved: Int64) { (self.name, self.count, self.saved) = (name, count, saved) }

    package static let fields: [Field<Self>] = [
      Field(.name) { $0.name }, Field(.countOfEntries) { $0.count }, Field(.saved) { $0.saved },
    ]
  }

  package struct Reply: ReplyRows {
    package var rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    package static let fields: [Field<Self>] = [Field(.count) { $0.rows.count }]
  }

  package static let name: CommandName = "queue.saved"

  package static let definition = CommandDefinition<Self>(
    .state, "List the saved queues by name.", details: "`saved` is a time in seconds since 1970.",
    right: .read, errors: CommandTable.stateErrors,
    example: ["> queue.saved", "< | name=\"Sunday morning\" count=12 saved=1795370400", "< ok count=1"])
}

/// `queue.forget`: deletes a saved queue.
package enum QueueForgetCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let name: Parameter<String>

    package init(_ list: inout ParameterListBuilder) { name = list.savedQueueName() }
  }

  package static let name: CommandName = "queue.forget"

  package static let definition = CommandDefinition<Self>(
    .state, "Delete a saved queue.", errors: [.noSuchSavedQueue] + CommandTable.stateErrors,
    example: ["> queue.forget \"Sunday morning\"", "< ok"])
}

extension ParameterListBuilder {
  fileprivate mutating func savedQueueName() -> Parameter<String> {
    required("name", .text(maximumByteCount: 255), "NAME", "the saved queue's name")
  }
}

extension CommandTable {
  /// The errors of commands that need saved state.
  static let stateErrors: [MediaError.Code] = [
    .stateNotSaved, .stateUnavailable, .stateInUse, .stateDamaged, .stateTooNew, .stateForeign, .stateDiskFull,
  ]
}
