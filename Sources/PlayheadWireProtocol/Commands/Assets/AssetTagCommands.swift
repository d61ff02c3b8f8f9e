import PlayheadMediaCore

/// `asset.metadata`: lists the tags of an asset.
package enum AssetMetadataCommand: WaitingCommand {
  package struct Parameters: AssetParameters {
    package let id: Parameter<Int>
    package let query: Parameter<MetadataQuery>

    package init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      query = list.metadataQuery()
    }
  }

  package struct Reply: ReplyRows {
    package var asset: Int
    package var tags: TagList

    package init(asset: Int, tags: TagList) { (self.asset, self.tags) = (asset, tags) }

    package var rows: [TagRow] { tags.rows }

    package static let fields: [Field<Self>] =
      [Field(.asset) { $0.asset }] + TagList.fields.map { $0.within { $0.tags } }
  }

  package static let name: CommandName = "asset.metadata"

  package static let definition = CommandDefinition<Self>(
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
package enum AssetArtworkCommand: WaitingCommand {
  package struct Parameters: AssetParameters, ArtworkParameters {
    package let id: Parameter<Int>
    package let artwork: Parameter<ArtworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      artwork = list.artworkOptions()
    }
  }

  package struct Reply: ReplyRows {
    package var asset: Int
    package var artwork: ArtworkReply

    package init(asset: Int, artwork: ArtworkReply) { (self.asset, self.artwork) = (asset, artwork) }

    package var rows: [ArtworkReply.Row] { artwork.rows }

    package static let fields: [Field<Self>] =
      [Field(.asset) { $0.asset }] + ArtworkReply.fields.map { $0.within { $0.artwork } }
  }

  package static let name: CommandName = "asset.artwork"

  package static let definition = CommandDefinition<Self>(
    .assets, "List the images in an asset's tags, or return one.", details: ArtworkReply.details,
    errors: [.noSuchAsset] + CommandTable.artworkErrors + CommandTable.metadataErrors,
    example: [
      "> @7 asset.artwork 1", "< @7 | artwork=0 type=frontCover mediaType=image/jpeg bytes=51234",
      "< @7 ok asset=1 count=1 next=none", "> @8 asset.artwork 1 file=/music/cover.jpg",
      "< @8 ok asset=1 artwork=0 type=frontCover mediaType=image/jpeg bytes=51234 file=/music/cover.jpg",
    ])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.writesArtworkFile }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.artworkQuery() }
}
