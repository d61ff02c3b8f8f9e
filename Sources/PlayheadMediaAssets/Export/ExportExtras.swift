import PlayheadMediaCore

/// The parts of an exported file other than its tracks: tags, chapters and artwork that the container supports.
struct ExportExtras {
  private(set) var options = AssetWriter.Options()

  /// - Throws: The errors of reading tags; `cancelled`.
  init(
    _ opened: ExportSource.OpenedSource, _ settings: ExportSettings, _ range: TimeRange, _ opening: AssetOpening
  ) throws(MediaError) {
    options.shouldOptimizeForNetworkUse = settings.shouldOptimizeForNetworkUse
    options.toleratesLateChapters = true
    if settings.metadataFilter != .none {
      options.metadata = ExportTags.dictionary(opened.metadata, settings.metadataFilter)
      if settings.container.hasChapters { options.chapters = Self.chapters(opened, in: range) }
      if settings.container.artworkStorage != .none {
        options.artwork = try Self.artwork(opened.metadata, opened.artworkAsset, opening).filter {
          settings.metadataFilter != .sharing || !Self.mayDescribeRecording($0.data)
        }
      }
    }
    for (name, value) in settings.metadata { options.metadata[name] = value.isEmpty ? nil : value }
  }

  /// Returns the chapters within the range, on the file's timeline. A chapter without an end lasts until the end of the
  /// asset.
  private static func chapters(_ opened: ExportSource.OpenedSource, in range: TimeRange) -> [AssetChapter] {
    opened.chapters.compactMap { chapter in
      let start = max(chapter.timeRange.start, range.start)
      let chapterEnd = chapter.timeRange.end.isNumeric ? chapter.timeRange.end : opened.properties.duration
      let end = min(chapterEnd, range.end)
      guard start.isNumeric, end.isNumeric, start < end else { return nil }
      return AssetChapter(
        titles: chapter.titles, timeRange: TimeRange(start: start - range.start, end: end - range.start))
    }
  }

  /// Whether an image may contain the location or the device of its recording: APP1 segments of JPEG, and `eXIf` of
  /// PNG.
  private static func mayDescribeRecording(_ data: [UInt8]) -> Bool {
    let signatures = ["Exif", "eXIf", "http://ns.adobe.com/xap", "XML:com.adobe.xmp"].map { Array($0.utf8) }
    return data.withUnsafeBufferPointer { bytes in
      bytes.indices.contains { index in
        signatures.contains { bytes[index] == $0[0] && bytes[index...].starts(with: $0) }
      }
    }
  }

  /// Returns the artwork in the formats that every container with artwork supports: PNG and JPEG.
  private static func artwork(
    _ metadata: AssetMetadata, _ asset: Asset, _ opening: AssetOpening
  ) throws(MediaError) -> [Artwork] {
    var result: [Artwork] = []
    for index in metadata.artwork.indices.prefix(64) {
      var artwork = metadata.artwork[index]
      if artwork.omission != nil {
        guard artwork.byteCount <= Artwork.maximumByteCount else { continue }
        artwork = try opening.artwork(index, of: asset).1
      }
      if ["image/jpeg", "image/png"].contains(Artwork.mediaType(of: artwork.data)) { result.append(artwork) }
    }
    return result
  }
}
