// Combines the tags that TagLib and FFmpeg read from an open file. Runs on the calling thread.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadTags

/// Reads the metadata of media files.
package enum MetadataReader {
  /// Reads all tags of an asset's file, with isolation in a worker. Blocks.
  ///
  /// - Throws: The errors of `Asset.load`.
  static func read(_ source: FileSource, of asset: Asset) throws(MediaError) -> AssetMetadata {
    do throws(MediaError) { return try readContainer(source, of: asset) } catch {
      // The tags may be complete although FFmpeg cannot open the file.
      if let metadata = try readTagsOnly(source, of: asset, after: error) { return metadata }
      throw error
    }
  }

  private static func readContainer(_ source: FileSource, of asset: Asset) throws(MediaError) -> AssetMetadata {
    let workerMetadata = try asset.isolation.run(
      .loadMetadata, asset.tagCharset, on: source, named: asset.displayPath, as: AssetMetadata.self)
    guard var metadata = workerMetadata else {
      let demuxer = try MediaFile.demuxer(source, of: asset, isForTags: true)
      return try read(demuxer, displayPath: asset.displayPath, charset: asset.tagCharset)
    }
    metadata.shareArtwork()
    // A worker does not know the fields of the server's reply.
    if let resource = source.byteSource as? HTTPResource {
      metadata.items += StationMetadata.items(resource.stationFields)
      metadata.replayGain = ReplayGain(items: metadata.items)
    }
    return metadata
  }

  /// The errors that the content of a file causes, in contrast to failed reads.
  private static let fileErrors: Set<MediaError.Code> = [
    .unknownFormat, .damagedFile, .unknownCodec, .noPlayableTracks, .unsupportedAudioFormat, .mediaLimitExceeded,
    .decodeFailed,
  ]

  /// Reads the tags of a file that FFmpeg could not open, without FFmpeg. Returns nil if there are none, or if the
  /// error is not an error of the file.
  private static func readTagsOnly(
    _ source: FileSource, of asset: Asset, after error: MediaError
  ) throws(MediaError) -> AssetMetadata? {
    guard fileErrors.contains(error.code), source.isSeekable, let byteCount = source.byteCount else { return nil }
    do throws(AVFailure) {
      let header = try bytes(of: source, at: 0)
      let tagByteCount = TagContainer.id3v2ByteCount(header)
      let head = tagByteCount == 0 ? header : try bytes(of: source, at: tagByteCount)
      let reading = try asset.isolation.tags(
        TagContainer(header: head), of: source, byteCount: byteCount, charset: asset.tagCharset)
      guard !reading.items.isEmpty else { return nil }
      var metadata = AssetMetadata()
      metadata.add(reading)
      metadata.replayGain = ReplayGain(items: metadata.items)
      return metadata
    } catch {
      throw MediaError(error, path: asset.displayPath)
    }
  }

  private static func bytes(of source: FileSource, at offset: Int64) throws(AVFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: TagContainer.headerByteCount)
    var failure: AVFailure?
    let count = bytes.withUnsafeMutableBytes { buffer -> Int in
      do throws(AVFailure) { return try source.read(into: buffer, at: offset) } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return Array(bytes.prefix(count))
  }

  /// Reads all tags of a file that is open or in memory. Blocks while it reads. Does not disturb FFmpeg's reading.
  ///
  /// Damaged or oversized parts are omitted and reported in the warnings.
  ///
  /// - Throws: `readFailed` if the file cannot be read; `cancelled` if the source's interrupt was cancelled.
  package static func read(
    _ demuxer: Demuxer, displayPath: String, charset: TextCharset = Asset.standardTagCharset
  ) throws(MediaError) -> AssetMetadata {
    var metadata = AssetMetadata()
    if let container = TagContainer(formatName: demuxer.formatName), let byteCount = demuxer.source.byteCount {
      let source = demuxer.source
      do throws(AVFailure) {
        metadata.add(try Asset.Isolation.none.tags(container, of: source, byteCount: byteCount, charset: charset))
      } catch {
        throw MediaError(error, path: displayPath)
      }
    }
    metadata.complete(DictionaryMetadata.items(of: demuxer), artwork: DictionaryMetadata.artwork(of: demuxer))
    // The tags of the media have priority over the fields of the station.
    if let resource = demuxer.source.byteSource as? HTTPResource {
      metadata.items += StationMetadata.items(resource.stationFields)
    }
    metadata.replayGain = ReplayGain(items: metadata.items)
    return metadata
  }

  /// Returns the error of tag data that was not read because of its size.
  static func tooLarge(_ subject: String, _ byteCount: Int) -> MediaError {
    MediaError(
      .imageTooLarge, "\(subject) must have at most \(Artwork.maximumByteCount) bytes (got \(byteCount))",
      operation: "metadata")
  }
}

