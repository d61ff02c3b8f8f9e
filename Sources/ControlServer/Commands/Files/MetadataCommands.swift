import MediaAssets
import MediaCore
import WireProtocol

/// Commands about the tags of files. Other threads read the tags. The reply comes when the tags are read, or when
/// the artwork is written to a file.
extension Connection {
  /// Lists the tags of an asset of this connection.
  ///
  /// - Throws: `no-such-asset`.
  func startMetadata(
    ofAsset id: Int, _ query: MetadataQuery, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    startMetadata(of: try asset(id, .assetMetadata), head: ["asset": .int(id)], query, request)
  }

  /// Lists the tags of an entry of a queue.
  ///
  /// - Throws: `no-such-item`.
  func startMetadata(
    ofItem reference: EntryReference, of target: NamedPlayer, _ query: MetadataQuery, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    let item = try item(reference, of: target, .itemMetadata)
    startMetadata(of: item.asset, head: ["item": .int(item.id)], query, request)
  }

  /// Lists the artwork in an asset's tags, returns a part of one image, or writes the image to a file.
  ///
  /// - Throws: `no-such-asset`.
  func startArtwork(
    ofAsset id: Int, _ query: ArtworkQuery, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    try startArtwork(of: try asset(id, .assetArtwork), head: ["asset": .int(id)], query, request)
  }

  /// Lists the artwork of an entry of a queue, returns a part of one image, or writes the image to a file.
  ///
  /// - Throws: `no-such-item`.
  func startArtwork(
    ofItem reference: EntryReference, of target: NamedPlayer, _ query: ArtworkQuery, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    let item = try item(reference, of: target, .itemArtwork)
    try startArtwork(of: item.asset, head: ["item": .int(item.id)], query, request)
  }

  private func startMetadata(
    of asset: Asset, head: Fields, _ query: MetadataQuery, _ request: AnyWaitingRequest
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
      MetadataReply.tags(metadata, query, head: head, limits: limits)
    }
  }

  private func startArtwork(
    of asset: Asset, head: Fields, _ query: ArtworkQuery, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    let limits = server.limits
    switch query {
    case .list(let offset):
      replyWithMetadata(of: asset, request, blocks: false) { metadata, _ in
        MetadataReply.artwork(metadata, from: offset, head: head, limits: limits)
      }
    case .part(let index, let offset, let limit):
      replyWithMetadata(of: asset, request, blocks: true) { (_, opening) throws(MediaError) in
        let (index, image) = try opening.artwork(index, of: asset)
        return MetadataReply.part(image, index, offset: offset, limit: limit, head: head)
      }
    case .file(let index, let file, let replaces):
      let output = try server.registry.outputFile(file, replaces: replaces, for: peer?.userID)
      replyWithMetadata(of: asset, request, blocks: true) { (_, opening) throws(MediaError) in
        let (index, image) = try opening.artwork(index, of: asset)
        try output.write(image.data)
        return MetadataReply.written(image, index, file, head: head)
      }
    }
  }

  /// Replies with the result of `reply`, which gets an asset's tags. Reads tags that are not loaded. Without the right
  /// `control`, only loaded tags are allowed, and `blocks` must be false.
  ///
  /// `reply` runs on the thread that read the tags. If `blocks` is true, or if there are many tags, it runs on a thread
  /// that may block.
  private func replyWithMetadata(
    of asset: Asset, _ request: AnyWaitingRequest, blocks: Bool,
    reply: @escaping @Sendable (AssetMetadata, AssetOpening) throws(MediaError) -> Reply
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
        let result = Result { () throws(MediaError) in try reply(metadata, opening) }
        loop.execute {
          // All tags may have other titles than those that FFmpeg has read at the opening.
          if let loadedAsset, loadedAsset.titles != titles {
            for player in server.registry.players { player.observer.tagsChanged(of: loadedAsset) }
          }
          switch result {
          case .success(let reply): request.finish(reply)
          case .failure(let error): request.fail(error)
          }
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
