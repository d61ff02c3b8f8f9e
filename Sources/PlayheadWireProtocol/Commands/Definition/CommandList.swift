/// A list of commands: those of one family. The server extends it to lists whose commands all have handlers, so that a
/// command without a handler does not compile.
///
/// The type does not require that its arguments are commands; its extension does. To meet a requirement of the type,
/// the runtime would look up the conformance of every command, which takes milliseconds at the start of a program.
package struct CommandList<each Definition>: Sendable {
  package init() {}
}

extension CommandList where repeat each Definition: Command {
  /// The commands without their types.
  var entries: [CommandTable.Entry] {
    var entries: [CommandTable.Entry] = []
    for entry in repeat CommandTable.Entry((each Definition).self) { entries.append(entry) }
    return entries
  }
}

extension CommandTable {
  /// The commands of all families. `CommandHandler.all` has the handlers of the same families.
  static var families: [[Entry]] {
    [
      AssetCommands().entries, ConnectionCommands().entries, FileCommands().entries, ItemCommands().entries,
      PlaybackCommands().entries, PlayersCommands().entries, QueueCommands().entries, RecordingCommands().entries,
      SessionCommands().entries, StateCommands().entries, SynchronizedCommands().entries, WatchingCommands().entries,
    ]
  }
}
