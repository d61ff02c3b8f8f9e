import PlayheadMediaCore

/// `item.metadata`: lists the tags of an entry's file.
public enum ItemMetadataCommand: WaitingCommand {
  public struct Parameters: EntryParameters {
    public let id: Parameter<EntryReference>
    public let query: Parameter<MetadataQuery>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      query = list.metadataQuery()
      player = list.player()
    }
  }

  public struct Reply: ReplyRows {
    public var item: UInt64
    public var tags: TagList

    public init(item: UInt64, tags: TagList) { (self.item, self.tags) = (item, tags) }

    public var rows: [TagRow] { tags.rows }

    public static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + TagList.fields.map { $0.within { $0.tags } }
  }

  public static let name: CommandName = "item.metadata"

  public static let definition = CommandDefinition<Self>(
    .items, "List the tags of an entry's file.", details: TagList.details, right: .read,
    errors: [.noSuchItem, .noSuchPlayer] + CommandTable.metadataErrors,
    example: [
      "> @6 item.metadata 2 common identifier=comn/trackNumber",
      "< @6 | identifier=comn/trackNumber key=trackNumber commonKey=trackNumber type=number value=3 total=12",
      "< @6 ok item=2 count=1 next=none formats=id3 artworkCount=0",
    ])
}

/// `item.artwork`: lists the images in the tags of an entry's file, or returns one.
public enum ItemArtworkCommand: WaitingCommand {
  public struct Parameters: EntryParameters, ArtworkParameters {
    public let id: Parameter<EntryReference>
    public let artwork: Parameter<ArtworkOptions>
    public let player: Parameter<String>

    public init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      artwork = list.artworkOptions()
      player = list.player()
    }
  }

  public struct Reply: ReplyRows {
    public var item: UInt64
    public var artwork: ArtworkReply

    public init(item: UInt64, artwork: ArtworkReply) { (self.item, self.artwork) = (item, artwork) }

    public var rows: [ArtworkReply.Row] { artwork.rows }

    public static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + ArtworkReply.fields.map { $0.within { $0.artwork } }
  }

  public static let name: CommandName = "item.artwork"

  public static let definition = CommandDefinition<Self>(
    .items, "List the images in the tags of an entry's file, or return one.", details: ArtworkReply.details,
    right: .read,
    errors: [.noSuchItem, .noSuchPlayer] + CommandTable.artworkErrors + CommandTable.metadataErrors,
    example: [
      "> @9 item.artwork 2 offset=0 limit=12",
      "< @9 ok item=2 artwork=0 type=frontCover mediaType=image/jpeg bytes=51234 offset=0 next=12 data=/9j/4AAQSkZJRgAB",
    ])

  public static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.writesArtworkFile }

  public static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.artworkQuery() }
}
