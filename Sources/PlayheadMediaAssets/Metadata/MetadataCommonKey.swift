/// A key that has the same meaning in every format: the keys of AVFoundation, and a few more that players need.
public struct MetadataCommonKey: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }

  // MARK: AVFoundation

  public static let title = Self(rawValue: "title")
  /// The composer, as in AVFoundation.
  public static let creator = Self(rawValue: "creator")
  public static let subject = Self(rawValue: "subject")
  /// The comment.
  public static let description = Self(rawValue: "description")
  public static let publisher = Self(rawValue: "publisher")
  public static let contributor = Self(rawValue: "contributor")
  public static let creationDate = Self(rawValue: "creationDate")
  public static let lastModifiedDate = Self(rawValue: "lastModifiedDate")
  /// The genre, as in AVFoundation.
  public static let type = Self(rawValue: "type")
  public static let format = Self(rawValue: "format")
  public static let identifier = Self(rawValue: "identifier")
  public static let source = Self(rawValue: "source")
  public static let language = Self(rawValue: "language")
  public static let relation = Self(rawValue: "relation")
  public static let location = Self(rawValue: "location")
  public static let copyrights = Self(rawValue: "copyrights")
  public static let albumName = Self(rawValue: "albumName")
  public static let author = Self(rawValue: "author")
  public static let artist = Self(rawValue: "artist")
  public static let artwork = Self(rawValue: "artwork")
  public static let make = Self(rawValue: "make")
  public static let model = Self(rawValue: "model")
  public static let software = Self(rawValue: "software")
  public static let accessibilityDescription = Self(rawValue: "accessibilityDescription")

  // MARK: Playhead

  public static let albumArtist = Self(rawValue: "albumArtist")
  /// A number. The extra attribute `total` is the number of tracks.
  public static let trackNumber = Self(rawValue: "trackNumber")
  /// A number. The extra attribute `total` is the number of discs.
  public static let discNumber = Self(rawValue: "discNumber")
  public static let lyrics = Self(rawValue: "lyrics")
  public static let rating = Self(rawValue: "rating")
}
