import MediaCore

/// What an export is made of: a file, or several.
struct ExportSource: Sendable {
  /// At least one.
  let assets: [Asset]
  /// All at once, not one behind the other.
  let mixes: Bool

  /// What stands for it in messages.
  var name: String { assets[0].displayPath + (assets.count > 1 ? " and \(assets.count - 1) more" : "") }
  /// How long opening each may take.
  var openingNanoseconds: Int64 { assets.map(\.openingNanoseconds).max() ?? 0 }

  /// What is read, and what there is to say of it.
  struct Material {
    let asset: Asset
    let properties: AssetProperties
    /// Of the first file.
    let metadata: AssetMetadata
    /// Whose pictures they are.
    let tagged: Asset
    /// Of a file those that it has; of several, one for each.
    let chapters: [AssetChapter]
  }

  /// Opens all of them. Blocks.
  ///
  /// - Parameter opening: answers with what the next file is opened, or throws.
  /// Errors: those of `Asset.load`, `Composition.insertTimeRange`; `cancelled`.
  func material(_ opening: () throws(MediaError) -> AssetOpening) throws(MediaError) -> Material {
    guard assets.count > 1 else {
      let (asset, opening) = (assets[0], try opening())
      let properties = try opening.inspect(asset)
      return Material(
        asset: asset, properties: properties, metadata: try opening.metadata(of: asset), tagged: asset,
        chapters: properties.chapters)
    }
    var (composition, chapters, first) = (Composition(), [AssetChapter](), AssetMetadata?.none)
    for asset in assets {
      let opening = try opening()
      let asset = try Self.measured(asset, opening)
      let duration = try opening.inspect(asset).duration
      guard duration.isNumeric else {
        throw MediaError(
          .unsupportedPlace, "it is not known how long it is, so nothing can follow it: \(asset.displayPath)",
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
        let title = metadata.strings(.title).first ?? asset.place.fileName
        chapters.append(AssetChapter(title: title, timeRange: TimeRange(start: start, end: composition.duration)))
      }
    }
    let whole = Asset(composition: composition)
    return Material(
      asset: whole, properties: try whole.load(), metadata: first ?? AssetMetadata(), tagged: assets[0],
      chapters: chapters)
  }

  /// An asset whose duration is exact, because another one follows it, if the file can be read again.
  private static func measured(_ asset: Asset, _ opening: AssetOpening) throws(MediaError) -> Asset {
    let properties = try opening.inspect(asset)
    return properties.providesPreciseDuration || !properties.isSeekable ? asset : Asset(precise: asset)
  }
}

extension AssetPlace {
  /// The name of a file without folders and extension; nil where there is none.
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
