/// One value of a key, as in the tag.
package struct TagItem: Sendable, Hashable, Codable {
  /// The kind of tag that an item is from.
  package enum Space: Sendable, Hashable, Codable, CaseIterable {
    case id3v2, id3v1, iTunes, vorbis, ape, riff, asf, matroska, userData
  }

  package enum Value: Sendable, Hashable, Codable {
    case text(String)
    case number(Int64)
    case data([UInt8])
    /// The bytes of an image file.
    case image([UInt8])
  }

  package var space: Space
  /// The key: `TIT2`, `©nam`, `----:com.apple.iTunes:LABEL`, `TITLE`, `INAM`, `WM/Year`. Names of ID3v2.2 and 2.3 are
  /// converted to those of 2.4.
  package var key: String
  package var value: Value
  /// The description of a user text, a comment, lyrics or an image; the role of a person.
  package var description: String?
  /// The language, as in the tag: three letters of ISO 639-2, or in Matroska also BCP 47.
  package var language: String?
  /// The owner of a rating, an identifier or private data.
  package var owner: String?
  /// The media type that the tag declares.
  package var mediaType: String?
  /// The second number of a value: the total of a track number, or the play count of a rating.
  package var secondNumber: Int64?
  /// The ID3v2 number of an image's type, if the tag has it.
  package var artworkType: Int?
  /// The target level, in Matroska's numbers: 30 is a track or part, 50 an album or film; nil if the tag has none.
  package var targetLevel: Int64?
  /// Whether a Matroska tag applies to single tracks (`TagTrackUID`), not to the whole file.
  package var isOfTrack = false
  /// The size in bytes of data or an image that exceeds ``TagLimits``; `value` then contains only its first bytes. Nil
  /// for all other values.
  package var excessiveByteCount: Int?

  package init(space: Space, key: String, value: Value) {
    self.space = space
    self.key = key
    self.value = value
  }
}

/// An ignored part of a tag.
package struct TagWarning: Sendable, Hashable, Codable {
  /// The ignored part, such as `APIC` or `ID3v2`.
  package var subject: String
  package var reason: String
  /// Whether a limit of ``TagLimits`` was the reason.
  package var isLimit: Bool

  package init(subject: String, reason: String, isLimit: Bool = false) {
    self.subject = subject
    self.reason = reason
    self.isLimit = isLimit
  }
}

/// The tags of a file.
package struct TagReading: Sendable, Hashable, Codable {
  /// The items in the file's order. The items of the kind of tag with the highest precedence come first.
  package var items: [TagItem] = []
  package var warnings: [TagWarning] = []
  /// The number of tracks in a Matroska file; 0 for other files.
  package var trackCount = 0

  package init() {}
}
