import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWireProtocol

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

extension Command where Parameters: AssetParameters {
  /// The asset that a request names.
  ///
  /// - Throws: `no-such-asset`.
  static func asset(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Asset {
    guard let asset = context.client.assets[arguments.id] else {
      throw MediaError(
        .noSuchAsset, "asset \(arguments.id) is not open on this connection", operation: name.rawValue)
    }
    return asset
  }
}

extension AssetOpenCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (client, server) = (context.client, context.server)
    guard client.assets.count < server.limits.assetCount else {
      throw MediaError(
        .tooManyAssets, "the limit of \(server.limits.assetCount) open assets is reached; use `asset.close`",
        operation: name.rawValue)
    }
    let asset = server.registry.makeAsset(
      arguments.path, server.registry.httpOptions(arguments.network), precise: arguments.precise,
      for: client.peer?.userID)
    if let charset = arguments.charset { asset.tagCharset = charset }
    return Reply(asset: client.assets.add(asset))
  }
}

extension AssetLoadCommand: WaitingHandler {
  /// Replies when the values are loaded, or when loading failed or was cancelled. If only some keys failed, the reply
  /// contains the values of the others.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let asset = try asset(arguments, context)
    let (id, keys, loop) = (arguments.id, Array(arguments.keys), context.server.loop)
    let load = asset.loadValues(forKeys: keys.compactMap { AssetKey(rawValue: $0.rawValue) }) { [weak asset] status in
      loop.execute { [asset] in
        if let asset, case .failed = status, let reply = partialReply(asset, id, keys) {
          request.finish(reply)
        } else {
          request.finish(with: result(status, id, keys))
        }
      }
    }
    request.onEnd { load.cancel() }
  }

  private static func result(
    _ status: AssetValueStatus<AssetValues>, _ id: Int, _ keys: [AssetValueKey]
  ) -> Result<Reply, MediaError> {
    switch status {
    case .loaded(let values):
      let rows = keys.map {
        AssetValueRow(key: $0, status: .loaded, value: AssetValue($0, values), error: nil)
      }
      return .success(Reply(asset: id, status: .loaded, rows: rows))
    case .failed(var error):
      error.operation = error.operation ?? name.rawValue
      return .failure(error)
    case .unknown, .loading, .cancelled:
      return .failure(MediaError(.cancelled, "loading asset \(id) was cancelled", operation: name.rawValue))
    }
  }

  /// The reply with the loaded values, and with the errors of the other keys. Nil if no value was loaded.
  private static func partialReply(_ asset: Asset, _ id: Int, _ keys: [AssetValueKey]) -> Reply? {
    let rows = keys.map { AssetValueRow($0, of: asset) }
    guard rows.contains(where: { $0.value != nil }) else { return nil }
    return Reply(asset: id, status: .failed, rows: rows)
  }
}

extension AssetCancelCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let asset = try asset(arguments, context)
    if arguments.keys.isEmpty {
      asset.cancelLoading()
    } else {
      asset.cancelLoading(arguments.keys.compactMap { AssetKey(rawValue: $0.rawValue) })
    }
    return Reply(asset: arguments.id)
  }
}

extension AssetStatusCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let asset = try asset(arguments, context)
    let status = asset.status(of: .tracks)
    return Reply(
      asset: arguments.id, path: asset.wireLocation, status: AssetLoadingStatus(status), error: status.error,
      rows: AssetValueKey.allCases.map { AssetValueRow($0, of: asset) })
  }
}

extension AssetCloseCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    _ = try asset(arguments, context)
    _ = context.client.assets.close(arguments.id)
    return Reply()
  }
}

extension AssetLoadingStatus {
  init<Value>(_ status: AssetValueStatus<Value>) {
    switch status {
    case .unknown: self = .unknown
    case .loading: self = .loading
    case .loaded: self = .loaded
    case .failed: self = .failed
    case .cancelled: self = .cancelled
    }
  }
}

extension AssetValueStatus {
  fileprivate var error: MediaError? { if case .failed(let error) = self { error } else { nil } }
}

extension AssetValueRow {
  /// The status of a key, with its value or its error.
  fileprivate init(_ key: AssetValueKey, of asset: Asset) {
    let status = AssetKey(rawValue: key.rawValue).map { asset.status(of: $0) } ?? .unknown
    self.init(
      key: key, status: AssetLoadingStatus(status), value: status.value.flatMap { AssetValue(key, $0) },
      error: status.error)
  }
}

extension AssetValue {
  /// The value of a key. Nil if `values` does not contain it.
  fileprivate init?(_ key: AssetValueKey, _ values: AssetValues) {
    if let value = values.metadata.flatMap({ AssetValue(key, $0) })
      ?? values.properties.flatMap({ AssetValue(key, $0) })
    {
      self = value
    } else {
      return nil
    }
  }

  private init?(_ key: AssetValueKey, _ metadata: AssetMetadata) {
    switch key {
    case .metadata: self = .count(metadata.items.count)
    case .commonMetadata: self = .count(metadata.commonMetadata.count)
    case .availableMetadataFormats: self = .formats(metadata.availableMetadataFormats.map(\.rawValue))
    case .tracks, .duration, .playable, .readable, .composable, .hasProtectedContent, .chapters, .preferredRate,
      .preferredVolume, .providesPreciseDuration:
      return nil
    }
  }

  private init?(_ key: AssetValueKey, _ properties: AssetProperties) {
    switch key {
    case .tracks: self = .count(properties.tracks.count)
    case .duration: self = .duration(properties.duration)
    case .playable: self = .condition(properties.isPlayable)
    case .readable: self = .condition(properties.isReadable)
    case .composable: self = .condition(properties.isComposable)
    case .hasProtectedContent: self = .condition(properties.hasProtectedContent)
    case .chapters: self = .count(properties.chapters.count)
    case .preferredRate: self = .rate(properties.preferredRate)
    case .preferredVolume: self = .volume(properties.preferredVolume)
    case .providesPreciseDuration: self = .condition(properties.providesPreciseDuration)
    case .metadata, .commonMetadata, .availableMetadataFormats: return nil
    }
  }
}
