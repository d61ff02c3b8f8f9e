import MediaCore

extension CommandTable {
  /// The id of an asset.
  static let asset = ParameterSpec(.id, .integer(1...Int.max), .required, "ID", "the asset")

  /// The errors of loading an asset.
  static let assetErrors: [MediaError.Code] = mediaErrors + [.onlyInOrder]

  /// Commands about files that are inspected without being played.
  static let assets: [CommandSpec] = [
    CommandSpec(
      .assetOpen, .assets, "Gives a number to a file, to look at it without playing it.",
      details:
        "Nothing is read before `asset.load`. The number is this connection's own; with the connection its assets are closed.",
      parameters: [
        ParameterSpec(.path, .path, .required, "PATH", "the file, or its address"),
        ParameterSpec(
          .precise, .flag, .option, "precise", "find out the duration exactly, if need be by reading all of it"),
        charset,
      ] + network,
      reply: ["asset"], errors: [.tooManyAssets, .unsupportedPlace, .invalidTime],
      example: ["> asset.open /music/one.flac", "< ok asset=1"]
    ) { arguments throws(MediaError) in
      let path = try arguments.required(.path, arguments.path(.path))
      return .asset(
        .open(
          path, precise: arguments.flag(.precise),
          charset: arguments.text(.charset).flatMap(TextCharset.init(rawValue:)),
          network: try arguments.networkOptions()))
    },
    CommandSpec(
      .assetLoad, .assets, "Loads values of an asset, and gives them.",
      details:
        "A row for each key. Requests that come while it is loaded share one loading, and each is answered once."
        + " It ends when none of them waits any more. What cannot be loaded is an error, at once the next time; where it is so with some of the keys only, with the tags and not the rest, their rows say why and `status` is `failed`. `value` is a number of tracks,"
        + " chapters or tags, seconds, `true` or `false`, or the key spaces of its tags; `asset.tracks`, `asset.chapters` and `asset.metadata` list them.",
      parameters: [
        asset,
        ParameterSpec(.keys, .word(AssetValueKey.allCases.map(\.rawValue)), .list, "KEY", "what to load"),
      ],
      waiting: .always, reply: ["asset", "status"], rows: ["key", "status", "[value]", "[error]", "[message]"],
      errors: [.noSuchAsset, .cancelled] + assetErrors,
      example: [
        "> @4 asset.load 1 duration tracks", "< @4 | key=duration status=loaded value=183.2",
        "< @4 | key=tracks status=loaded value=1", "< @4 ok asset=1 status=loaded",
      ]
    ) { arguments throws(MediaError) in
      .asset(
        .load(
          asset: try arguments.required(.id, arguments.integer(.id)),
          arguments.list(.keys)))
    },
    CommandSpec(
      .assetCancel, .assets, "Gives up what is being loaded of an asset.",
      details:
        "Each `asset.load` that waits for it is answered once, with `cancelled`; so are `asset.metadata` and `asset.artwork`. What is loaded stays so. The status of what was being loaded is `cancelled` until"
        + " it is asked for again, which loads it anew. With keys only what these are read with is given up: the tags (`metadata`, `commonMetadata`, `availableMetadataFormats`) or all"
        + " the rest, for each is read at one go; who asked for both is answered when the other part is there, too.",
      parameters: [
        asset,
        ParameterSpec(
          .keys, .word(AssetValueKey.allCases.map(\.rawValue)), .optionalList, "KEY", "what to give up; default: all"
        ),
      ],
      reply: ["asset"], errors: [.noSuchAsset],
      example: ["> asset.cancel 1 duration", "< ok asset=1"]
    ) { arguments throws(MediaError) in
      .asset(
        .cancel(
          asset: try arguments.required(.id, arguments.integer(.id)),
          arguments.list(.keys)))
    },
    CommandSpec(
      .assetStatus, .assets, "Gives how far an asset's values are, without loading any.",
      details: "A row for each key: `unknown`, `loading`, `loaded`, `failed` or `cancelled`.",
      parameters: [asset], reply: ["asset", "path", "status", "[error]", "[message]"],
      rows: ["key", "status", "[value]", "[error]", "[message]"],
      errors: [.noSuchAsset],
      example: [
        "> asset.status 1", "< | key=tracks status=loaded value=1", "< | key=duration status=loaded value=183.2",
        "< ok asset=1 path=/music/one.flac status=loaded",
      ]
    ) { arguments throws(MediaError) in
      .asset(.status(asset: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .assetTracks, .assets, "Lists the tracks of an asset that is loaded.", details: trackDetails, parameters: [asset],
      reply: ["asset", "count"], rows: trackFields, errors: [.noSuchAsset, .invalidState] + assetErrors,
      example: [
        "> asset.tracks 1",
        "< | track=0 type=audio codec=aac playable=true enabled=true default=true start=0 duration=183.2 precise=true protected=false format=mp4a"
          + " sampleFormat=fltp sampleRate=44100 channels=2 layout=stereo bitRate=128000 language=und",
        "< ok asset=1 count=1",
      ]
    ) { arguments throws(MediaError) in
      .asset(.tracks(asset: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .assetChapters, .assets, "Lists the chapters of an asset that is loaded.",
      details: chapterDetails, parameters: [asset, chapterLanguage, chapterOffset], reply: ["asset"] + chapterReply,
      rows: chapterFields,
      errors: [.noSuchAsset, .invalidState] + assetErrors,
      example: [
        "> asset.chapters 1", "< | chapter=1 start=0 end=83.5 title=Prelude",
        "< | chapter=2 start=83.5 end=183.2 title=Fugue",
        "< ok asset=1 count=2 next=none",
      ]
    ) { arguments throws(MediaError) in
      .asset(
        .chapters(
          asset: try arguments.required(.id, arguments.integer(.id)), offset: arguments.integer(.offset) ?? 0,
          languages: arguments.elements(.language)))
    },
    CommandSpec(
      .assetClose, .assets, "Gives up an asset.",
      details: "What is being loaded of it is cancelled: those who wait for it are answered with `cancelled`.",
      parameters: [asset], errors: [.noSuchAsset], example: ["> asset.close 1", "< ok"]
    ) { arguments throws(MediaError) in
      .asset(.close(asset: try arguments.required(.id, arguments.integer(.id))))
    },
  ]
}
