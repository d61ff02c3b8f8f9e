/// A key that has the same meaning in every format: the keys of AVFoundation, and a few more that players need.
public struct MetadataCommonKey: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }

  // MARK: AVFoundation

  /// The title.
  public static let title = Self(rawValue: "title")
  /// The composer, as in AVFoundation.
  public static let creator = Self(rawValue: "creator")
  /// The subject: what the work is about.
  public static let subject = Self(rawValue: "subject")
  /// The comment.
  public static let description = Self(rawValue: "description")
  /// The publisher, such as the record label.
  public static let publisher = Self(rawValue: "publisher")
  /// A contributor to the work.
  public static let contributor = Self(rawValue: "contributor")
  /// The date on which the work was created or published.
  public static let creationDate = Self(rawValue: "creationDate")
  /// The date of the last change.
  public static let lastModifiedDate = Self(rawValue: "lastModifiedDate")
  /// The genre, as in AVFoundation.
  public static let type = Self(rawValue: "type")
  /// The format of the work.
  public static let format = Self(rawValue: "format")
  /// An identifier, such as an ISRC.
  public static let identifier = Self(rawValue: "identifier")
  /// The source that the work was made from.
  public static let source = Self(rawValue: "source")
  /// The language of the work.
  public static let language = Self(rawValue: "language")
  /// A related work.
  public static let relation = Self(rawValue: "relation")
  /// The location at which the work was recorded.
  public static let location = Self(rawValue: "location")
  /// The copyright notice.
  public static let copyrights = Self(rawValue: "copyrights")
  /// The title of the album.
  public static let albumName = Self(rawValue: "albumName")
  /// The author of the work or of its text.
  public static let author = Self(rawValue: "author")
  /// The performing artist.
  public static let artist = Self(rawValue: "artist")
  /// An image, such as a cover.
  public static let artwork = Self(rawValue: "artwork")
  /// The manufacturer of the recording device.
  public static let make = Self(rawValue: "make")
  /// The model of the recording device.
  public static let model = Self(rawValue: "model")
  /// The software that made the file.
  public static let software = Self(rawValue: "software")
  /// A description for users with disabilities.
  public static let accessibilityDescription = Self(rawValue: "accessibilityDescription")

  // MARK: Playhead

  /// The artist of the whole album.
  public static let albumArtist = Self(rawValue: "albumArtist")
  /// A number. The extra attribute `total` is the number of tracks.
  public static let trackNumber = Self(rawValue: "trackNumber")
  /// A number. The extra attribute `total` is the number of discs.
  public static let discNumber = Self(rawValue: "discNumber")
  /// The text of the song.
  public static let lyrics = Self(rawValue: "lyrics")
  /// The rating by a user.
  public static let rating = Self(rawValue: "rating")
}