extension AssetMetadata {
  /// Adds TagLib's items.
  mutating func add(_ reading: TagReading) {
    // ID3v1 contains truncated values of ID3v2.
    let frames = Set(reading.items.lazy.filter { $0.space == .id3v2 }.map(\.key))
    // The tags of one of several tracks describe that track, not the file.
    let hasTracks = reading.trackCount > 1
    // Matroska uses the same names for tags of a part and of its album.
    let hasParts = reading.items.contains { tag in
      tag.targetLevel.map { $0 <= 30 } == true && !(hasTracks && tag.isOfTrack)
    }
    let first = items.count
    var ranks: [CommonKeyTable.Rank] = []
    for tag in reading.items {
      if tag.space == .matroska, !DictionaryMetadata.isMetadata(tag.key) { continue }
      if tag.space == .id3v1, let frame = MetadataItem.id3v1Frames[tag.key], frames.contains(frame) { continue }
      var item = MetadataItem(tag)
      if hasParts, let level = tag.targetLevel, level > 30 {
        item.commonKey = CommonKeyTable.commonKey(ofAlbum: tag.key, level: level)
      }
      if hasTracks, tag.isOfTrack { item.commonKey = nil }
      if case .image(let data) = tag.value {
        item.artworkIndex = artwork.count
        artwork.append(
          Artwork(
            type: MetadataItem.artworkType(of: tag), claimedMediaType: tag.mediaType, description: tag.description,
            data: data, byteCount: tag.excessiveByteCount))
      }
      items.append(item)
      ranks.append(CommonKeyTable.rank(of: item, isOfTrack: tag.isOfTrack))
    }
    keepBestRanks(ranks, from: first)
    warnings += reading.warnings.map { warning in
      Warning(
        subject: warning.subject,
        error: MediaError(
          warning.isLimit ? .mediaLimitExceeded : .damagedFile, "\(warning.subject): \(warning.reason)"))
    }
  }

  /// Removes the common key from all items of a key space that do not have the best rank for it.
  private mutating func keepBestRanks(_ ranks: [CommonKeyTable.Rank], from first: Int) {
    struct Claim: Hashable {
      var keySpace: MetadataKeySpace
      var commonKey: MetadataCommonKey
    }
    var best: [Claim: CommonKeyTable.Rank] = [:]
    let claims = items[first...].map { item in
      item.commonKey.map { Claim(keySpace: item.keySpace, commonKey: $0) }
    }
    for (claim, rank) in zip(claims, ranks) {
      if let claim { best[claim] = min(best[claim] ?? rank, rank) }
    }
    for (index, claim) in claims.enumerated() {
      if let claim, let rank = best[claim], ranks[index] > rank { items[first + index].commonKey = nil }
    }
  }

  /// Adds FFmpeg's items. FFmpeg renames keys and has one value for each, so that its items have less priority:
  ///
  /// - If TagLib found no items, all are added.
  /// - Otherwise items with common keys that TagLib did not find are added, except `software`.
  /// - QuickTime metadata, which TagLib does not read, is added unless a free-form iTunes item has the same name.
  /// - Artwork is added if TagLib found none.
  mutating func complete(_ fallback: [MetadataItem], artwork fallbackArtwork: @autoclosure () -> [Artwork]) {
    let knownKeys = Set(items.compactMap(\.commonKey))
    let freeForm = Set(items.filter { $0.keySpace == .iTunesLong }.map { $0.key.split(separator: ".").last ?? "" })
    let isFirst = items.isEmpty
    for item in fallback {
      let isMissing =
        if item.keySpace == .quickTimeMetadata {
          !freeForm.contains(Substring(item.key))
        } else if let commonKey = item.commonKey {
          !knownKeys.contains(commonKey) && commonKey != .software
        } else {
          false
        }
      if isFirst || isMissing { items.append(item) }
    }
    guard artwork.isEmpty else { return }
    artwork = fallbackArtwork()
    for (index, image) in artwork.enumerated() {
      var item = MetadataItem(
        keySpace: fallback.first?.keySpace ?? .common, key: "artwork", commonKey: .artwork, value: .data(image.data),
        extraAttributes: [.mediaType: image.mediaType, .artworkType: image.type.description])
      item.artworkIndex = index
      if let error = image.omission { item.omit(byteCount: image.byteCount, error) }
      items.append(item)
    }
  }
}
