/// Commands about files that are neither opened as assets nor played.
package typealias FileCommands = CommandList<
  FolderListCommand, ScanCommand, ScanCancelCommand, WaveformCommand, ExportCommand, ImageCommand
>
