import PlayheadMediaCore

/// `asset.load`: loads values of an asset.
package enum AssetLoadCommand: WaitingCommand {
  package struct Parameters: AssetParameters {
    package let id: Parameter<Int>
    /// At least one.
    package let keys: Parameter<WireList<AssetValueKey>>

    package init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      keys = list.list(.keys, .word, "KEY", "the values to load")
    }
  }

  package struct Reply: ReplyRows {
    package var asset: Int
    /// `loaded`, or `failed` if some values cannot be loaded.
    package var status: AssetLoadingStatus
    /// The values in the order of the request.
    package var rows: [AssetValueRow]

    package init(asset: Int, status: AssetLoadingStatus, rows: [AssetValueRow]) {
      (self.asset, self.status, self.rows) = (asset, status, rows)
    }

    package static let fields: [Field<Self>] = [Field(.asset) { $0.asset }, Field(.valueStatus) { $0.status }]
  }

  package static let name: CommandName = "asset.load"

  package static let definition = CommandDefinition<Self>(
    .assets, "Load values of an asset, and list them.",
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
    errors: [.noSuchAsset, .cancelled] + CommandTable.assetErrors,
    example: [
      "> @4 asset.load 1 duration tracks", "< @4 | key=duration status=loaded value=183.2",
      "< @4 | key=tracks status=loaded value=1", "< @4 ok asset=1 status=loaded",
    ])
}

/// `asset.status`: shows the loading status of an asset's values.
package enum AssetStatusCommand: ImmediateCommand {
  package typealias Parameters = AssetID

  package struct Reply: ReplyRows {
    package var asset: Int
    /// The path, the URL without user name and password, or the name of the descriptor. Nil if it is unknown.
    package var path: FilePath?
    package var status: AssetLoadingStatus
    /// Nil unless the asset cannot be loaded.
    package var error: MediaError?
    /// All values, in the order of ``AssetValueKey``.
    package var rows: [AssetValueRow]

    package init(asset: Int, path: FilePath?, status: AssetLoadingStatus, error: MediaError?, rows: [AssetValueRow]) {
      (self.asset, self.path, self.status) = (asset, path, status)
      (self.error, self.rows) = (error, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.asset) { $0.asset }, Field(nullable: .path) { $0.path }, Field(.valueStatus) { $0.status },
      Field(optional: .error) { $0.error?.code.name }, Field(optional: .message) { $0.error?.message },
    ]
  }

  package static let name: CommandName = "asset.status"

  package static let definition = CommandDefinition<Self>(
    .assets, "Show the loading status of an asset's values, without loading any.",
    details: """
      The reply has a row for each key. Its `status` is one of these:

      - `unknown`: no request has loaded the value
      - `loading`: the value is being loaded
      - `loaded`: `value` has the value
      - `failed`: the value cannot be loaded; the row has the error
      - `cancelled`: loading was cancelled
      """,
    errors: [.noSuchAsset],
    example: [
      "> asset.status 1", "< | key=tracks status=loaded value=1", "< | key=duration status=loaded value=183.2",
      "< ok asset=1 path=/music/one.flac status=loaded",
    ])
}
