import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWireProtocol

extension AssetMetadataCommand: WaitingHandler {
  /// Replies when the tags are read.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let id = arguments.id
    context.client.startMetadata(of: try asset(arguments, context), arguments.query, request) {
      Reply(asset: id, tags: $0)
    }
  }
}

extension AssetArtworkCommand: WaitingHandler {
  /// Replies when the tags are read, or when the image is written to a file.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (id, asset) = (arguments.id, try asset(arguments, context))
    try context.client.startArtwork(of: asset, try arguments.artworkQuery(), request) {
      Reply(asset: id, artwork: $0)
    }
  }
}

extension ItemMetadataCommand: WaitingHandler {
  /// Replies when the tags are read.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let item = try item(arguments, context)
    let id = item.id
    context.client.startMetadata(of: item.asset, arguments.query, request) { Reply(item: id, tags: $0) }
  }
}

extension ItemArtworkCommand: WaitingHandler {
  /// Replies when the tags are read, or when the image is written to a file.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let item = try item(arguments, context)
    let id = item.id
    try context.client.startArtwork(of: item.asset, try arguments.artworkQuery(), request) {
      Reply(item: id, artwork: $0)
    }
  }
}

/// Reads the tags of files. Other threads read them and create the replies.
extension Client {
  fileprivate func startMetadata<Definition: Command>(
    of asset: Asset, _ query: MetadataQuery, _ request: WaitingRequest<Definition>,
    reply: @escaping @Sendable (TagList) -> Definition.Reply
  ) {
    let limits = server.limits
    if let charset = query.charset, charset != asset.tagCharset {
      // A new encoding reads the tags again, which is expensive, and changes the results of other connections.
      guard peer?.rights.contains(.control) == true else {
        return request.fail(MediaError(.notAllowed, "a choice of the tag encoding needs the right to control"))
      }
      asset.tagCharset = charset
    }
    replyWithMetadata(of: asset, request, blocks: false) { metadata, _ in
      reply(MetadataReply.tags(metadata, query, limits: limits))
    }
  }

  fileprivate func startArtwork<Definition: Command>(
    of asset: Asset, _ query: ArtworkQuery, _ request: WaitingRequest<Definition>,
    reply: @escaping @Sendable (ArtworkReply) -> Definition.Reply
  ) throws(MediaError) {
    let limits = server.limits
    switch query {
    case .list(let offset):
      replyWithMetadata(of: asset, request, blocks: false) { metadata, _ in
        reply(MetadataReply.artwork(metadata, from: offset, limits: limits))
      }
    case .part(let index, let offset, let limit):
      replyWithMetadata(of: asset, request, blocks: true) { (_, opening) throws(MediaError) in
        let (index, image) = try opening.artwork(index, of: asset)
        return reply(MetadataReply.part(image, index, offset: offset, limit: limit))
      }
    case .file(let index, let file, let replaces):
      let output = try server.registry.outputFile(file, replaces: replaces, for: peer?.userID)
      replyWithMetadata(of: asset, request, blocks: true) { (_, opening) throws(MediaError) in
        let (index, image) = try opening.artwork(index, of: asset)
        try output.write(image.data)
        return reply(MetadataReply.written(image, index, file))
      }
    }
  }

  /// Replies with the result of `reply`, which gets an asset's tags. Reads tags that are not loaded. Without the right
  /// `control`, only loaded tags are allowed, and `blocks` must be false.
  ///
  /// `reply` runs on the thread that read the tags. If `blocks` is true, or if there are many tags, it runs on a thread
  /// that may block.
  private func replyWithMetadata<Definition: Command>(
    of asset: Asset, _ request: WaitingRequest<Definition>, blocks: Bool,
    reply: @escaping @Sendable (AssetMetadata, AssetOpening) throws(MediaError) -> Definition.Reply
  ) {
    if peer?.rights.contains(.control) != true, blocks || asset.status(of: AssetKey.metadata).value == nil {
      return request.fail(
        MediaError(
          .notAllowed,
          "reading tags from a file needs the right to control: those of \(asset.displayPath) are not in memory"))
    }
    let (server, loop, titles) = (server, server.loop, asset.titles)
    let cancelledError = MediaError(.cancelled, "reading the tags was cancelled: \(asset.displayPath)")
    let opening = AssetOpening()
    // Weak, so that the request does not retain an asset that was closed or left the queue.
    let load = asset.loadValues(forKeys: [.metadata]) { [weak asset] status in
      let loadedAsset = asset
      @Sendable func sendReply(_ metadata: AssetMetadata) {
        // Encodes the rows on this thread, because there may be many.
        let result = Result { () throws(MediaError) in EncodedReply<Definition>(try reply(metadata, opening)) }
        loop.execute {
          // All tags may have other titles than those that FFmpeg has read at the opening.
          if let loadedAsset, loadedAsset.titles != titles {
            for player in server.registry.players { player.observer.tagsChanged(of: loadedAsset) }
          }
          request.finish(with: result)
        }
      }
      switch status {
      case .loaded(let values):
        let metadata = values.metadata ?? AssetMetadata()
        guard blocks || metadata.items.count > MetadataReply.quickItemCount else { return sendReply(metadata) }
        guard let asset else { return loop.execute { request.fail(cancelledError) } }
        opening.run(for: asset) {
          sendReply(metadata)
        } timedOut: { error in
          loop.execute { request.fail(error) }
        }
      case .failed(let error): loop.execute { request.fail(error) }
      case .unknown, .loading, .cancelled:
        loop.execute { request.fail(cancelledError) }
      }
    }
    request.onEnd {
      load.cancel()
      opening.cancel()
    }
  }
}
