import PlayheadMediaCore

/// Commands about assets: files that a connection opens without playing them.
package typealias AssetCommands = CommandList<
  AssetOpenCommand, AssetLoadCommand, AssetCancelCommand, AssetStatusCommand, AssetTracksCommand,
  AssetSelectionCommand, AssetChaptersCommand, AssetMetadataCommand, AssetArtworkCommand, AssetCloseCommand
>

/// The parameters of a command about one asset.
package protocol AssetParameters: ParameterList {
  /// The number of the asset, at least 1, valid on the connection that opened it.
  var id: Parameter<Int> { get }
}

/// The parameters of a command about one asset that has no other parameters.
package struct AssetID: AssetParameters {
  package let id: Parameter<Int>

  package init(_ list: inout ParameterListBuilder) { id = list.asset() }
}

extension ParameterListBuilder {
  /// Adds the number of an asset.
  mutating func asset() -> Parameter<Int> { required(.id, .integer(1...Int.max), "ID", "the asset") }
}

extension CommandTable {
  /// The errors of loading an asset.
  static let assetErrors: [MediaError.Code] = mediaErrors + [.onlyInOrder]
}

/// The reply that names an asset.
package struct AssetReply: ReplyFields {
  package var asset: Int

  package init(asset: Int) { self.asset = asset }

  package static let fields: [Field<Self>] = [Field(.asset) { $0.asset }]
}

/// `asset.open`: opens a file for inspection.
package enum AssetOpenCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let path: Parameter<FilePath>
    /// Whether the exact duration is determined.
    package let precise: Parameter<Bool>
    /// The encoding of tags that do not state one. Nil: that of the configuration.
    package let charset: Parameter<TextCharset?>
    package let network: Parameter<NetworkOptions>

    package init(_ list: inout ParameterListBuilder) {
      path = list.required(.path, .path, "PATH", "the path or URL of the file")
      precise = list.flag(
        .precise, "determine the duration exactly, if necessary by reading the whole file")
      charset = list.charset()
      network = list.network()
    }
  }

  package typealias Reply = AssetReply

  package static let name: CommandName = "asset.open"

  package static let definition = CommandDefinition<Self>(
    .assets, "Open a file for inspection, without playing it, and return its number.",
    details:
      "Nothing is read before `asset.load`. The number is valid on this connection only. When the connection"
      + " ends, its assets are closed.",
    errors: [.tooManyAssets, .unsupportedLocation, .invalidTime],
    example: ["> asset.open /music/one.flac", "< ok asset=1"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { try arguments.network.checkHeader() }
}

/// `asset.cancel`: cancels loading.
package enum AssetCancelCommand: ImmediateCommand {
  package struct Parameters: AssetParameters {
    package let id: Parameter<Int>
    /// Empty: all values.
    package let keys: Parameter<WireList<AssetValueKey>>

    package init(_ list: inout ParameterListBuilder) {
      id = list.asset()
      keys = list.optionalList(.keys, .word, "KEY", "the values to cancel; default: all")
    }
  }

  package typealias Reply = AssetReply

  package static let name: CommandName = "asset.cancel"

  package static let definition = CommandDefinition<Self>(
    .assets, "Cancel loading of an asset.",
    details: """
      Each `asset.load`, `asset.metadata` and `asset.artwork` that waits for a cancelled value fails with \
      `cancelled`. Loaded values stay. A cancelled value has the status `cancelled` until a request loads it again.

      Values are loaded in two groups, and a key cancels its whole group:

      - the tags: `metadata`, `commonMetadata` and `availableMetadataFormats`
      - all other values

      If only one group is cancelled, a request for both gets its reply when the other group is loaded.
      """,
    errors: [.noSuchAsset], example: ["> asset.cancel 1 duration", "< ok asset=1"])
}

/// `asset.close`: closes an asset.
package enum AssetCloseCommand: ImmediateCommand {
  package typealias Parameters = AssetID
  package typealias Reply = NoFields

  package static let name: CommandName = "asset.close"

  package static let definition = CommandDefinition<Self>(
    .assets, "Close an asset.", details: "Requests that wait for values of the asset fail with `cancelled`.",
    errors: [.noSuchAsset], example: ["> asset.close 1", "< ok"])
}
