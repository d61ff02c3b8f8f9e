import PlayheadMediaCore

/// The role of an artwork image, with the numbers of `APIC` frames (ID3v2.4, section 4.14), which FLAC and ASF share.
public struct ArtworkType: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public var rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// No other role.
  public static let other = Self(rawValue: 0)
  /// The front cover.
  public static let frontCover = Self(rawValue: 3)
  /// The back cover.
  public static let backCover = Self(rawValue: 4)

  /// The name of each number.
  private static let names = [
    "other", "icon", "otherIcon", "frontCover", "backCover", "leaflet", "media", "leadArtist", "artist", "conductor",
    "band",
    "composer", "lyricist", "recordingLocation", "duringRecording", "duringPerformance", "screenCapture", "fish",
    "illustration", "bandLogo", "publisherLogo",
  ]

  public var description: String {
    Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "other(\(rawValue))"
  }

  /// Creates a role from an APEv2 key, such as `Cover Art (Back)`.
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

  /// FFmpeg's names, by number.
  private static let ffmpegNames = [
    "Other", "32x32 pixels 'file icon'", "Other file icon", "Cover (front)", "Cover (back)", "Leaflet page",
    "Media (e.g. label side of CD)", "Lead artist/lead performer/soloist", "Artist/performer", "Conductor",
    "Band/Orchestra", "Composer", "Lyricist/text writer", "Recording Location", "During recording",
    "During performance", "Movie/video screen capture", "A bright coloured fish", "Illustration",
    "Band/artist logotype", "Publisher/Studio logotype",
  ]

  /// Creates a role from FFmpeg's name, such as `Cover (back)`; nil for other names.
  init?(ffmpegName: String) {
    guard let number = Self.ffmpegNames.firstIndex(of: ffmpegName) else { return nil }
    self.init(rawValue: number)
  }

  /// FFmpeg's name of the role; nil if there is none.
  var ffmpegName: String? { Self.ffmpegNames.indices.contains(rawValue) ? Self.ffmpegNames[rawValue] : nil }
}

/// An image that belongs to an asset.
public struct Artwork: Sendable, Hashable, Codable {
  /// Maximum size of an image in bytes: 16 MiB. Larger images have no data.
  public static let maximumByteCount = 16 << 20

  /// The role of the image.
  public var type: ArtworkType
  /// The media type detected from the data, such as `image/jpeg`. The type stated in the file if the data is of an
  /// unknown type; empty if there is none.
  public var mediaType: String
  /// The text that describes the image; empty if there is none.
  public var description: String
  /// The image file; empty if it was omitted.
  public var data: [UInt8]
  /// The size of the image file in bytes.
  public let byteCount: Int
  /// The reason why there is no data: `imageTooLarge`, or `tagDataLimit`, for which `Asset.loadArtwork` returns the
  /// data. Nil if there is data.
  public internal(set) var omission: MediaError?

  /// Creates artwork from the bytes of an image file, whose media type is detected.
  public init(_ data: [UInt8], type: ArtworkType = .frontCover, description: String = "") {
    self.init(type: type, claimedMediaType: nil, description: description, data: data)
  }

  /// - Parameter byteCount: The size of the whole image, if `data` is only the beginning of an image that is too large.
  init(
    type: ArtworkType, claimedMediaType: String?, description: String?, data: [UInt8], byteCount: Int? = nil
  ) {
    self.type = type
    mediaType = Self.mediaType(of: data) ?? Self.cleaned(claimedMediaType ?? "")
    self.description = description ?? ""
    self.byteCount = byteCount ?? data.count
    let isComplete = self.byteCount == data.count
    self.data = isComplete ? data : []
    omission = isComplete ? nil : MetadataReader.tooLarge("the artwork", self.byteCount)
  }

  /// Returns the media type detected from the first bytes of an image file; nil for an unknown type.
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

  /// Normalizes the types of ID3v2.2 and of incorrect writers: `JPG`, `image/jpg`.
  private static func cleaned(_ claim: String) -> String {
    switch claim.lowercased() {
    case "jpg", "image/jpg", "image/jpeg": "image/jpeg"
    case "png", "image/png": "image/png"
    case "image/": ""
    default: claim.lowercased()
    }
  }
}
