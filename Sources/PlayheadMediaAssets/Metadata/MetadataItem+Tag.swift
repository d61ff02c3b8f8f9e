import PlayheadTags

extension MetadataItem {
  /// Creates an item from one of TagLib's items, with AVFoundation's names.
  init(_ tag: TagItem) {
    let (keySpace, key) = Self.keySpaceAndKey(of: tag)
    var value: Value
    switch tag.value {
    case .text(let text): value = .string(text)
    case .number(let number): value = .number(number)
    case .data(let bytes), .image(let bytes): value = .data(bytes)
    }
    var attributes: [ExtraAttribute: String] = [:]
    if let description = tag.description, !description.isEmpty { attributes[.info] = description }
    attributes[.owner] = tag.owner
    attributes[.targetLevel] = tag.targetLevel.map { "\($0)" }
    if let mediaType = tag.mediaType, !mediaType.isEmpty { attributes[.mediaType] = mediaType }
    if let second = tag.secondNumber {
      if key == "POPM" { attributes[.playCount] = "\(second)" } else if second > 0 { attributes[.total] = "\(second)" }
    }
    var commonKey = CommonKeyTable.commonKey(of: key, in: keySpace, description: attributes[.info])
    if case .image = tag.value {
      commonKey = .artwork
      attributes[.artworkType] = Self.artworkType(of: tag).description
    }
    // The recording identifier is text.
    if keySpace == .id3, key == "UFID", case .data(let bytes) = value, bytes.allSatisfy({ 0x20...0x7E ~= $0 }) {
      value = .string(String(decoding: bytes, as: UTF8.self))
    }
    self.init(
      keySpace: keySpace, key: key, commonKey: commonKey, value: value,
      extendedLanguageTag: tag.language.flatMap { $0.contains("-") ? $0 : LanguageTag.bcp47($0) },
      extraAttributes: attributes)
    if let byteCount = tag.excessiveByteCount {
      if case .image(let head) = tag.value, let mediaType = Artwork.mediaType(of: head) {
        extraAttributes[.mediaType] = mediaType
      }
      omit(byteCount: byteCount, MetadataReader.tooLarge(key, byteCount))
    }
  }

  /// Returns the role of an artwork image.
  static func artworkType(of tag: TagItem) -> ArtworkType {
    if let number = tag.artworkType { return ArtworkType(rawValue: number) }
    switch tag.space {
    case .ape: return ArtworkType(apeKey: tag.key)
    // MP4 has covers only.
    case .iTunes: return .frontCover
    default: return .other
    }
  }

  private static func keySpaceAndKey(of tag: TagItem) -> (MetadataKeySpace, String) {
    switch tag.space {
    case .id3v2: return (.id3, tag.key)
    case .id3v1: return (.id3, id3v1Frames[tag.key] ?? tag.key)
    case .vorbis: return (.vorbis, tag.key)
    case .ape: return (.ape, tag.key)
    case .riff: return (.riff, tag.key)
    case .asf: return (.asf, tag.key)
    case .matroska: return (.matroska, tag.key)
    case .userData: return (.quickTimeUserData, tag.key)
    case .iTunes:
      // `----:com.apple.iTunes:LABEL`
      let parts = tag.key.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "----" else { return (.iTunes, tag.key) }
      return (.iTunesLong, "\(parts[1]).\(parts[2])")
    }
  }

  /// The ID3v2 frames that correspond to the fields of ID3v1.
  static let id3v1Frames = [
    "title": "TIT2", "artist": "TPE1", "album": "TALB", "year": "TDRC", "comment": "COMM", "track": "TRCK",
    "genre": "TCON",
  ]
}
