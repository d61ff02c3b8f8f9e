// The metadata of a stream as a whole: `EXT-X-SESSION-DATA` of its master playlist.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadPlaylists

extension StreamSession {
  /// Maximum number of bytes of one external data item and of all of them, and maximum number of items that are loaded.
  private static let maximumDataByteCount = 1 << 20
  private static let maximumTotalByteCount = 4 << 20
  private static let maximumExternalDataCount = 32

  /// Returns the stream's metadata. Blocks, because it may load external data. Failures are reported in the warnings.
  ///
  /// - Throws: `cancelled`.
  func metadata(_ fetcher: StreamFetcher, interrupt: Interrupt) throws(MediaError) -> AssetMetadata {
    var metadata = AssetMetadata()
    var remaining = Self.maximumTotalByteCount
    var externalDataCount = 0
    for data in sessionData {
      var item = MetadataItem(
        keySpace: .hls, key: data.id, commonKey: CommonKeyTable.commonKey(of: data.id, in: .hls), value: .string(""),
        extendedLanguageTag: data.language)
      switch data.content {
      case .value(let text): item.value = .string(text)
      case .location(let location, let isJSON):
        do throws(MediaError) {
          externalDataCount += 1
          guard externalDataCount <= Self.maximumExternalDataCount, remaining > 0 else {
            throw MediaError(
              .mediaLimitExceeded, "session data exceeds the limit and was not loaded: \(location.displayText)",
              operation: "hls")
          }
          let (bytes, _) = try fetcher.load(
            location, limit: min(remaining, Self.maximumDataByteCount), interrupt: interrupt)
          remaining -= bytes.count
          item.extraAttributes[.mediaType] = isJSON ? "application/json" : nil
          let text = isJSON ? String(validating: bytes, as: UTF8.self) : nil
          item.value = text.map { .string($0) } ?? .data(bytes)
        } catch {
          if error.code == .cancelled { throw error }
          metadata.warnings.append(AssetMetadata.Warning(subject: data.id, error: error))
          continue
        }
      }
      metadata.items.append(item)
    }
    return metadata
  }
}
