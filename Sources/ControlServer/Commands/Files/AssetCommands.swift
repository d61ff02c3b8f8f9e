import MediaAssets
import MediaCore
import WireProtocol

/// The open assets of one connection, by id.
struct OpenAssets {
  private var assets: [Int: Asset] = [:]
  private var nextID = 1

  var count: Int { assets.count }

  subscript(id: Int) -> Asset? { assets[id] }

  /// Adds an asset and returns its id. Ids are not reused.
  mutating func add(_ asset: Asset) -> Int {
    defer { nextID += 1 }
    assets[nextID] = asset
    return nextID
  }

  /// Closes an asset and cancels its loading. Returns false if there is no such asset.
  mutating func close(_ id: Int) -> Bool {
    guard let asset = assets.removeValue(forKey: id) else { return false }
    asset.cancelLoading()
    return true
  }

  /// Closes all assets and cancels their loading.
  mutating func closeAll() {
    for asset in assets.values { asset.cancelLoading() }
    assets = [:]
  }
}

/// Commands about assets that are inspected without being played.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: AssetCommand) throws(MediaError) -> Reply? {
    switch command {
    case .open(let path, let precise, let charset, let network):
      guard assets.count < server.limits.assetCount else {
        throw MediaError(
          .tooManyAssets, "the limit of \(server.limits.assetCount) open assets is reached; use `asset.close`",
          operation: CommandName.assetOpen.rawValue)
      }
      let asset = server.registry.makeAsset(
        path, server.registry.httpOptions(network), precise: precise, for: peer?.userID)
      if let charset { asset.tagCharset = charset }
      return .ok(["asset": .int(assets.add(asset))])
    case .status(let id): return status(of: try asset(id, .assetStatus), id)
    case .cancel(let id, let keys):
      let asset = try asset(id, .assetCancel)
      if keys.isEmpty {
        asset.cancelLoading()
      } else {
        asset.cancelLoading(keys.compactMap { AssetKey(rawValue: $0.rawValue) })
      }
      return .ok(["asset": .int(id)])
    case .selection(let id):
      let groups = try Self.properties(of: try asset(id, .assetSelection), .assetSelection).mediaSelectionGroups
      return .ok(["asset": .int(id), "count": .int(groups.count)], rows: groups.flatMap { Self.rows($0) })
    case .tracks(let id):
      let properties = try Self.properties(of: try asset(id, .assetTracks), .assetTracks)
      return .ok(["asset": .int(id), "count": .int(properties.tracks.count)], rows: properties.tracks.map(Self.row))
    case .chapters(let id, let offset, let languages):
      return try chapters(of: try asset(id, .assetChapters), id, from: offset, languages: languages)
    case .close(let id):
      _ = try asset(id, .assetClose)
      _ = assets.close(id)
      return nil
    case .cancelScan(let id): return .ok(["cancelled": .int(operations.cancel(id))])
    case .load, .metadata, .artwork, .scan, .waveform, .image, .export, .folder:
      preconditionFailure("the handler of immediate commands got one that waits")
    }
  }

  /// The asset with this id.
  ///
  /// - Throws: `no-such-asset`.
  func asset(_ id: Int, _ command: CommandName) throws(MediaError) -> Asset {
    guard let asset = assets[id] else {
      throw MediaError(.noSuchAsset, "asset \(id) is not open on this connection", operation: command.rawValue)
    }
    return asset
  }

  /// Starts to load values. Replies when the values are loaded, or when loading failed or was cancelled. If only some
  /// keys failed, the reply contains the values of the others.
  func startLoading(_ id: Int, _ keys: [AssetValueKey], _ request: AnyWaitingRequest) throws(MediaError) {
    let asset = try asset(id, .assetLoad)
    let loop = server.loop
    let load = asset.loadValues(forKeys: keys.compactMap { AssetKey(rawValue: $0.rawValue) }) { [weak asset] status in
      loop.execute { [asset] in
        if let asset, case .failed = status, let reply = Self.partialReply(asset, id, keys) {
          request.finish(reply)
        } else {
          request.finish(Self.reply(status, id, keys))
        }
      }
    }
    request.onEnd { load.cancel() }
  }

  private static func reply(
    _ status: AssetValueStatus<AssetValues>, _ id: Int, _ keys: [AssetValueKey]
  ) -> Reply {
    let operation = CommandName.assetLoad.rawValue
    switch status {
    case .loaded(let values):
      return .ok(
        ["asset": .int(id), "status": .string(status.name)],
        rows: keys.map {
          ["key": .string($0.rawValue), "status": .string(status.name), "value": value($0, values)]
        })
    case .failed(var error):
      error.operation = error.operation ?? operation
      return .error(error)
    case .unknown, .loading, .cancelled:
      return .error(MediaError(.cancelled, "loading asset \(id) was cancelled", operation: operation))
    }
  }

  /// The reply with the loaded values, and with the errors of the other keys. Nil if no value was loaded.
  private static func partialReply(_ asset: Asset, _ id: Int, _ keys: [AssetValueKey]) -> Reply? {
    let rows = keys.map { row(asset, $0) }
    guard rows.contains(where: { $0["value"] != nil }) else { return nil }
    return .ok(["asset": .int(id), "status": "failed"], rows: rows)
  }

  /// The status of a key, with its value or its error.
  private static func row(_ asset: Asset, _ key: AssetValueKey) -> Fields {
    let status = AssetKey(rawValue: key.rawValue).map { asset.status(of: $0) } ?? .unknown
    var row: Fields = ["key": .string(key.rawValue), "status": .string(status.name)]
    row.append("value", ifPresent: status.value.map { value(key, $0) })
    append(status, to: &row)
    return row
  }

  /// Appends the name and the message of an error.
  static func append(_ error: MediaError, to fields: inout Fields) {
    fields.append("error", .string(error.code.name))
    fields.append("message", .string(error.message))
  }

  private static func append<Value>(_ status: AssetValueStatus<Value>, to fields: inout Fields) {
    if case .failed(let error) = status { append(error, to: &fields) }
  }

  private func status(of asset: Asset, _ id: Int) -> Reply {
    let status = asset.status(of: .tracks)
    var fields: Fields = [
      "asset": .int(id), "path": asset.wirePath,
      "status": .string(status.name),
    ]
    Self.append(status, to: &fields)
    return .ok(fields, rows: AssetValueKey.allCases.map { Self.row(asset, $0) })
  }

  private static func value(_ key: AssetValueKey, _ values: AssetValues) -> FieldValue {
    if let metadata = values.metadata {
      switch key {
      case .metadata: return .int(metadata.items.count)
      case .commonMetadata: return .int(metadata.commonMetadata.count)
      case .availableMetadataFormats: return .strings(metadata.availableMetadataFormats.map(\.rawValue))
      default: break
      }
    }
    guard let properties = values.properties else { return .none }
    return switch key {
    case .tracks: .int(properties.tracks.count)
    case .duration: .time(properties.duration)
    case .playable: .bool(properties.isPlayable)
    case .readable: .bool(properties.isReadable)
    case .composable: .bool(properties.isComposable)
    case .hasProtectedContent: .bool(properties.hasProtectedContent)
    case .chapters: .int(properties.chapters.count)
    case .preferredRate: .float(properties.preferredRate)
    case .preferredVolume: .float(properties.preferredVolume)
    case .providesPreciseDuration: .bool(properties.providesPreciseDuration)
    case .metadata, .commonMetadata, .availableMetadataFormats: .none
    }
  }

  private func chapters(
    of asset: Asset, _ id: Int, from offset: Int, languages: WireList<String>
  ) throws(MediaError) -> Reply {
    let properties = try Self.properties(of: asset, .assetChapters)
    return chapters(
      properties.chapters, properties.chapterFault, head: ["asset": .int(id)], from: offset, languages: languages)
  }
}
