import PlayheadMediaCore

/// Commands about one entry of a queue.
public typealias ItemCommands = CommandList<
  ItemStatusCommand, ItemLogCommand, ItemPitchCommand, ItemCopyCommand, ItemEndTimeCommand, ItemBufferCommand,
  ItemVolumeCommand, ItemTracksCommand, ItemSelectionCommand, ItemChaptersCommand, ItemSelectCommand,
  ItemMetadataCommand, ItemArtworkCommand
>

/// The parameters of a command about one entry of a queue.
public protocol EntryParameters: ParameterList {
  /// The entry. Default: the current one.
  var id: Parameter<EntryReference> { get }
  var player: Parameter<String> { get }
}

/// The parameters of a command about one entry that has no other parameters.
public struct EntryAndPlayer: EntryParameters {
  public let id: Parameter<EntryReference>
  public let player: Parameter<String>

  public init(_ list: inout ParameterListBuilder) {
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
