import MediaCore

extension CommandTable {
  /// The fields of a row for one tag value.
  private static let metadataFields: [FieldSpec] = [
    .identifier.optional, .key.optional, .commonKey.optional, .tagType.optional, .value.optional, .bytes.optional,
    .mediaType.optional, .language.optional, .info.optional,
    .owner.optional, .artworkType.optional, .artwork.optional, .targetLevel.optional, .tagTotal.optional,
    .playCount.optional, .truncated.optional, .warning.optional,
    .code.optional, .name.optional,
    .message.optional,
  ]

  private static let metadataReply: [FieldSpec] = [
    .count, .next.nullable, .formats, .artworkCount, .trackGain.optional, .trackPeak.optional, .albumGain.optional,
    .albumPeak.optional,
    .r128TrackGain.optional, .r128AlbumGain.optional,
  ]

  private static let metadataDetails = """
    The first request reads the tags, also those of a file whose audio cannot be opened. The reply has a row for each \
    value, in the order of the file:

    - `identifier`: the key space and the key
    - `commonKey`: the meaning of the key in any format
    - `type`: `string`, `number`, `date`, or `data`, which has `bytes` and `mediaType` instead of `value`
    - `artwork`: the number of an image for `asset.artwork` and `item.artwork`
    - `targetLevel`: the level that a Matroska tag describes (30: the track, 50: its album)
    - `truncated`: true for a text of more than 16,384 bytes, of which `value` is only the beginning; `bytes` is its \
    size
    - `code`: the error of a value that was too large to be read or retained

    The rows after the last value have a `warning` each: a part of the tags that was ignored.

    The gains are in dB. `trackGain` and `albumGain` are for the reference loudness of ReplayGain, -18 LUFS. The R128 \
    gains are for -23 LUFS. A peak of 1 is full scale. Without a track gain in ReplayGain or R128 tags, `trackGain` is \
    that of iTunes' Sound Check (`iTunNORM`).

    The tags of a station are the header fields of its response (`icy/name`, `icy/genre`, `icy/url`, ...). The tags of \
    an HLS stream are the session data of its master playlist (`EXT-X-SESSION-DATA`: `hls/` and the name).

    `charset` applies to texts that do not state their encoding. Valid UTF-8 is always read as UTF-8. `automatic` \
    detects Chinese, Japanese, Korean, Cyrillic, Arabic, Greek, Hebrew and Thai encodings, and reads other texts as \
    Latin-1. A request with another `charset` than before reads the tags again.
    """

  private static let metadataParameters = [
    ParameterSpec(
      .space, .text(maximumByteCount: 256), .option, "SPACE",
      "only this key space: `comn`, `id3`, `itsk`, `itlk`, `vorbis`, `ape`, `riff`, `asf`, `mdta`, `udta`, `matroska`, `icy`, `hls`, ..."
    ),
    ParameterSpec(
      .identifier, .text(maximumByteCount: 4_096), .option, "SPACE/KEY",
      "only this key, such as `id3/TIT2`, or `comn/title` for every key with that meaning"),
    ParameterSpec(
      .language, .texts(maximumByteCount: 1_024, separator: .comma), .option, "LANG,...",
      "only values in one of these languages, sorted by their order"),
    ParameterSpec(
      .common, .flag, .option, "common",
      "common keys only, from the tag format with the highest priority; values have types, such as number or date"),
    ParameterSpec(
      .offset, .integer(0...Int.max), .option, "N",
      "the number of rows to skip: the `next` of the previous part of the list; default: 0"),
    charset,
  ]

  /// The encoding of texts in tags that do not state one.
  static let charset = ParameterSpec(
    .charset, .word(TextCharset.allCases.map(\.rawValue)), .option, "CHARSET",
    "the encoding of tags that do not state one (ID3v1, RIFF INFO, Latin-1 in ID3v2); default: `tags.charset` of the"
      + " configuration"
  )

  private static let artworkDetails = """
    The first request reads the tags. The parameters select one of three forms:

    - Without `file` and `offset`, the reply lists the images. If the list is too long for one reply, `next` is the \
    `from` of the next request.
    - With `file`, the daemon writes the image atomically. It replaces an existing file only with `replace`. The \
    client needs the right `write`, unless it has opened the file (`file=fd:TOKEN`, *Open files*).
    - With `offset`, the reply has a part of the image in base64. `next` is the `offset` of the next part.

    An image that exceeds the memory limit for tags (`code=2093`) is read again for each request.
    """

  private static let artworkParameters = [
    ParameterSpec(.from, .integer(0...Int.max), .option, "N", "the first image to list"),
    ParameterSpec(
      .index, .integer(0...Int.max), .option, "N",
      "the number of the image; default: the front cover, or else the first image"),
    ParameterSpec(.file, .outputPath, .option, "PATH", "the file to write"),
    ParameterSpec(.replace, .flag, .option, "replace", "replace an existing file"),
    ParameterSpec(.offset, .integer(0...Int.max), .option, "BYTE", "return a part of the image, from this byte"),
    ParameterSpec(
      .limit, .integer(1...ArtworkQuery.maximumPartByteCount), .option, "BYTES",
      "the maximum number of bytes; default: 32768"),
  ]

