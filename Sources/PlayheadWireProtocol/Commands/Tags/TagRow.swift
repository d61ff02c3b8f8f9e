import PlayheadMediaCore

/// A value of a file's tags, or a warning about its tags, as a row of a reply.
package enum TagRow: ReplyFields {
  case tag(Tag)
  /// A part of the tags that was ignored.
  case warning(String, MediaError)

  private var tag: Tag? { if case .tag(let tag) = self { tag } else { nil } }
  private var warning: String? { if case .warning(let subject, _) = self { subject } else { nil } }
  private var error: MediaError? {
    switch self {
    case .tag(let tag): tag.error
    case .warning(_, let error): error
    }
  }

  package static let fields: [Field<Self>] =
    Tag.fields.map { $0.within(ifPresent: \.tag) } + [
      Field(optional: .warning) { $0.warning }, Field(optional: .code) { $0.error?.code.rawValue },
      Field(optional: .name) { $0.error?.code.name }, Field(optional: .message) { $0.error?.message },
    ]
}

/// A value of a file's tags.
package struct Tag: Sendable, Hashable {
  /// The key space and the key.
  package var identifier: String
  package var key: String
  /// The meaning of the key in any format. Nil: none.
  package var commonKey: String?
  package var content: Content
  /// The media type of data. Nil if it is unknown, and for other values.
  package var mediaType: String?
  package var language: String?
  package var info: String?
  package var owner: String?
  package var artworkType: String?
  /// The index of the image among the artwork. Nil: the value is not an image.
  package var artwork: Int?
  package var targetLevel: TagNumber?
  package var total: TagNumber?
  package var playCount: TagNumber?
  /// The error of a value that was too large to be read or retained.
  package var error: MediaError?

  /// The value, or the size of a value that the row does not contain.
  package enum Content: Sendable, Hashable {
    case text(String)
    /// The beginning of a text, and the number of bytes of the whole text.
    case truncatedText(String, byteCount: Int)
    /// A text that was too large.
    case omittedText(byteCount: Int)
    case number(Int64)
    case date(String)
    case data(byteCount: Int)
  }

  package init(identifier: String, key: String, content: Content) {
    (self.identifier, self.key, self.content) = (identifier, key, content)
  }

  /// The type of the value.
  package var type: TagType {
    switch content {
    case .text, .truncatedText, .omittedText: .string
    case .number: .number
    case .date: .date
    case .data: .data
    }
  }

  var value: TagValue? {
    switch content {
    case .text(let text), .truncatedText(let text, _), .date(let text): .text(text)
    case .number(let number): .number(number)
    case .omittedText, .data: nil
    }
  }

  static let fields: [Field<Self>] = [
    Field(.identifier) { $0.identifier }, Field(.key) { $0.key }, Field(optional: .commonKey) { $0.commonKey },
    Field(.tagType) { $0.type }, Field(optional: .value) { $0.value }, Field(optional: .truncated) { $0.truncated },
    Field(optional: .bytes) { $0.byteCount }, Field(optional: .mediaType) { $0.mediaType },
    Field(optional: .language) { $0.language }, Field(optional: .info) { $0.info },
    Field(optional: .owner) { $0.owner }, Field(optional: .artworkType) { $0.artworkType },
    Field(optional: .artwork) { $0.artwork }, Field(optional: .targetLevel) { $0.targetLevel },
    Field(optional: .tagTotal) { $0.total }, Field(optional: .playCount) { $0.playCount },
  ]

  /// True for a truncated text, otherwise nil.
  private var truncated: Bool? { if case .truncatedText = content { true } else { nil } }

  private var byteCount: Int? {
    switch content {
    case .truncatedText(_, let count), .omittedText(let count), .data(let count): count
    case .text, .number, .date: nil
    }
  }
}

/// The type of a value of a tag.
package enum TagType: String, Sendable, Hashable, CaseIterable {
  case string, number, date, data
}

/// A value of a tag in a reply.
enum TagValue: Sendable, Hashable {
  case text(String)
  case number(Int64)

  var fieldValue: FieldValue {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .integer(number)
    }
  }
}

/// A number in a tag. A text that is not a number is written unchanged.
package struct TagNumber: Sendable, Hashable {
  /// The text in the tag.
  package let text: String

  package init(_ text: String) { self.text = text }

  var fieldValue: FieldValue { Int64(text).map(FieldValue.integer) ?? .string(text) }
}
