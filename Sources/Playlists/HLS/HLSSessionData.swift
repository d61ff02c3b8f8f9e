import MediaCore

/// Something that a master playlist says of the whole stream (`EXT-X-SESSION-DATA`, RFC 8216, section 4.3.4.4).
public struct HLSSessionData: Sendable, Hashable {
  /// What it is: or where that is.
  public enum Content: Sendable, Hashable {
    case value(String)
    /// JSON, unless it is said to be anything (`FORMAT=RAW`).
    case place(PlaylistPlace, isJSON: Bool)
  }

  /// Mostly a reversed name of a domain, such as `com.example.title`.
  public var id: String
  public var content: Content
  /// BCP 47.
  public var language: String?

  /// Items that are kept of a playlist, and bytes of all of them.
  public static let maximumCount = 512
  static let maximumByteCount = 1 << 20
  static let maximumNameByteCount = 1_024

  /// Nil for what makes no sense: a stream is heard without it, too.
  init?(_ attributes: HLSAttributes, _ reader: HLSLineReader) {
    guard let id = attributes["DATA-ID"], !id.isEmpty, id.utf8.count <= Self.maximumNameByteCount else { return nil }
    switch (attributes["VALUE"], attributes["URI"]) {
    case (let value?, nil): content = .value(value)
    case (nil, let uri?):
      guard let place = try? reader.resolve(Array(uri.utf8)) else { return nil }
      content = .place(place, isJSON: attributes["FORMAT"].map { $0 != "RAW" } ?? true)
    default: return nil
    }
    self.id = id
    language = attributes["LANGUAGE"].flatMap { $0.isEmpty || $0.utf8.count > 64 ? nil : $0 }
  }

  /// Bytes that it is counted by.
  var byteCount: Int {
    let count =
      switch content {
      case .value(let text): text.utf8.count
      case .place(let place, _): place.byteCount
      }
    return id.utf8.count + count
  }
}
