// Parsing of response headers. Pure. Every line comes from the server and can be wrong.

/// The header of one response.
package struct ResponseHead: Sendable, Hashable {
  /// The HTTP status; 0 before the status line.
  package private(set) var status = 0
  /// The fields by lower-case name. The first one of repeated fields is used.
  private(set) var fields: [String: String] = [:]
  /// The number of bytes of all lines, including those of earlier responses.
  private(set) var byteCount = 0
  /// Whether the final empty line has been read.
  package private(set) var isComplete = false

  /// The maximum number of retained fields; further fields only count as bytes.
  private static let maximumFieldCount = 128

  /// Creates a header without lines.
  package init() {}

  /// Reads a line, with or without line end. A status line begins a new response, because redirects and provisional
  /// responses precede the final one.
  package mutating func parse(line bytes: UnsafeRawBufferPointer) {
    byteCount += bytes.count
    var line = bytes[...]
    while let last = line.last, last == 0x0A || last == 0x0D { line = line.dropLast() }
    if Self.isStatusLine(line) {
      let count = byteCount
      self = ResponseHead()
      byteCount = count
      status = Self.status(in: line)
      return
    }
    guard !line.isEmpty else {
      isComplete = true
      return
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), fields.count < Self.maximumFieldCount else { return }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    if fields[name] == nil { fields[name] = Self.text(line[(colon + 1)...]) }
  }

  private static func isStatusLine(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
    line.starts(with: "HTTP/".utf8) || line.starts(with: "ICY ".utf8)
  }

  private static func status(in line: Slice<UnsafeRawBufferPointer>) -> Int {
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    guard words.count > 1 else { return 0 }
    return Int(String(decoding: words[1], as: UTF8.self)) ?? 0
  }

  /// Decodes a value as UTF-8, or else Latin-1, without surrounding spaces.
  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    var rest = bytes
    while let first = rest.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    return ICYText.decode(rest)
  }

  // MARK: - Fields

  /// The number of bytes of the body; nil when missing or invalid.
  package var contentLength: Int64? { fields["content-length"].flatMap(Self.count) }

  /// The byte range of a partial response, and the total number of bytes.
  package struct ContentRange: Sendable, Hashable {
    /// The range; nil in the response to an unsatisfiable range (`*/100`).
    package var bytes: ClosedRange<Int64>?
    /// The total; nil when not specified (`0-9/*`).
    package var total: Int64?
  }

  /// `Content-Range` (RFC 9110, section 14.4); nil when missing or invalid.
  package var contentRange: ContentRange? { fields["content-range"].flatMap(Self.range) }

  /// Parses the value of `Content-Range`.
  static func range(_ text: String) -> ContentRange? {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let total = parts[1] == "*" ? nil : count(String(parts[1]))
    guard parts[1] == "*" || total != nil else { return nil }
    if parts[0] == "*" { return ContentRange(bytes: nil, total: total) }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { count(String($0)) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, total.map({ last < $0 }) ?? true
    else {
      return nil
    }
    return ContentRange(bytes: first...last, total: total)
  }

  /// Whether the server announces support for ranges.
  var acceptsRanges: Bool { fields["accept-ranges"].map { $0.lowercased() == "bytes" } ?? false }

  /// `Retry-After` (RFC 9110, section 10.2.3) if given in seconds, at most a day.
  package var retryAfter: Duration? {
    fields["retry-after"].flatMap(Self.count).map { .seconds(min($0, 86_400)) }
  }

  /// The strong entity tag; nil when missing or weak.
  package var strongETag: String? { fields["etag"].flatMap { $0.hasPrefix("W/") ? nil : $0 } }

  /// The media type in lower case, without parameters.
  package var mediaType: String? {
    fields["content-type"].map { String($0.prefix { $0 != ";" && $0 != " " }).lowercased() }
  }

  /// The number of audio bytes between titles; nil without titles.
  package var icyInterval: Int? {
    fields["icy-metaint"].flatMap(Self.count).flatMap { $0 > 0 && $0 <= 1 << 24 ? Int($0) : nil }
  }

  /// Whether the server is a station: an endless stream.
  var isStation: Bool { fields.keys.contains { $0.hasPrefix("icy-") } }

  /// Parses a number of at most eighteen digits.
  private static func count(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
  }
}
