import PlayheadMediaCore

/// The tags of a media file.
public struct AssetMetadata: Sendable, Hashable, Codable {
  /// A part of a tag that was ignored.
  public struct Warning: Sendable, Hashable, Codable {
    /// The ignored part, such as `APIC`.
    public var subject: String
    /// `damagedFile` or `mediaLimitExceeded`; the message contains the reason.
    public var error: MediaError
  }

  /// Every value of every key, in the file's order. The values of WMA are sorted by key.
  ///
  /// If there are several tags, the format's standard tag is first:
  ///
  /// - Vorbis comments before ID3v2 in FLAC
  /// - APEv2 before ID3v2 in Monkey's Audio, Musepack, WavPack and TAK
  /// - in other formats ID3v2 before RIFF INFO, the text chunks of AIFF, and APEv2
  ///
  /// Of ID3v1, only values that ID3v2 does not have are included.
  public var items: [MetadataItem] = []
  /// The artwork, in the file's order.
  public var artwork: [Artwork] = []
  /// The loudness values of the tags.
  public var replayGain = ReplayGain()
  /// The parts of the tags that could not be read.
  public var warnings: [Warning] = []

  /// Creates metadata without items.
  public init() {}

  /// Makes equal artwork in `items` and `artwork` share one copy of its bytes. Removes references to missing artwork.
  mutating func shareArtwork() {
    for (index, item) in items.enumerated() {
      guard let number = item.artworkIndex else { continue }
      guard artwork.indices.contains(number) else {
        items[index].artworkIndex = nil
        continue
      }
      if case .data(let bytes) = item.value, bytes == artwork[number].data {
        items[index].value = .data(artwork[number].data)
      }
    }
  }

  /// The key spaces of the items, in the order of the items.
  public var availableMetadataFormats: [MetadataKeySpace] {
    items.reduce(into: []) { if !$0.contains($1.keySpace) { $0.append($1.keySpace) } }
  }

  /// Returns the items of one key space.
  public func metadata(forFormat keySpace: MetadataKeySpace) -> [MetadataItem] {
    items.filter { $0.keySpace == keySpace }
  }

  /// The items with common keys, in the key space `comn`. If several key spaces have a common key, the values of the
  /// first one are used. Track and disc numbers become numbers, and dates become dates, if possible.
  public var commonMetadata: [MetadataItem] {
    var spaces: [MetadataCommonKey: MetadataKeySpace] = [:]
    return items.compactMap { item in
      guard let commonKey = item.commonKey, spaces[commonKey, default: item.keySpace] == item.keySpace else {
        return nil
      }
      spaces[commonKey] = item.keySpace
      var common = item.inCommonSpace(commonKey)
      if common.extraAttributes[.total] == nil { common.extraAttributes[.total] = total(of: commonKey, item.keySpace) }
      return common
    }
  }

  /// Returns the number of tracks or discs from a separate key, as in Vorbis comments.
  private func total(of commonKey: MetadataCommonKey, _ keySpace: MetadataKeySpace) -> String? {
    let keys: [String]
    switch commonKey {
    case .trackNumber: keys = ["TRACKTOTAL", "TOTALTRACKS", "TRACKC", "TOTAL_PARTS", "IFRM"]
    case .discNumber: keys = ["DISCTOTAL", "TOTALDISCS", "DISCC"]
    default: return nil
    }
    for item in items where item.keySpace == keySpace {
      let name = keySpace == .id3 && item.key == "TXXX" ? item.extraAttributes[.info] ?? "" : item.key
      guard keys.contains(name.uppercased()) else { continue }
      // In Matroska, the album states its number of tracks.
      if name == "TOTAL_PARTS", item.extraAttributes[.targetLevel].map({ $0 != "50" }) == true { continue }
      if let number = item.stringValue.flatMap({ Int64($0.filter { $0 != " " }) }), number > 0 { return "\(number)" }
    }
    return nil
  }

  /// Returns the values of a common key as text.
  public func strings(_ key: MetadataCommonKey) -> [String] {
    commonMetadata.filter { $0.commonKey == key }.compactMap(\.stringValue)
  }

  /// The preferred artwork: the front cover, otherwise the first image.
  public var preferredArtwork: Artwork? { preferredArtworkIndex.map { artwork[$0] } }

  /// The index of ``preferredArtwork`` in `artwork`; nil if there is none.
  public var preferredArtworkIndex: Int? { artwork.firstIndex { $0.type == .frontCover } ?? artwork.indices.first }
}

/// The title, artist and album of a file, for lists of files.
package struct AssetTitles: Sendable, Hashable, Codable {
  /// Maximum size of each text in bytes.
  static let maximumByteCount = 1_024

  /// Nil if the tags have no title, or if it is too long.
  package let title: String?
  /// The artist; nil if the tags have none.
  package let artist: String?
  /// The album; nil if the tags have none.
  package let album: String?

  init(_ items: [MetadataItem] = []) {
    func first(_ key: MetadataCommonKey) -> String? {
      items.first { $0.commonKey == key && $0.omission == nil }?.stringValue.flatMap { text in
        text.utf8.count <= Self.maximumByteCount ? text : nil
      }
    }
    title = first(.title)
    artist = first(.artist)
    album = first(.albumName)
  }

  /// Creates titles from texts. Texts that are too long are absent.
  package init(title: String?, artist: String?, album: String?) {
    func limited(_ text: String?) -> String? {
      text.flatMap { $0.utf8.count <= Self.maximumByteCount ? $0 : nil }
    }
    (self.title, self.artist, self.album) = (limited(title), limited(artist), limited(album))
  }

  /// Whether there are no titles.
  package var isEmpty: Bool { title == nil && artist == nil && album == nil }

  /// The number of bytes of the texts.
  var byteCount: Int { [title, artist, album].reduce(0) { $0 + ($1?.utf8.count ?? 0) } }

  /// Whether the texts from a worker process are within their limit. A malicious file may control the worker.
  var isPlausible: Bool {
    [title, artist, album].allSatisfy { $0.map { $0.utf8.count <= Self.maximumByteCount } ?? true }
  }
}

extension MetadataItem {
  /// Returns the same value under its common key.
  func inCommonSpace(_ commonKey: MetadataCommonKey) -> MetadataItem {
    var common = self
    common.keySpace = .common
    common.key = commonKey.rawValue
    guard case .string(let text) = value else { return common }
    switch commonKey {
    case .trackNumber, .discNumber:
      let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0.filter { $0 != " " }) }
      guard let number = parts.first ?? nil else { return common }
      common.value = .number(number)
      if parts.count > 1, let total = parts[1] { common.extraAttributes[.total] = "\(total)" }
    case .creationDate:
      if let date = MetadataDate(text), date.description == text { common.value = .date(date) }
    default: break
    }
    return common
  }
}
