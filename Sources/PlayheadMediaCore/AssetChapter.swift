/// One chapter of an asset.
public struct AssetChapter: Sendable, Hashable, Codable {
  /// A chapter title in one or more languages.
  public struct Title: Sendable, Hashable, Codable {
    /// The text of the title.
    public let text: String
    /// The languages as BCP 47 or ISO 639-2 codes, as in the file; empty if the file states none.
    public let languageCodes: [String]

    /// Creates a title.
    public init(text: String, languageCodes: [String]) {
      self.text = text
      self.languageCodes = languageCodes
    }
  }

  /// The first title in the file; nil if the chapter has none.
  public let title: String?
  /// The range of the chapter on the asset's timeline.
  ///
  /// Chapters are sorted by start and do not overlap; gaps are possible. The end is indefinite if neither the file nor
  /// the asset's duration defines it.
  public let timeRange: TimeRange
  /// The language of the title as in the file, usually ISO 639-2; nil if the file does not state
  /// it (Ogg and ID3 cannot).
  public let languageCode: String?
  /// All titles of the chapter. Only Matroska has more than one.
  public let titles: [Title]

  /// Creates a chapter with one title, or without a title.
  public init(title: String?, timeRange: TimeRange, languageCode: String? = nil) {
    self.init(
      titles: title.map { [Title(text: $0, languageCodes: languageCode.map { [$0] } ?? [])] } ?? [],
      timeRange: timeRange, languageCode: languageCode)
  }

  /// - Parameters:
  ///   - titles: The titles, in the order of the file.
  ///   - timeRange: The range on the asset's timeline.
  ///   - languageCode: the language of a title that does not state one.
  public init(titles: [Title], timeRange: TimeRange, languageCode: String? = nil) {
    self.titles = titles
    self.timeRange = timeRange
    title = titles.first?.text
    self.languageCode = titles.first?.languageCodes.first ?? languageCode
  }

  /// The languages of the titles, without duplicates.
  public var languageCodes: [String] {
    titles.flatMap(\.languageCodes).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
