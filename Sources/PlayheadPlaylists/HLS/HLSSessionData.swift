import PlayheadMediaCore

/// Metadata of the whole stream in a master playlist (`EXT-X-SESSION-DATA`, RFC 8216, section 4.3.4.4).
package struct HLSSessionData: Sendable, Hashable {
  /// The content, or its location.
  package enum Content: Sendable, Hashable {
    /// A text.
    case value(String)
    /// The location of the content: JSON by default, any format with `FORMAT=RAW`.
    case location(PlaylistLocation, isJSON: Bool)
  }

  /// The identifier, usually a reversed domain name, such as `com.example.title`.
  package var id: String
  /// The content, or its location.
  package var content: Content
  /// The language, in BCP 47 form.
  package var language: String?

  /// The maximum number of items of a playlist, and the maximum total of their bytes.
  package static let maximumCount = 512
  static let maximumByteCount = 1 << 20
  static let maximumNameByteCount = 1_024

  /// Parses an item. Nil when invalid; the stream is playable without it.
  init?(_ attributes: HLSAttributes, _ reader: HLSLineReader) {
    guard let id = attributes["DATA-ID"], !id.isEmpty, id.utf8.count <= Self.maximumNameByteCount else { return nil }
    switch (attributes["VALUE"], attributes["URI"]) {
    case (let value?, nil): content = .value(value)
    case (nil, let uri?):
      guard let location = try? reader.resolve(Array(uri.utf8)) else { return nil }
      content = .location(location, isJSON: attributes["FORMAT"].map { $0 != "RAW" } ?? true)
    default: return nil
    }
    self.id = id
    language = attributes["LANGUAGE"].flatMap { $0.isEmpty || $0.utf8.count > 64 ? nil : $0 }
  }

  /// The number of bytes that count toward the limit.
  var byteCount: Int {
    let count =
      switch content {
      case .value(let text): text.utf8.count
      case .location(let location, _): location.byteCount
      }
    return id.utf8.count + count
  }
}
