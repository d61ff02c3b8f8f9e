import PlayheadMediaCore

/// A part of the list of an asset's or item's chapters.
package struct ChapterList: ReplyRows {
  /// A chapter.
  package struct Row: ReplyFields {
    /// The number of the chapter, from 1.
    package var chapter: Int
    /// In seconds.
    package var start: MediaTime
    /// In seconds.
    package var end: MediaTime
    package var title: String?
    /// The language of the title. Nil if it is unknown.
    package var language: String?
    /// The languages of all titles. Nil for a chapter with one title or none.
    package var languages: [String]?

    package init(
      chapter: Int, start: MediaTime, end: MediaTime, title: String?, language: String?, languages: [String]?
    ) {
      (self.chapter, self.start, self.end) = (chapter, start, end)
      (self.title, self.language, self.languages) = (title, language, languages)
    }

    package static let fields: [Field<Self>] = [
      Field(.chapter) { $0.chapter }, Field(.start) { $0.start }, Field(.end) { $0.end },
      Field(optional: .title) { $0.title }, Field(optional: .language) { $0.language },
      Field(optional: .languages) { $0.languages },
    ]
  }

  /// The number of all chapters.
  package var count: Int
  /// The index of the first chapter of the next part. Nil after the last part.
  package var next: Int?
  /// A corrected error of the file. Nil: none.
  package var fault: MediaError?
  package var rows: [Row]

  package init(count: Int, next: Int?, fault: MediaError?, rows: [Row]) {
    (self.count, self.next, self.fault, self.rows) = (count, next, fault, rows)
  }

  package static let fields: [Field<Self>] = [
    Field(.count) { $0.count }, Field(nullable: .next) { $0.next }, Field(optional: .fault) { $0.fault?.code.name },
    Field(optional: .message) { $0.fault?.message },
  ]

  /// The description of the list, for the documents.
  static let details =
    "Chapters are in order and do not overlap. `fault` and `message` describe corrected errors of the file"
    + " (`irregular-chapters`). Chapters of Matroska may have titles in several languages: `languages` lists them, and"
    + " `language` selects one. The default is the first title of the file."
}

extension ParameterListBuilder {
  /// Adds the option with the preferred languages of chapter titles. Default: the first title of the file.
  mutating func chapterLanguages() -> Parameter<[String]> {
    option(
      .language, .texts(maximumByteCount: 1_024), "LANG,...", default: [],
      "the languages of the titles, in order of preference (BCP 47)")
  }

  /// Adds the option with the number of rows to skip. Default: 0.
  mutating func rowOffset() -> Parameter<Int> {
    option(
      .offset, .integer(0...Int.max), "N", default: 0,
      "the number of rows to skip: the `next` of the previous part of the list; default: 0")
  }
}
