/// Where a metadata key is defined. As `AVMetadataKeySpace`; open, since containers have spaces of their own.
public struct MetadataKeySpace: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }

  /// Keys that mean the same in every format.
  public static let common = Self(rawValue: "comn")
  /// ID3v2 frames, by their names of ID3v2.4; ID3v1's fields, as the frames that say the same.
  public static let id3 = Self(rawValue: "id3")
  /// iTunes' list of four-letter names.
  public static let iTunes = Self(rawValue: "itsk")
  /// iTunes' free-form names, such as `com.apple.iTunes.LABEL`.
  public static let iTunesLong = Self(rawValue: "itlk")
  public static let quickTimeMetadata = Self(rawValue: "mdta")
  public static let quickTimeUserData = Self(rawValue: "udta")
  /// Vorbis comments, of Ogg, Opus and FLAC.
  public static let vorbis = Self(rawValue: "vorbis")
  public static let ape = Self(rawValue: "ape")
  /// RIFF INFO, and AIFF's chunks of text.
  public static let riff = Self(rawValue: "riff")
  public static let asf = Self(rawValue: "asf")
  public static let matroska = Self(rawValue: "matroska")
  public static let icy = Self(rawValue: "icy")
  public static let hls = Self(rawValue: "hls")
}

/// A key and its space: `id3/TIT2`.
public struct MetadataIdentifier: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public init(key: String, keySpace: MetadataKeySpace) { rawValue = "\(keySpace.rawValue)/\(key)" }

  public var description: String { rawValue }

  /// The part in front of the first `/`; nil when there is none.
  public var keySpace: MetadataKeySpace? {
    rawValue.firstIndex(of: "/").map { MetadataKeySpace(rawValue: String(rawValue[..<$0])) }
  }

  /// The part behind the first `/`; nil when there is none.
  public var key: String? {
    rawValue.firstIndex(of: "/").map { String(rawValue[rawValue.index(after: $0)...]) }
  }
}
