import PlayheadMediaCore

/// The assets of an export: one or several.
struct ExportSource: Sendable {
  /// At least one asset.
  let assets: [Asset]
  /// Whether all assets begin at the same time instead of one after another.
  let mixes: Bool

  /// The name of the source in messages.
  var name: String { assets[0].displayPath + (assets.count > 1 ? " and \(assets.count - 1) more" : "") }
  /// The time limit for opening one asset.
  var openingNanoseconds: Int64 { assets.map(\.openingNanoseconds).max() ?? 0 }

  /// The opened source of an export.
  struct OpenedSource {
    let asset: Asset
    let properties: AssetProperties
    /// The tags of the first asset.
    let metadata: AssetMetadata
    /// The asset from which artwork is loaded: the first one.
    let artworkAsset: Asset
    /// The chapters of a single asset; for several assets, one chapter for each.
    let chapters: [AssetChapter]
  }

  /// Opens all assets. Blocks.
  ///
  /// - Parameter opening: Returns the `AssetOpening` for the next asset; throws to stop.
  /// - Throws: The errors of `Asset.load` and `Composition.insertTimeRange`; `cancelled`.
  func open(_ opening: () throws(MediaError) -> AssetOpening) throws(MediaError) -> OpenedSource {
    guard assets.count > 1 else {
      let (asset, opening) = (assets[0], try opening())
      let properties = try opening.inspect(asset)
      return OpenedSource(
        asset: asset, properties: properties, metadata: try opening.metadata(of: asset), artworkAsset: asset,
        chapters: properties.chapters)
    }
    var (composition, chapters, first) = (Composition(), [AssetChapter](), AssetMetadata?.none)
    for asset in assets {
      let opening = try opening()
      let asset = try Self.withPreciseDuration(asset, opening)
      let duration = try opening.inspect(asset).duration
      guard duration.isNumeric else {
        throw MediaError(
          .unsupportedLocation, "the duration is unknown, so other assets cannot follow: \(asset.displayPath)",
          operation: "export")
      }
      let metadata = try opening.metadata(of: asset)
      first = first ?? metadata
      let range = TimeRange(start: .zero, duration: duration)
      if mixes {
        let track = try composition.addTrack(.audio)
        try composition.insertTimeRange(range, ofTrack: nil, of: asset, at: .zero, inTrack: track)
      } else {
        let start = composition.duration
        try composition.insertTimeRange(range, of: asset, at: start)
        let title = metadata.strings(.title).first ?? asset.location.fileName
        chapters.append(AssetChapter(title: title, timeRange: TimeRange(start: start, end: composition.duration)))
      }
    }
    let whole = Asset(composition: composition)
    return OpenedSource(
      asset: whole, properties: try whole.load(), metadata: first ?? AssetMetadata(), artworkAsset: assets[0],
      chapters: chapters)
  }

  /// Returns an asset with an exact duration, because the next asset begins at its end. Returns the asset itself if it
  /// cannot be read again.
  private static func withPreciseDuration(_ asset: Asset, _ opening: AssetOpening) throws(MediaError) -> Asset {
    let properties = try opening.inspect(asset)
    return properties.providesPreciseDuration || !properties.isSeekable ? asset : Asset(precise: asset)
  }
}

extension AssetLocation {
  /// The name of a file without folders and extension; nil if there is none.
  fileprivate var fileName: String? {
    let path: [UInt8]
    switch self {
    case .path(let bytes): path = bytes
    case .url(let url, _): path = Array(url.lastPathComponent.utf8)
    case .descriptor(let descriptor): path = Array(descriptor.name.utf8)
    case .source(let name, _): path = Array(name.utf8)
    case .data, .composition: return nil
    }
    guard let name = path.split(separator: UInt8(ascii: "/")).last else { return nil }
    let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
    return String(decoding: dot > name.startIndex ? name[..<dot] : name, as: UTF8.self)
  }
}
