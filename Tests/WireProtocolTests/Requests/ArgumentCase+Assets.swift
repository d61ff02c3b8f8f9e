import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let assets: [Self] = opening + loading + tracks + tags + artwork

  private static func path(_ text: String) throws -> FilePath { try FilePath(text: text) }

  private static let opening: [Self] = [
    Self("asset.open '/a b'", AssetOpenCommand.self) {
      try $0.path == path("/a b") && !$0.precise && $0.charset == nil && $0.network == NetworkOptions()
    },
    Self("asset.open '/a b' precise", AssetOpenCommand.self) { try $0.path == path("/a b") && $0.precise },
    Self("asset.open '/a b' charset=gbk", AssetOpenCommand.self) { !$0.precise && $0.charset == .gbk },
    Self("asset.open '/a b' network=false timeout=2 user-agent=me", AssetOpenCommand.self) {
      var network = NetworkOptions()
      (network.isNetworkAllowed, network.timeout, network.userAgent) = (false, try seconds("2"), "me")
      return try $0.path == path("/a b") && $0.network == network
    },
    Self("asset.open '/a b' header='X: y' header-for=any", AssetOpenCommand.self) {
      var network = NetworkOptions()
      (network.header, network.isHeaderForAny) = ("X: y", true)
      return $0.network == network
    },
    Self("asset.close 3", AssetCloseCommand.self) { $0.id == 3 },
  ]

  private static let loading: [Self] = [
    Self("asset.load 3 duration tracks", AssetLoadCommand.self) {
      $0.id == 3 && Array($0.keys) == [.duration, .tracks]
    },
    Self("asset.cancel 3", AssetCancelCommand.self) { $0.id == 3 && $0.keys.isEmpty },
    Self("asset.cancel 3 duration metadata", AssetCancelCommand.self) {
      $0.id == 3 && Array($0.keys) == [.duration, .metadata]
    },
    Self("asset.status 3", AssetStatusCommand.self) { $0.id == 3 },
  ]

  private static let tracks: [Self] = [
    Self("asset.tracks 3", AssetTracksCommand.self) { $0.id == 3 },
    Self("asset.selection 3", AssetSelectionCommand.self) { $0.id == 3 },
    Self("asset.chapters 3", AssetChaptersCommand.self) { $0.id == 3 && $0.offset == 0 && $0.languages.isEmpty },
    Self("asset.chapters 9 language=de offset=4", AssetChaptersCommand.self) {
      $0.id == 9 && $0.offset == 4 && $0.languages == ["de"]
    },
  ]

  private static let tags: [Self] = [
    Self("asset.metadata 3", AssetMetadataCommand.self) { $0.id == 3 && $0.query == MetadataQuery() },
    Self("asset.metadata 3 charset=koi8-r", AssetMetadataCommand.self) { $0.query == MetadataQuery(charset: .koi8r) },
    Self(
      "asset.metadata 3 space=id3 identifier=id3/TIT2 language=de,en common offset=7", AssetMetadataCommand.self
    ) {
      $0.query
        == MetadataQuery(
          space: "id3", identifier: "id3/TIT2", languages: ["de", "en"], isCommon: true, offset: 7)
    },
  ]

  private static func artwork(
    _ line: String, _ expected: @escaping @Sendable () throws -> ArtworkQuery
  ) -> Self {
    Self(line, AssetArtworkCommand.self) { try $0.id == 3 && $0.artworkQuery() == expected() }
  }

  private static let artwork: [Self] = [
    artwork("asset.artwork 3") { .list(from: 0) },
    artwork("asset.artwork 3 from=250") { .list(from: 250) },
    artwork("asset.artwork 3 offset=5") { .part(index: nil, offset: 5, limit: 32_768) },
    artwork("asset.artwork 3 file='/a b'") { .file(index: nil, try path("/a b"), replaces: false) },
    artwork("asset.artwork 3 index=2 file='/a b' replace") { .file(index: 2, try path("/a b"), replaces: true) },
  ]
}
