import PlayheadMediaCore

/// `asset.metadata`: lists the tags of an asset.
public enum AssetMetadataCommand: WaitingCommand {
  public struct Parameters: AssetParameters {
    public let id: Parameter<Int>
    public let query: Parameter<MetadataQuery>

    public init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      query = list.metadataQuery()
    }
  }

  public struct Reply: ReplyRows {
    public var asset: Int
    public var tags: TagList

    public init(asset: Int, tags: TagList) { (self.asset, self.tags) = (asset, tags) }

    public var rows: [TagRow] { tags.rows }

    public static let fields: [Field<Self>] =
      [Field(.asset) { $0.asset }] + TagList.fields.map { $0.within { $0.tags } }
  }

  public static let name: CommandName = "asset.metadata"

  public static let definition = CommandDefinition<Self>(
    .assets, "List the tags of an asset.", details: TagList.details,
    errors: [.noSuchAsset] + CommandTable.metadataErrors,
    example: [
      "> @5 asset.metadata 1",
      "< @5 | identifier=vorbis/TITLE key=TITLE commonKey=title type=string value=\"One More\"",
      "< @5 | identifier=vorbis/REPLAYGAIN_TRACK_GAIN key=REPLAYGAIN_TRACK_GAIN type=string value=\"-6.54 dB\"",
      "< @5 | identifier=vorbis/METADATA_BLOCK_PICTURE key=METADATA_BLOCK_PICTURE commonKey=artwork type=data"
        + " bytes=51234 mediaType=image/jpeg artworkType=frontCover artwork=0",
      "< @5 ok asset=1 count=3 next=none formats=vorbis artworkCount=1 trackGain=-6.54",
    ])
}

/// `asset.artwork`: lists the images in an asset's tags, or returns one.
public enum AssetArtworkCommand: WaitingCommand {
  public struct Parameters: AssetParameters, ArtworkParameters {
    public let id: Parameter<Int>
    public let artwork: Parameter<ArtworkOptions>

    public init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      artwork = list.artworkOptions()
    }
  }

  public struct Reply: ReplyRows {
    public var asset: Int
    public var artwork: ArtworkReply

    public init(asset: Int, artwork: ArtworkReply) { (self.asset, self.artwork) = (asset, artwork) }

    public var rows: [ArtworkReply.Row] { artwork.rows }

    public static let fields: [Field<Self>] =
      [Field(.asset) { $0.asset }] + ArtworkReply.fields.map { $0.within { $0.artwork } }
  }

  public static let name: CommandName = "asset.artwork"

  public static let definition = CommandDefinition<Self>(
    .assets, "List the images in an asset's tags, or return one.", details: ArtworkReply.details,
    errors: [.noSuchAsset] + CommandTable.artworkErrors + CommandTable.metadataErrors,
    example: [
      "> @7 asset.artwork 1", "< @7 | artwork=0 type=frontCover mediaType=image/jpeg bytes=51234",
      "< @7 ok asset=1 count=1 next=none", "> @8 asset.artwork 1 file=/music/cover.jpg",
      "< @8 ok asset=1 artwork=0 type=frontCover mediaType=image/jpeg bytes=51234 file=/music/cover.jpg",
    ])

  public static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.writesArtworkFile }

  public static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.artworkQuery() }
}
