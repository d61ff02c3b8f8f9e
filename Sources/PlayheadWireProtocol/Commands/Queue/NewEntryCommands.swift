import PlayheadMediaCore

/// `load`: replaces the queue.
package enum LoadCommand: NewEntriesCommand {
  package struct Parameters: NewEntriesParameterList {
    package let paths: Parameter<WireList<FilePath>>
    package let entries: NewEntryParameters

    package init(_ list: inout ParameterListBuilder) {
      paths = list.newPaths()
      entries = NewEntryParameters(&list)
    }
  }

  package typealias Reply = ExpandedEntriesReply

  package static let name: CommandName = "load"

  package static let definition = CommandDefinition<Self>(
    .queue, "Replace the queue.",
    details: """
      The history is cleared. A paused player stays paused. Playlists are expanded (*Playlists*).

      A file that cannot be played becomes an entry with the status `failed`. With `wait=ready`, the request fails \
      instead, with the error of the file.

      The duration is an estimate if the file does not state it exactly, as MP3 without a header, ADTS or Matroska \
      (`providesPreciseDuration=false`). It is corrected when the end has been read. `precise` determines the exact \
      duration first.
      """,
    errors: [.versionMismatch] + CommandTable.newEntryErrors,
    example: ["> load \"/music/one more.flac\" /music/two.flac", "< ok items=1,2 version=1"])

  package static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    .load(arguments.newEntries(arguments.paths, definition.parameters.entries))
  }
}

/// `append`: appends entries to the queue.
package enum AppendCommand: NewEntriesCommand {
  package typealias Parameters = LoadCommand.Parameters
  package typealias Reply = ExpandedEntriesReply

  package static let name: CommandName = "append"

  package static let definition = CommandDefinition<Self>(
    .queue, "Append entries to the queue.",
    details: "The reply has the ids of the new entries. It does not wait for files to open, but it waits until"
      + " playlists are read. A missing file becomes a failed entry. Each skipped playlist entry is a row. With"
      + " `wait=ready` the reply comes when all entries are ready, or has the error of the first that fails.",
    errors: [.versionMismatch] + CommandTable.newEntryErrors,
    example: ["> append /music/three.flac", "< ok items=3 version=2"])

  package static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    .append(arguments.newEntries(arguments.paths, definition.parameters.entries))
  }
}

/// `insert`: inserts entries into the queue.
package enum InsertCommand: NewEntriesCommand {
  package struct Parameters: NewEntriesParameterList {
    package let paths: Parameter<WireList<FilePath>>
    let after: Parameter<EntryReference?>
    let before: Parameter<EntryReference?>
    package let entries: NewEntryParameters

    package init(_ list: inout ParameterListBuilder) {
      paths = list.newPaths()
      after = list.option(.after, .entry, "ID", "after this entry")
      before = list.option(.before, .entry, "ID", "before this entry")
      entries = NewEntryParameters(&list)
    }
  }

  package typealias Reply = ExpandedEntriesReply

  package static let name: CommandName = "insert"

  package static let definition = CommandDefinition<Self>(
    .queue, "Insert entries after the current one, or elsewhere.",
    details: "If entries are inserted before the current one, the first of them becomes the current entry.",
    errors: [.noSuchItem, .versionMismatch] + CommandTable.newEntryErrors,
    example: ["> insert /music/four.flac after=2", "< ok items=4 version=3"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard arguments.after == nil || arguments.before == nil else {
      throw arguments.failure("after and before exclude each other")
    }
    try arguments.checkNewEntries(arguments.paths, definition.parameters.entries)
  }

  package static func edit(_ arguments: Arguments<Self>) -> RequestedEdit {
    let position =
      arguments.after.map { RequestedPosition.after(item: $0) }
      ?? arguments.before.map { RequestedPosition.before(item: $0) } ?? .next
    return .insert(arguments.newEntries(arguments.paths, definition.parameters.entries), at: position)
  }
}
