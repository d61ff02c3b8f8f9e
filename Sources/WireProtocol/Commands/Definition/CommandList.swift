/// The commands of one family, as a list of types.
public protocol CommandFamily: Sendable {
  init()
  var entries: [CommandTable.Entry] { get }
}

/// A list of commands. The server extends it to lists whose commands all have handlers, so that a command without a
/// handler does not compile.
public struct CommandList<each Definition: Command>: CommandFamily {
  public init() {}

  /// The commands without their types.
  public var entries: [CommandTable.Entry] {
    var entries: [CommandTable.Entry] = []
    for entry in repeat CommandTable.Entry((each Definition).self) { entries.append(entry) }
    return entries
  }
}

/// A list of families.
public struct CommandFamilies<each Family: CommandFamily>: Sendable {
  public init() {}

  /// The commands without their types.
  public var entries: [CommandTable.Entry] {
    var entries: [CommandTable.Entry] = []
    for family in repeat (each Family)() { entries += family.entries }
    return entries
  }
}

/// All commands.
public typealias AllCommands = CommandFamilies<
  AssetCommands, ConnectionCommands, FileCommands, ItemCommands, PlaybackCommands, PlayersCommands, QueueCommands,
  RecordingCommands, SessionCommands, StateCommands, SynchronizedCommands, WatchingCommands
>
