/// Commands that edit or list the queue of one player.
package typealias QueueCommands = CommandList<
  LoadCommand, AppendCommand, InsertCommand, RemoveCommand, MoveCommand, ReplaceCommand, ClearCommand,
  PlaylistExportCommand, ListCommand, NextCommand, PreviousCommand, JumpCommand, HistoryCommand, ShuffleCommand,
  OnFailureCommand, QueueEditCommand, QueueBeginCommand, QueueCommitCommand, QueueAbortCommand, QueueChangesCommand
>
