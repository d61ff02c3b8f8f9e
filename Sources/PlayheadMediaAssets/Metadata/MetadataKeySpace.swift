/// The namespace of a metadata key, as `AVMetadataKeySpace`. More key spaces may be added, because containers have
/// different ones.
public struct MetadataKeySpace: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }

  /// Keys that have the same meaning in every format.
  public static let common = Self(rawValue: "comn")
  /// ID3v2 frames, by their names in ID3v2.4. The fields of ID3v1 have the names of the corresponding frames.
  public static let id3 = Self(rawValue: "id3")
  /// The four-letter names of iTunes.
  public static let iTunes = Self(rawValue: "itsk")
  /// The free-form names of iTunes, such as `com.apple.iTunes.LABEL`.
  public static let iTunesLong = Self(rawValue: "itlk")
  /// The metadata of QuickTime and MP4 with reverse domain names (`mdta`).
  public static let quickTimeMetadata = Self(rawValue: "mdta")
  /// The user data of QuickTime (`udta`).
  public static let quickTimeUserData = Self(rawValue: "udta")
  /// Vorbis comments in Ogg, Opus and FLAC.
  public static let vorbis = Self(rawValue: "vorbis")
  /// The items of APE tags.
  public static let ape = Self(rawValue: "ape")
  /// RIFF INFO, and the text chunks of AIFF.
  public static let riff = Self(rawValue: "riff")
  /// The attributes of ASF and WMA.
  public static let asf = Self(rawValue: "asf")
  /// The tags of Matroska and WebM.
  public static let matroska = Self(rawValue: "matroska")
  /// The header fields and titles of stations.
  public static let icy = Self(rawValue: "icy")
  /// The session data and date ranges of HLS playlists.
  public static let hls = Self(rawValue: "hls")
}

/// A key and its key space: `id3/TIT2`.
public struct MetadataIdentifier: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates the identifier of a key.
  public init(key: String, keySpace: MetadataKeySpace) { rawValue = "\(keySpace.rawValue)/\(key)" }

  public var description: String { rawValue }

  /// The part before the first `/`; nil if there is none.
  public var keySpace: MetadataKeySpace? {
    rawValue.firstIndex(of: "/").map { MetadataKeySpace(rawValue: String(rawValue[..<$0])) }
  }

  /// The part after the first `/`; nil if there is none.
  public var key: String? {
    rawValue.firstIndex(of: "/").map { String(rawValue[rawValue.index(after: $0)...]) }
  }
}
