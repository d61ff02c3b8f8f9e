import PlayheadMediaCore

/// `item.copy`: inserts a copy of an entry into the queue.
package enum ItemCopyCommand: ImmediateCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// The copy is inserted after this entry. Nil with `before` nil: after the original entry.
    package let after: Parameter<EntryReference?>
    package let before: Parameter<EntryReference?>
    package let ifVersion: Parameter<Int?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      after = list.option(.after, .entry, "ID", "after this entry")
      before = list.option(.before, .entry, "ID", "before this entry")
      ifVersion = list.ifVersion()
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// The id of the copy.
    package var item: UInt64
    /// The version of the queue.
    package var version: UInt64

    package init(item: UInt64, version: UInt64) { (self.item, self.version) = (item, version) }

    package static let fields: [Field<Self>] = [
      Field(.items) { IntegerList([$0.item]) }, Field(.version) { $0.version },
    ]
  }

  package static let name: CommandName = "item.copy"

  package static let definition = CommandDefinition<Self>(
    .items, "Insert a copy of an entry into the queue.",
    details:
      "The copy has the same file and settings: end times, volume, pitch, tracks and buffer. Its state is that of"
      + " a new entry. By default, it is inserted after the original entry.",
    errors: [.invalidArgument, .invalidState, .noSuchItem, .versionMismatch, .queueTooLong, .noSuchPlayer],
    example: ["> item.copy 2", "< ok items=5 version=6"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.position() }
}

extension Arguments<ItemCopyCommand> {
  /// The position of the copy.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  package func position() throws(MediaError) -> RequestedPosition {
    switch (self.after, self.before) {
    case (nil, nil): return .after(item: self.id)
    case (let id?, nil): return .after(item: id)
    case (nil, let id?): return .before(item: id)
    case (_?, _?): throw failure("after and before exclude each other")
    }
  }
}
