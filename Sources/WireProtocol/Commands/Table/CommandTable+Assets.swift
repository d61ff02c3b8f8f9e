import MediaCore

extension CommandTable {
  /// The id of an asset.
  static let asset = ParameterSpec(.id, .integer(1...Int.max), .required, "ID", "the asset")

  /// The errors of loading an asset.
  static let assetErrors: [MediaError.Code] = mediaErrors + [.onlyInOrder]

  /// Commands about files that are inspected without being played.
  static let assets: [CommandSpec] = [
    CommandSpec(
      .assetOpen, .assets, "Open a file for inspection, without playing it, and return its number.",
      details:
        "Nothing is read before `asset.load`. The number is valid on this connection only. When the connection"
        + " ends, its assets are closed.",
      parameters: [
        ParameterSpec(.path, .path, .required, "PATH", "the path or URL of the file"),
        ParameterSpec(
          .precise, .flag, .option, "precise",
          "determine the duration exactly, if necessary by reading the whole"
            + " file"),
        charset,
      ] + network,
      reply: [.asset], errors: [.tooManyAssets, .unsupportedLocation, .invalidTime],
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
      .assetLoad, .assets, "Load values of an asset, and list them.",
      details: """
        The reply has a row for each key, with this `value`:

        - `tracks`, `chapters`, `metadata`, `commonMetadata`: the number of tracks, chapters, tags, or tags with a \
        common key. `asset.tracks`, `asset.chapters` and `asset.metadata` list them.
        - `availableMetadataFormats`: the key spaces of the tags, such as `id3`
        - `duration`: the duration in seconds
        - `providesPreciseDuration`: whether the duration is exact
        - `playable`: whether the asset can be played
        - `readable`: whether audio can be read
        - `composable`: whether the asset can be part of a composition: it is readable, and its duration is known
        - `hasProtectedContent`: whether a track needs a decryption key
        - `preferredRate`, `preferredVolume`: the rate and the volume that the file requests; 1 by default

        Requests for a key that is being loaded share the loading. The daemon cancels the loading when no request \
        waits for it any more.

        A value that cannot be loaded is an error, and later requests for it fail at once. If only some of the keys \
        fail, for example the tags, `status` is `failed`, and the rows of these keys have the error.
        """,
      parameters: [
        asset,
        ParameterSpec(.keys, .word(AssetValueKey.allCases.map(\.rawValue)), .list, "KEY", "the values to load"),
      ],
      waiting: .always, reply: [.asset, .valueStatus],
      rows: [.key, .valueStatus, .value.optional, .error.optional, .message.optional],
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
      .assetCancel, .assets, "Cancel loading of an asset.",
      details: """
        Each `asset.load`, `asset.metadata` and `asset.artwork` that waits for a cancelled value fails with \
        `cancelled`. Loaded values stay. A cancelled value has the status `cancelled` until a request loads it again.

        Values are loaded in two groups, and a key cancels its whole group:

        - the tags: `metadata`, `commonMetadata` and `availableMetadataFormats`
        - all other values

        If only one group is cancelled, a request for both gets its reply when the other group is loaded.
        """,
      parameters: [
        asset,
        ParameterSpec(
          .keys, .word(AssetValueKey.allCases.map(\.rawValue)), .optionalList, "KEY",
          "the values to cancel; default: all"
        ),
      ],
      reply: [.asset], errors: [.noSuchAsset],
      example: ["> asset.cancel 1 duration", "< ok asset=1"]
    ) { arguments throws(MediaError) in
      .asset(
        .cancel(
          asset: try arguments.required(.id, arguments.integer(.id)),
          arguments.list(.keys)))
    },
    CommandSpec(
      .assetStatus, .assets, "Show the loading status of an asset's values, without loading any.",
      details: """
        The reply has a row for each key. Its `status` is one of these:

        - `unknown`: no request has loaded the value
        - `loading`: the value is being loaded
        - `loaded`: `value` has the value
        - `failed`: the value cannot be loaded; the row has the error
        - `cancelled`: loading was cancelled
        """,
      parameters: [asset], reply: [.asset, .path.nullable, .valueStatus, .error.optional, .message.optional],
      rows: [.key, .valueStatus, .value.optional, .error.optional, .message.optional],
      errors: [.noSuchAsset],
      example: [
        "> asset.status 1", "< | key=tracks status=loaded value=1", "< | key=duration status=loaded value=183.2",
        "< ok asset=1 path=/music/one.flac status=loaded",
      ]
    ) { arguments throws(MediaError) in
      .asset(.status(asset: try arguments.required(.id, arguments.integer(.id))))
    },
    CommandSpec(
      .assetTracks, .assets, "List the tracks of a loaded asset.", details: trackDetails, parameters: [asset],
      reply: [.asset, .count], rows: trackFields, errors: [.noSuchAsset, .invalidState] + assetErrors,
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
      .assetChapters, .assets, "List the chapters of a loaded asset.",
      details: chapterDetails, parameters: [asset, chapterLanguage, chapterOffset], reply: [.asset] + chapterReply,
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
      .assetClose, .assets, "Close an asset.",
      details: "Requests that wait for values of the asset fail with `cancelled`.",
      parameters: [asset], errors: [.noSuchAsset], example: ["> asset.close 1", "< ok"]
    ) { arguments throws(MediaError) in
      .asset(.close(asset: try arguments.required(.id, arguments.integer(.id))))
    },
  ]
}
