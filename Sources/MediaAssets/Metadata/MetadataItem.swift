import MediaCore

/// One value of one key of an asset's or a stream's metadata. As `AVMetadataItem`.
public struct MetadataItem: Sendable, Hashable, Codable {
  /// A value as its format has it.
  public enum Value: Sendable, Hashable, Codable {
    case string(String)
    case number(Int64)
    case date(MetadataDate)
    case data([UInt8])
  }

  /// Why an item has no value, though the file has one.
  public struct Omission: Sendable, Hashable, Codable {
    /// Bytes of the value in the file.
    public var byteCount: Int
    /// `pictureTooLarge` or `tagDataLimit`.
    public var error: MediaError
  }

  /// Something that stands beside a value. Open.
  public struct ExtraAttribute: RawRepresentable, Sendable, Hashable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The description of a user text, a comment or a picture; the role of a person. As `AVMetadataExtraAttributeInfoKey`.
    public static let info = Self(rawValue: "info")
    /// Who set a rating, an identifier or private data.
    public static let owner = Self(rawValue: "owner")
    /// The media type of data, as the file claims it.
    public static let mediaType = Self(rawValue: "mediaType")
    /// The role of a picture, as `PictureType` names it.
    public static let pictureType = Self(rawValue: "pictureType")
    /// Of how many, beside a track's or disc's number.
    public static let total = Self(rawValue: "total")
    /// What a tag of Matroska is said of: `30` is a track or part, `50` an album or film.
    public static let targetLevel = Self(rawValue: "targetLevel")
    /// How often played, beside a rating.
    public static let playCount = Self(rawValue: "playCount")
  }

  public var keySpace: MetadataKeySpace
  public var key: String
  public var commonKey: MetadataCommonKey?
  public var value: Value
  /// BCP 47, such as `en`; nil when the file does not say it.
  public var extendedLanguageTag: String?
  public var extraAttributes: [ExtraAttribute: String]
  /// Set where the value was left out, and is empty.
  public internal(set) var omission: Omission?
  /// Which of `AssetMetadata.artwork` it is; nil for what is no picture.
  public internal(set) var artworkIndex: Int?
  /// When it holds, of timed metadata.
  public var time: MediaTime?
  public var duration: MediaTime?

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

  public var identifier: MetadataIdentifier { MetadataIdentifier(key: key, keySpace: keySpace) }

  /// The value as text; nil for data, and for what was left out.
  public var stringValue: String? {
    if omission != nil { return nil }
    return switch value {
    case .string(let text): text
    case .number(let number): "\(number)"
    case .date(let date): date.description
    case .data: nil
    }
  }

  /// The value as a number; nil when it is none.
  public var numberValue: Double? {
    switch value {
    case .number(let number): Double(number)
    case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .date, .data: nil
    }
  }

  /// The value as a date; nil when it is none. A text is one when it is a year, or begins as ISO 8601 has it.
  public var dateValue: MetadataDate? {
    switch value {
    case .date(let date): date
    case .string(let text): MetadataDate(text)
    case .number, .data: nil
    }
  }

  /// The value's bytes; nil when it is no data, and for what was left out.
  public var dataValue: [UInt8]? {
    if case .data(let bytes) = value, omission == nil { return bytes }
    return nil
  }
}
