// Reads the codecs of the tracks of Matroska and WebM (RFC 9559, section 5.1.4), because FFmpeg does not know all of
// them. Opens no files: the caller supplies the bytes.

/// Reads the track list of one file.
enum MatroskaTracks {
  private enum ID {
    static var tracks: UInt32 { 0x1654_AE6B }
    static var trackEntry: UInt32 { 0xAE }
    static var trackType: UInt32 { 0x83 }
    static var codecID: UInt32 { 0x86 }
  }

  /// The types of the tracks that FFmpeg lists: video, audio, subtitles and metadata.
  private static let listedTypes: Set<UInt64> = [0x01, 0x02, 0x11, 0x21]

  /// The codec IDs of the tracks, in the file's order.
  static func codecIDs<Failure: Error>(
    byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>
  ) throws(Failure) -> [String] {
    var file = MatroskaFile(byteCount: byteCount, limits: limits, bytes: bytes)
    guard let position = try file.positions(of: [ID.tracks])[ID.tracks]?.first,
      let element = try file.element(at: position), element.id == ID.tracks
    else { return [] }
    let content = try file.content(of: element, limit: MatroskaFile<Failure>.maximumListBytes)
    return EBML.children(content).compactMap { track in
      guard track.id == ID.trackEntry else { return nil }
      let parts = EBML.children(track.content)
      guard let type = parts.first(where: { $0.id == ID.trackType }).flatMap({ EBML.number($0.content) }),
        listedTypes.contains(type), let codec = parts.first(where: { $0.id == ID.codecID })
      else { return nil }
      return EBML.text(codec.content.prefix(64))
    }
  }
}

extension TagReader {
  /// Reads the codec IDs of the tracks of a Matroska or WebM file, such as `S_TEXT/WEBVTT`, in the file's order. Blocks
  /// while `bytes` blocks, and calls it only on this thread.
  ///
  /// - Returns: the codec IDs of video, audio, subtitle and metadata tracks. Empty if the list is damaged or too large.
  package static func matroskaCodecIDs<Failure: Error>(
    byteCount: Int64, limits: TagLimits = TagLimits(), bytes: @escaping ByteReader<Failure>
  ) throws(Failure) -> [String] {
    try MatroskaTracks.codecIDs(byteCount: byteCount, limits: limits, bytes: bytes)
  }
}
