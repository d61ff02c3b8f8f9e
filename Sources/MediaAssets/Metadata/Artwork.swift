import MediaCore

/// The role of a picture: the numbers of ID3v2's `APIC` (ID3v2.4, 4.14), which FLAC and ASF share.
public struct PictureType: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public var rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let other = Self(rawValue: 0)
  public static let frontCover = Self(rawValue: 3)
  public static let backCover = Self(rawValue: 4)

  /// A word for each number.
  private static let names = [
    "other", "icon", "otherIcon", "frontCover", "backCover", "leaflet", "media", "leadArtist", "artist", "conductor",
    "band",
    "composer", "lyricist", "recordingLocation", "duringRecording", "duringPerformance", "screenCapture", "fish",
    "illustration", "bandLogo", "publisherLogo",
  ]

  public var description: String {
    Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "other(\(rawValue))"
  }

  /// For APEv2's keys, such as `Cover Art (Back)`.
  init(apeKey: String) {
    let roles = [
      "front": 3, "back": 4, "leaflet": 5, "media": 6, "lead artist": 7, "lead": 7, "artist": 8, "conductor": 9,
      "band": 10,
      "composer": 11, "lyricist": 12, "studio": 13, "recording": 14, "performance": 15, "movie scene": 16,
      "colored fish": 17, "illustration": 18, "band logo": 19, "publisher logo": 20, "icon": 1, "other icon": 2,
    ]
    let key = apeKey.lowercased()
    let role = key.split(separator: "(").last?.split(separator: ")").first.map(String.init) ?? ""
    self.init(rawValue: roles[role] ?? 0)
  }

  /// FFmpeg's words, by number.
  private static let ffmpegNames = [
    "Other", "32x32 pixels 'file icon'", "Other file icon", "Cover (front)", "Cover (back)", "Leaflet page",
    "Media (e.g. label side of CD)", "Lead artist/lead performer/soloist", "Artist/performer", "Conductor",
    "Band/Orchestra", "Composer", "Lyricist/text writer", "Recording Location", "During recording",
    "During performance", "Movie/video screen capture", "A bright coloured fish", "Illustration",
    "Band/artist logotype", "Publisher/Studio logotype",
  ]

  /// For FFmpeg's words, such as `Cover (back)`; nil for others.
  init?(ffmpegName: String) {
    guard let number = Self.ffmpegNames.firstIndex(of: ffmpegName) else { return nil }
    self.init(rawValue: number)
  }

  /// FFmpeg's word for it; nil when it has none.
  var ffmpegName: String? { Self.ffmpegNames.indices.contains(rawValue) ? Self.ffmpegNames[rawValue] : nil }
}

/// A picture that belongs to an asset.
public struct Artwork: Sendable, Hashable, Codable {
  /// Bytes that a picture may have; of a larger one there is no data. 16 MiB.
  public static let maximumByteCount = 16 << 20

  public var type: PictureType
  /// What the bytes are, whatever the file claims: `image/jpeg`; the claim when they are of no known kind; empty when there is none.
  public var mediaType: String
  public var description: String
  /// The picture file; empty where it was left out.
  public var data: [UInt8]
  /// Bytes that the picture file has.
  public let byteCount: Int
  /// Why there is no data: `pictureTooLarge`, or `tagDataLimit`: then `Asset.loadArtwork` has it. Nil when there is.
  public internal(set) var omission: MediaError?

  /// A picture from the bytes of its file; what they are is looked at.
  public init(_ data: [UInt8], type: PictureType = .frontCover, description: String = "") {
    self.init(type: type, claimedMediaType: nil, description: description, data: data)
  }

  /// - Parameter byteCount: of the whole, when `data` is only the beginning of what is too large.
  init(
    type: PictureType, claimedMediaType: String?, description: String?, data: [UInt8], byteCount: Int? = nil
  ) {
    self.type = type
    mediaType = Self.mediaType(of: data) ?? Self.cleaned(claimedMediaType ?? "")
    self.description = description ?? ""
    self.byteCount = byteCount ?? data.count
    let isWhole = self.byteCount == data.count
    self.data = isWhole ? data : []
    omission = isWhole ? nil : MetadataReader.tooLarge("the picture", self.byteCount)
  }

  /// The media type that a picture file's first bytes tell; nil for one that is not known.
  public static func mediaType(of data: [UInt8]) -> String? {
    func has(_ bytes: [UInt8], at offset: Int = 0) -> Bool { data.dropFirst(offset).starts(with: bytes) }
    if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if has([0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]) { return "image/png" }
    if has(Array("GIF87a".utf8)) || has(Array("GIF89a".utf8)) { return "image/gif" }
    if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) { return "image/webp" }
    if has(Array("BM".utf8)) { return "image/bmp" }
    if has(Array("II*\0".utf8)) || has(Array("MM\0*".utf8)) { return "image/tiff" }
    if has(Array("ftypavif".utf8), at: 4) { return "image/avif" }
    if has(Array("ftyphei".utf8), at: 4) || has(Array("ftypmif1".utf8), at: 4) { return "image/heic" }
    if has([0xFF, 0x0A]) || has([0, 0, 0, 0x0C] + Array("JXL ".utf8)) { return "image/jxl" }
    return nil
  }

  /// ID3v2.2 and careless writers: `JPG`, `image/jpg`.
  private static func cleaned(_ claim: String) -> String {
    switch claim.lowercased() {
    case "jpg", "image/jpg", "image/jpeg": "image/jpeg"
    case "png", "image/png": "image/png"
    case "image/": ""
    default: claim.lowercased()
    }
  }
}
