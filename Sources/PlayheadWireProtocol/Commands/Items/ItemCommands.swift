import PlayheadMediaCore

/// Commands about one entry of a queue.
package typealias ItemCommands = CommandList<
  ItemStatusCommand, ItemLogCommand, ItemPitchCommand, ItemCopyCommand, ItemEndTimeCommand, ItemBufferCommand,
  ItemVolumeCommand, ItemTracksCommand, ItemSelectionCommand, ItemChaptersCommand, ItemSelectCommand,
  ItemMetadataCommand, ItemArtworkCommand
>

/// The parameters of a command about one entry of a queue.
package protocol EntryParameters: ParameterList {
  /// The entry. Default: the current one.
  var id: Parameter<EntryReference> { get }
  var player: Parameter<String> { get }
}

/// The parameters of a command about one entry that has no other parameters.
package struct EntryAndPlayer: EntryParameters {
  package let id: Parameter<EntryReference>
  package let player: Parameter<String>

  package init(_ list: inout ParameterListBuilder) {
    id = list.entry()
    player = list.player()
  }
}

extension ParameterListBuilder {
  /// Adds the entry. Default: the current one.
  mutating func entry() -> Parameter<EntryReference> {
    optional(.id, .entry, "ID", default: .current, "the entry; default: the current one")
  }
}