  private static let artworkFields: [FieldSpec] = [
    .artwork, .typeOfArtwork, .mediaType, .artworkDescription.optional, .bytes, .code.optional, .name.optional,
    .message.optional,
  ]
  private static let artworkReply: [FieldSpec] = [
    .count.optional, .artwork.optional, .typeOfArtwork.optional, .mediaType.optional, .artworkDescription.optional,
    .bytes.optional,
    .writtenFile.optional, .offset.optional, .next.nullable.optional, .data.optional,
  ]
  private static let artworkErrors: [MediaError.Code] = [
    .noSuchArtwork, .imageTooLarge, .fileExists, .writeFailed, .notAllowed, .noSuchDescriptor,
  ]

  /// The errors of reading a file's tags.
  private static let metadataErrors: [MediaError.Code] = [.cancelled] + mediaErrors

  private static let entry = ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one")

  /// Commands about tags and artwork.
  static let metadata: [CommandSpec] = [
    CommandSpec(
      .assetMetadata, .assets, "List the tags of an asset.", details: metadataDetails,
      parameters: [asset] + metadataParameters, waiting: .always, reply: [.asset] + metadataReply,
      rows: metadataFields, errors: [.noSuchAsset] + metadataErrors,
      example: [
        "> @5 asset.metadata 1",
        "< @5 | identifier=vorbis/TITLE key=TITLE commonKey=title type=string value=\"One More\"",
        "< @5 | identifier=vorbis/REPLAYGAIN_TRACK_GAIN key=REPLAYGAIN_TRACK_GAIN type=string value=\"-6.54 dB\"",
        "< @5 | identifier=vorbis/METADATA_BLOCK_PICTURE key=METADATA_BLOCK_PICTURE commonKey=artwork type=data"
          + " bytes=51234 mediaType=image/jpeg artworkType=frontCover artwork=0",
        "< @5 ok asset=1 count=3 next=none formats=vorbis artworkCount=1 trackGain=-6.54",
      ]
    ) { arguments throws(MediaError) in
      .asset(.metadata(asset: try arguments.required(.id, arguments.integer(.id)), arguments.metadataQuery))
    },
    CommandSpec(
      .itemMetadata, .items, "List the tags of an entry's file.", details: metadataDetails,
      parameters: [entry] + metadataParameters + [player], waiting: .always, right: .read,
      reply: [.item] + metadataReply,
      rows: metadataFields, errors: [.noSuchItem, .noSuchPlayer] + metadataErrors,
      example: [
        "> @6 item.metadata 2 common identifier=comn/trackNumber",
        "< @6 | identifier=comn/trackNumber key=trackNumber commonKey=trackNumber type=number value=3 total=12",
        "< @6 ok item=2 count=1 next=none formats=id3 artworkCount=0",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .metadata(item: arguments.entry, arguments.metadataQuery),
        player: arguments.player)
    },
    CommandSpec(
      .assetArtwork, .assets, "List the images in an asset's tags, or return one.", details: artworkDetails,
      parameters: [asset] + artworkParameters, waiting: .always, reply: [.asset] + artworkReply, rows: artworkFields,
      errors: [.noSuchAsset] + artworkErrors + metadataErrors,
      example: [
        "> @7 asset.artwork 1", "< @7 | artwork=0 type=frontCover mediaType=image/jpeg bytes=51234",
        "< @7 ok asset=1 count=1 next=none", "> @8 asset.artwork 1 file=/music/cover.jpg",
        "< @8 ok asset=1 artwork=0 type=frontCover mediaType=image/jpeg bytes=51234 file=/music/cover.jpg",
      ]
    ) { arguments throws(MediaError) in
      .asset(.artwork(asset: try arguments.required(.id, arguments.integer(.id)), try arguments.artworkQuery()))
    },
    CommandSpec(
      .itemArtwork, .items, "List the images in the tags of an entry's file, or return one.", details: artworkDetails,
      parameters: [entry] + artworkParameters + [player], waiting: .always, right: .read,
      reply: [.item] + artworkReply,
      rows: artworkFields, errors: [.noSuchItem, .noSuchPlayer] + artworkErrors + metadataErrors,
      example: [
        "> @9 item.artwork 2 offset=0 limit=12",
        "< @9 ok item=2 artwork=0 type=frontCover mediaType=image/jpeg bytes=51234 offset=0 next=12 data=/9j/4AAQSkZJRgAB",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .artwork(item: arguments.entry, try arguments.artworkQuery()),
        player: arguments.player)
    },
  ]
}

extension ParsedArguments {
  /// The tags that are requested.
  fileprivate var metadataQuery: MetadataQuery {
    MetadataQuery(
      space: text(.space), identifier: text(.identifier),
      languages: elements(.language), isCommon: flag(.common),
      offset: integer(.offset) ?? 0, charset: text(.charset).flatMap(TextCharset.init(rawValue:)))
  }

  /// The artwork that is requested.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other.
  fileprivate func artworkQuery() throws(MediaError) -> ArtworkQuery {
    let (index, offset) = (integer(.index), integer(.offset))
    let from = integer(.from)
    guard from == nil || offset == nil && path(.file) == nil else { throw failure("from excludes file and offset") }
    if let file = try outputFile() {
      guard offset == nil, integer(.limit) == nil else { throw failure("file and offset exclude each other") }
      return .file(index: index, file, replaces: flag(.replace))
    }
    guard !flag(.replace) else { throw failure("replace needs file") }
    guard let offset else {
      guard index == nil, integer(.limit) == nil else { throw failure("index and limit need file or offset") }
      return .list(from: from ?? 0)
    }
    return .part(index: index, offset: offset, limit: integer(.limit) ?? 32_768)
  }
}
