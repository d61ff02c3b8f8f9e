import PlayheadMediaCore

/// One value of one key of an asset's or a stream's metadata, as `AVMetadataItem`.
///
/// <!-- listing: read-tags -->
/// ```swift
/// let tags = try await Asset(path: "/music/one.flac").load(.commonMetadata)
/// let titles = MetadataItem.items(from: tags, filteredByCommonKey: .title)
/// print(titles.first?.stringValue ?? "")
/// ```
public struct MetadataItem: Sendable, Hashable, Codable {
  /// A value of the type that the tag format specifies.
  public enum Value: Sendable, Hashable, Codable {
    /// A text.
    case string(String)
    /// A whole number.
    case number(Int64)
    /// A date, possibly without its last parts.
    case date(MetadataDate)
    /// Bytes, such as an image file.
    case data([UInt8])
  }

  /// The reason why an item has no value, although the file has one.
  public struct Omission: Sendable, Hashable, Codable {
    /// The size of the value in the file, in bytes.
    public var byteCount: Int
    /// `imageTooLarge` or `tagDataLimit`.
    public var error: MediaError
  }

  /// A key of an additional attribute of a value. More keys may be added.
  public struct ExtraAttribute: RawRepresentable, Sendable, Hashable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The description of a user text, a comment or artwork; the role of a person. As
    /// `AVMetadataExtraAttributeInfoKey`.
    public static let info = Self(rawValue: "info")
    /// The owner of a rating, an identifier or private data.
    public static let owner = Self(rawValue: "owner")
    /// The media type of data, as stated in the file.
    public static let mediaType = Self(rawValue: "mediaType")
    /// The role of artwork, by the name of its ``ArtworkType``.
    public static let artworkType = Self(rawValue: "pictureType")
    /// The total number of tracks or discs.
    public static let total = Self(rawValue: "total")
    /// The level that a Matroska tag describes: `30` is a track or part, `50` an album or film.
    public static let targetLevel = Self(rawValue: "targetLevel")
    /// The play count of a rating.
    public static let playCount = Self(rawValue: "playCount")
  }

  /// The format whose key ``key`` is.
  public var keySpace: MetadataKeySpace
  /// The key within the key space, such as `TIT2`.
  public var key: String
  /// The meaning of the key in all formats; nil if it has no common one.
  public var commonKey: MetadataCommonKey?
  /// The value.
  public var value: Value
  /// The language (BCP 47), such as `en`; nil if the file does not state it.
  public var extendedLanguageTag: String?
  /// Additional values, such as the number of tracks.
  public var extraAttributes: [ExtraAttribute: String]
  /// The reason why `value` is empty; nil if the value was not omitted.
  public internal(set) var omission: Omission?
  /// The index in `AssetMetadata.artwork`; nil if the item is not artwork.
  public internal(set) var artworkIndex: Int?
  /// The time at which timed metadata becomes valid.
  public var time: MediaTime?
  /// The duration of timed metadata; nil if unspecified.
  public var duration: MediaTime?

  /// Creates an item.
  public init(
    keySpace: MetadataKeySpace, key: String, commonKey: MetadataCommonKey? = nil, value: Value,
    extendedLanguageTag: String? = nil, extraAttributes: [ExtraAttribute: String] = [:], time: MediaTime? = nil,
    duration: MediaTime? = nil
  ) {
    self.keySpace = keySpace
    self.key = key
    self.commonKey = commonKey
    self.value = value
    self.extendedLanguageTag = extendedLanguageTag
    self.extraAttributes = extraAttributes
    self.time = time
    self.duration = duration
  }

  /// The key and the key space.
  public var identifier: MetadataIdentifier { MetadataIdentifier(key: key, keySpace: keySpace) }

  /// The value as text; nil for data and for omitted values.
  public var stringValue: String? {
    if omission != nil { return nil }
    return switch value {
    case .string(let text): text
    case .number(let number): "\(number)"
    case .date(let date): date.description
    case .data: nil
    }
  }

  /// The value as a number; nil if it is not a number.
  public var numberValue: Double? {
    switch value {
    case .number(let number): Double(number)
    case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .date, .data: nil
    }
  }

  /// The value as a date; nil if it is not a date. A text is a date if it is a year or begins as in ISO 8601.
  public var dateValue: MetadataDate? {
    switch value {
    case .date(let date): date
    case .string(let text): MetadataDate(text)
    case .number, .data: nil
    }
  }

  /// The bytes of the value; nil if it is not data, and for omitted values.
  public var dataValue: [UInt8]? {
    if case .data(let bytes) = value, omission == nil { return bytes }
    return nil
  }
}
