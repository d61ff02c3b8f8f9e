// What a server's answer says of itself, from the lines of its header. Pure; every line is the server's, and may lie.

/// The header of one answer.
public struct ResponseHead: Sendable, Hashable {
  /// 0 before a status line came.
  public private(set) var status = 0
  /// Field names in lower case; of a field that comes twice, the first.
  private(set) var fields: [String: String] = [:]
  /// Bytes of all lines, those of answers before it included.
  private(set) var byteCount = 0
  /// Its last line, the empty one, has come.
  public private(set) var isComplete = false

  /// Fields that are kept; more are counted only.
  private static let maximumFieldCount = 128

  /// Before its first line.
  public init() {}

  /// Takes a line, with or without its end. A status line begins a new answer: redirects and provisional answers come before the
  /// one that counts.
  public mutating func take(line bytes: UnsafeRawBufferPointer) {
    byteCount += bytes.count
    var line = bytes[...]
    while let last = line.last, last == 0x0A || last == 0x0D { line = line.dropLast() }
    if Self.beginsAnswer(line) {
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

  private static func beginsAnswer(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
    line.starts(with: "HTTP/".utf8) || line.starts(with: "ICY ".utf8)
  }

  private static func status(in line: Slice<UnsafeRawBufferPointer>) -> Int {
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    guard words.count > 1 else { return 0 }
    return Int(String(decoding: words[1], as: UTF8.self)) ?? 0
  }

  /// UTF-8, or else Latin-1, without spaces around it.
  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    var rest = bytes
    while let first = rest.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    return ICYText.decode(rest)
  }

  // MARK: - What the fields say

  /// Bytes of the body; nil when it does not say, or nonsense.
  public var contentLength: Int64? { fields["content-length"].flatMap(Self.count) }

  /// The bytes that a partial answer has, and how many there are in all.
  public struct ContentRange: Sendable, Hashable {
    /// Nil in the answer that there are none such (`*/100`).
    public var bytes: ClosedRange<Int64>?
    /// Nil: not said (`0-9/*`).
    public var total: Int64?
  }

  /// `Content-Range` (RFC 9110, section 14.4); nil when there is none, or it makes no sense.
  public var contentRange: ContentRange? { fields["content-range"].flatMap(Self.range) }

  /// What the field's text says.
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

  /// Whether the server says that it gives ranges.
  var acceptsRanges: Bool { fields["accept-ranges"].map { $0.lowercased() == "bytes" } ?? false }

  /// What it says to wait (RFC 9110, section 10.2.3), when it says so in seconds.
  public var retryAfter: Duration? {
    fields["retry-after"].flatMap(Self.count).map { .seconds(min($0, 86_400)) }
  }

  /// Names the state of the resource; nil when there is none, or it is a weak one.
  public var strongETag: String? { fields["etag"].flatMap { $0.hasPrefix("W/") ? nil : $0 } }

  /// Without parameters, in lower case.
  public var mediaType: String? {
    fields["content-type"].map { String($0.prefix { $0 != ";" && $0 != " " }).lowercased() }
  }

  /// Bytes of sound between titles; nil when none come.
  public var icyInterval: Int? {
    fields["icy-metaint"].flatMap(Self.count).flatMap { $0 > 0 && $0 <= 1 << 24 ? Int($0) : nil }
  }

  /// Whether it is a station: a stream without an end.
  var isStation: Bool { fields.keys.contains { $0.hasPrefix("icy-") } }

  /// At most eighteen digits.
  private static func count(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
  }
}
