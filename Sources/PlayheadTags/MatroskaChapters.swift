// Reads the chapter titles of Matroska and WebM (RFC 9559, section 5.1.7) in all languages. FFmpeg keeps one title of
// each chapter and drops its language. Opens no files: the caller supplies the bytes.

/// A chapter of a file and its titles.
package struct TagChapter: Sendable, Hashable {
  /// A title and its languages.
  package struct Title: Sendable, Hashable {
    package var text: String
    /// The language codes: BCP 47 if the file has them, otherwise ISO 639-2. Empty if the language is undetermined.
    package var languages: [String]

    package init(text: String, languages: [String]) {
      self.text = text
      self.languages = languages
    }
  }

  /// The start of the chapter, in ns.
  package var startNanoseconds: Int64
  /// The titles, in the file's order.
  package var titles: [Title]
}

/// Reads the chapters of one file.
struct MatroskaChapters<Failure: Error> {
  private enum ID {
    static var chapters: UInt32 { 0x1043_A770 }
    static var edition: UInt32 { 0x45B9 }
    static var atom: UInt32 { 0xB6 }
    static var uid: UInt32 { 0x73C4 }
    static var start: UInt32 { 0x91 }
    static var display: UInt32 { 0x80 }
    static var string: UInt32 { 0x85 }
    static var language: UInt32 { 0x437C }
    static var languageBCP47: UInt32 { 0x437D }
  }

  /// Maximum number of titles of a chapter, and of languages of a title.
  private static var maximumTitles: Int { 64 }
  private static var maximumLanguages: Int { 8 }
  /// Maximum size of a title in bytes.
  private static var maximumTitleBytes: Int { 1_024 }

  private let limits: TagLimits
  private var textByteCount = 0
  private var chapters: [TagChapter] = []

  private init(limits: TagLimits) { self.limits = limits }

  /// Reads the chapters of all editions, without nested chapters, as FFmpeg does.
  static func read(
    byteCount: Int64, limits: TagLimits, bytes: @escaping TagReader.ByteReader<Failure>
  ) throws(Failure) -> [TagChapter] {
    var file = MatroskaFile(byteCount: byteCount, limits: limits, bytes: bytes)
    var reader = MatroskaChapters(limits: limits)
    for position in try file.positions(of: [ID.chapters])[ID.chapters] ?? [] {
      guard let element = try file.element(at: position), element.id == ID.chapters else { continue }
      let content = try file.content(of: element, limit: MatroskaFile<Failure>.maximumListBytes)
      for edition in EBML.children(content) where edition.id == ID.edition {
        for atom in EBML.children(edition.content) where atom.id == ID.atom { reader.addChapter(atom.content) }
      }
    }
    return reader.chapters
  }

  private mutating func addChapter(_ atom: ArraySlice<UInt8>) {
    guard chapters.count < limits.itemCount else { return }
    var (start, uid): (UInt64?, UInt64?)
    var titles: [TagChapter.Title] = []
    for part in EBML.children(atom) {
      switch part.id {
      case ID.start: start = EBML.number(part.content)
      case ID.uid: uid = EBML.number(part.content)
      case ID.display where titles.count < Self.maximumTitles:
        if let title = title(part.content) { titles.append(title) }
      default: break
      }
    }
    // FFmpeg ignores chapters without a UID.
    guard let start, let nanoseconds = Int64(exactly: start), uid != nil, uid != 0 else { return }
    chapters.append(TagChapter(startNanoseconds: nanoseconds, titles: titles))
  }

  private mutating func title(_ display: ArraySlice<UInt8>) -> TagChapter.Title? {
    var text: String?
    var (iso639Languages, bcp47Languages): ([String], [String]) = ([], [])
    for part in EBML.children(display) {
      switch part.id {
      case ID.string where part.content.count <= Self.maximumTitleBytes: text = EBML.text(part.content)
      case ID.language where iso639Languages.count < Self.maximumLanguages && part.content.count <= 64:
        iso639Languages.append(EBML.text(part.content))
      case ID.languageBCP47 where bcp47Languages.count < Self.maximumLanguages && part.content.count <= 64:
        bcp47Languages.append(EBML.text(part.content))
      default: break
      }
    }
    guard let text, !text.isEmpty, text.utf8.count <= limits.textByteCount - textByteCount else { return nil }
    textByteCount += text.utf8.count
    // The BCP 47 elements override the ISO 639-2 elements. Without either, the language is English.
    let languages = !bcp47Languages.isEmpty ? bcp47Languages : !iso639Languages.isEmpty ? iso639Languages : ["eng"]
    return TagChapter.Title(text: text, languages: languages.filter { !$0.isEmpty && $0 != "und" })
  }
}

extension TagReader {
  /// Reads the chapters of a Matroska or WebM file of `byteCount` bytes with all titles. Blocks while `bytes` blocks,
  /// and calls it only on this thread. Damaged or oversized parts are skipped.
  package static func matroskaChapters<Failure: Error>(
    byteCount: Int64, limits: TagLimits = TagLimits(), bytes: @escaping ByteReader<Failure>
  ) throws(Failure) -> [TagChapter] {
    try MatroskaChapters.read(byteCount: byteCount, limits: limits, bytes: bytes)
  }

  /// Reads the chapters of a file in memory.
  package static func matroskaChapters(data: [UInt8], limits: TagLimits = TagLimits()) -> [TagChapter] {
    matroskaChapters(byteCount: Int64(data.count), limits: limits, bytes: reader(of: data))
  }
}
