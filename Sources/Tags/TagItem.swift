/// One value of one key, as the tag has it.
public struct TagItem: Sendable, Hashable, Codable {
  /// The kind of tag that an item is from.
  public enum Space: Sendable, Hashable, Codable, CaseIterable {
    case id3v2, id3v1, iTunes, vorbis, ape, riff, asf, matroska, userData
  }

  public enum Value: Sendable, Hashable, Codable {
    case text(String)
    case number(Int64)
    case data([UInt8])
    /// The bytes of a picture file.
    case picture([UInt8])
  }

  public var space: Space
  /// The key: `TIT2`, `©nam`, `----:com.apple.iTunes:LABEL`, `TITLE`, `INAM`, `WM/Year`. ID3v2.2 and 2.3 have the names of 2.4.
  public var key: String
  public var value: Value
  /// Of a user text, a comment, lyrics, a picture or a person (the role).
  public var description: String?
  /// ISO 639-2, three letters, as the tag has it; of Matroska perhaps BCP 47.
  public var language: String?
  /// Who set a rating, an identifier or private data.
  public var owner: String?
  /// The media type that the tag claims.
  public var mediaType: String?
  /// Beside a number: of how many (a track), or how often played (a rating).
  public var secondNumber: Int64?
  /// ID3v2's number of a picture's role, when the tag says it.
  public var pictureType: Int?
  /// What it is said of, in Matroska's numbers: 30 is a track or part, 50 an album or film; nil where the tag does not say.
  public var targetLevel: Int64?
  /// Matroska: the tag names single tracks (`TagTrackUID`), not the whole file.
  public var isOfTrack = false
  /// Of data or a picture that has more bytes than `TagLimits` allow: how many; the value is its first ones. Else nil.
  public var excessiveByteCount: Int?

  public init(space: Space, key: String, value: Value) {
    self.space = space
    self.key = key
    self.value = value
  }
}

/// Something in a tag that was ignored.
public struct TagWarning: Sendable, Hashable, Codable {
  /// What was ignored, such as `APIC` or `ID3v2`.
  public var subject: String
  public var reason: String
  /// It was more than `TagLimits` allow.
  public var isLimit: Bool

  public init(subject: String, reason: String, isLimit: Bool = false) {
    self.subject = subject
    self.reason = reason
    self.isLimit = isLimit
  }
}

/// What the tags of a file say.
public struct TagReading: Sendable, Hashable, Codable {
  /// In the file's order, the strongest kind of tag first.
  public var items: [TagItem] = []
  public var warnings: [TagWarning] = []
  /// The number of tracks in a Matroska file; 0 for other files.
  public var trackCount = 0

  public init() {}
}
