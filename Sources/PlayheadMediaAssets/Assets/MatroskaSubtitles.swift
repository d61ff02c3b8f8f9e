import PlayheadLibAV
import PlayheadTags

/// Subtitle codecs of Matroska that FFmpeg does not support.
enum MatroskaSubtitles {
  /// Returns FFmpeg's codec names by stream index, for the streams that FFmpeg lists as subtitles
  /// without a codec. Blocks.
  static func codecNames(in demuxer: Demuxer) -> [Int: String] {
    let source = demuxer.source
    let unknown = demuxer.streams.filter { $0.mediaType == .subtitle && $0.codecName == "none" }
    guard !unknown.isEmpty, source.isSeekable, let byteCount = source.byteCount else { return [:] }
    var limits = TagLimits()
    limits.byteCount = 4 << 20
    // If the list cannot be read, the codecs stay unknown.
    let codecIDs = try? TagReader.matroskaCodecIDs(byteCount: byteCount, limits: limits) {
      (buffer, offset) throws(AVFailure) -> Int in try source.read(into: buffer, at: offset)
    }
    guard let codecIDs else { return [:] }
    let found = unknown.filter { codecIDs.indices.contains($0.index) && codecIDs[$0.index] == "S_TEXT/WEBVTT" }
    return Dictionary(uniqueKeysWithValues: found.map { ($0.index, "webvtt") })
  }
}
