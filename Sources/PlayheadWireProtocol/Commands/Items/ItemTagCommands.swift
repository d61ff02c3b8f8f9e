import PlayheadMediaCore

/// `item.metadata`: lists the tags of an entry's file.
package enum ItemMetadataCommand: WaitingCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    package let query: Parameter<MetadataQuery>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      query = list.metadataQuery()
      player = list.player()
    }
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    package var tags: TagList

    package init(item: UInt64, tags: TagList) { (self.item, self.tags) = (item, tags) }

    package var rows: [TagRow] { tags.rows }

    package static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + TagList.fields.map { $0.within { $0.tags } }
  }

  package static let name: CommandName = "item.metadata"

  package static let definition = CommandDefinition<Self>(
    .items, "List the tags of an entry's file.", details: TagList.details, right: .read,
    errors: [.noSuchItem, .noSuchPlayer] + CommandTable.metadataErrors,
    example: [
      "> @6 item.metadata 2 common identifier=comn/trackNumber",
      "< @6 | identifier=comn/trackNumber key=trackNumber commonKey=trackNumber type=number value=3 total=12",
      "< @6 ok item=2 count=1 next=none formats=id3 artworkCount=0",
    ])
}

/// `item.artwork`: lists the images in the tags of an entry's file, or returns one.
package enum ItemArtworkCommand: WaitingCommand {
  package struct Parameters: EntryParameters, ArtworkParameters {
    package let id: Parameter<EntryReference>
    package let artwork: Parameter<ArtworkOptions>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      artwork = list.artworkOptions()
      player = list.player()
    }
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    package var artwork: ArtworkReply

    package init(item: UInt64, artwork: ArtworkReply) { (self.item, self.artwork) = (item, artwork) }

    package var rows: [ArtworkReply.Row] { artwork.rows }

    package static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + ArtworkReply.fields.map { $0.within { $0.artwork } }
  }

  package static let name: CommandName = "item.artwork"

  package static let definition = CommandDefinition<Self>(
    .items, "List the images in the tags of an entry's file, or return one.", details: ArtworkReply.details,
    right: .read,
    errors: [.noSuchItem, .noSuchPlayer] + CommandTable.artworkErrors + CommandTable.metadataErrors,
    example: [
      "> @9 item.artwork 2 offset=0 limit=12",
      "< @9 ok item=2 artwork=0 type=frontCover mediaType=image/jpeg bytes=51234 offset=0 next=12 data=/9j/4AAQSkZJRgAB",
    ])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.writesArtworkFile }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.artworkQuery() }
}
