import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

extension AssetChaptersCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let properties = try asset(arguments, context).loadedProperties(for: name)
    return Reply(
      asset: arguments.id,
      chapters: ChapterList(
        properties.chapters, properties.chapterFault, from: arguments.offset, languages: arguments.languages,
        context.server.limits))
  }
}

extension ItemChaptersCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let item = try item(arguments, context)
    if let error = item.error { throw error }
    guard item.status == .readyToPlay else {
      throw MediaError(.invalidState, "item \(item.id) is not ready yet", operation: name.rawValue)
    }
    let properties = try item.asset.loadedProperties(for: name)
    return Reply(
      item: item.id,
      chapters: ChapterList(
        item.chapters, properties.chapterFault, from: arguments.offset, languages: arguments.languages,
        context.server.limits))
  }
}

extension ChapterList {
  /// The maximum number of reply bytes for one byte of a title or language code: JSON escapes a control
  /// character as `\u001f`.
  private static let bytesPerTextByte = 6
  /// The approximate number of bytes of the other fields of a row.
  private static let bytesPerRow = 256
  /// The maximum number of listed languages of a chapter.
  private static let maximumLanguageCount = 64

  /// The chapters from `offset` on, limited to the output buffer of the peer.
  fileprivate init(
    _ chapters: [AssetChapter], _ fault: MediaError?, from offset: Int, languages: [String], _ limits: WireLimits
  ) {
    let start = min(offset, chapters.count)
    var rows: [Row] = []
    var byteCount = 0
    for (index, chapter) in chapters.enumerated().dropFirst(start) {
      let chapter = languages.isEmpty ? chapter : chapter.bestMatching(preferredLanguages: languages)
      byteCount += (chapter.title?.utf8.count ?? 0) * Self.bytesPerTextByte + Self.bytesPerRow
      if byteCount > limits.outputByteCount / 2, !rows.isEmpty { break }
      var row = Row(
        chapter: index + 1, start: chapter.timeRange.start, end: chapter.timeRange.end, title: chapter.title,
        language: chapter.languageCode, languages: nil)
      if chapter.titles.count > 1 {
        let codes = Array(chapter.languageCodes.prefix(Self.maximumLanguageCount))
        byteCount += codes.reduce(0) { $0 + $1.utf8.count * Self.bytesPerTextByte }
        row.languages = codes
      }
      rows.append(row)
    }
    let next = start + rows.count
    self.init(count: chapters.count, next: next < chapters.count ? next : nil, fault: fault, rows: rows)
  }
}
