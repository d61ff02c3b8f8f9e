import PlayheadMediaCore

/// Converts an asset's tags to the names that FFmpeg's muxers expect.
enum ExportTags {
  /// FFmpeg's names of the common keys.
  private static let names: [MetadataCommonKey: String] = [
    .title: "title", .artist: "artist", .albumArtist: "album_artist", .albumName: "album", .creator: "composer",
    .type: "genre", .creationDate: "date", .trackNumber: "track", .discNumber: "disc", .description: "comment",
    .copyrights: "copyright", .publisher: "publisher", .lyrics: "lyrics", .language: "language",
    .contributor: "performer", .author: "author", .subject: "subject", .location: "location", .make: "make",
    .model: "model", .identifier: "ISRC",
  ]

  /// The keys that state the location and the device of a recording.
  private static let recordingKeys: Set<MetadataCommonKey> = [.location, .make, .model, .software]

  /// Returns the tags of an exported file: those with a common key, and those with a plain name.
  static func dictionary(_ metadata: AssetMetadata, _ filter: ExportSettings.MetadataFilter) -> [String: String] {
    guard filter != .none else { return [:] }
    var result: [String: String] = [:]
    func add(_ name: String, _ value: String) {
      guard !value.isEmpty, !value.utf8.contains(0) else { return }
      result[name] = result[name].map { "\($0);\(value)" } ?? value
    }
    for item in metadata.commonMetadata {
      guard let key = item.commonKey, let name = names[key], let value = item.stringValue else { continue }
      if filter == .sharing, recordingKeys.contains(key) { continue }
      add(name, item.extraAttributes[.total].map { "\(value)/\($0)" } ?? value)
    }
    // The meaning of the other tags is unknown.
    if filter == .sharing { return result }
    for item in metadata.items where item.commonKey == nil {
      guard let name = plainName(item), result[name] == nil, let value = item.stringValue else { continue }
      add(name, value)
    }
    return result
  }

  /// Returns the name of a tag without a common key if every format can have it; nil for format-specific identifiers.
  private static func plainName(_ item: MetadataItem) -> String? {
    let name: String? =
      switch item.keySpace {
      case .vorbis, .ape, .matroska: item.key
      case .id3 where item.key == "TXXX": item.extraAttributes[.info]
      case .iTunesLong: item.key.split(separator: ".").last.map(String.init)
      default: nil
      }
    guard let name, (1...64).contains(name.utf8.count),
      name.utf8.allSatisfy({ (0x20...0x7D).contains($0) && $0 != UInt8(ascii: "=") }),
      !staleNames.contains(name.uppercased())
    else { return nil }
    return name.uppercased()
  }

  /// Tags that describe the encoded data of the source, and are wrong for the new file. Also tags that the writer sets.
  private static let staleNames: Set<String> = [
    "ENCODER", "ENCODED_BY", "ENCODEDBY", "ITUNSMPB", "ITUNNORM", "DURATION", "BPS", "NUMBER_OF_FRAMES",
    "NUMBER_OF_BYTES", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK", "CUESHEET", "TRACKTOTAL", "TOTALTRACKS", "DISCTOTAL",
    "TOTALDISCS", "METADATA_BLOCK_PICTURE", "COVERART", "MAJOR_BRAND", "MINOR_VERSION", "COMPATIBLE_BRANDS",
  ]
}
