import MediaCore

/// A span of a stream of which something is said (`EXT-X-DATERANGE`, RFC 8216, section 4.3.2.7).
public struct HLSDateRange: Sendable, Hashable {
  /// What is said: a text, a number as it stands there, or bytes (a hexadecimal number, as SCTE-35 has it).
  public enum Value: Sendable, Hashable {
    case text(String)
    case number(String)
    case data([UInt8])
  }

  /// Unique in the playlist.
  public var id: String
  /// Ranges of one class are alike (`CLASS`).
  public var classification: String?
  /// In nanoseconds since 1970.
  public var start: Int64
  public var end: Int64?
  public var durationNanoseconds: Int64?
  public var plannedDurationNanoseconds: Int64?
  /// It ends where the next one of its class begins.
  public var endsOnNext = false
  /// All attributes by their names, those above included.
  public var attributes: [String: Value] = [:]

  /// Ranges that are kept of a playlist, and bytes of all of them.
  public static let maximumCount = 1_024
  static let maximumByteCount = 1 << 20

  /// Nil for what makes no sense: a stream is heard without it, too.
  ///
  /// - Parameter known: the one with the same id, of which this may say more.
  init?(_ list: HLSAttributes, known: (String) -> HLSDateRange?) {
    guard let id = list["ID"], !id.isEmpty else { return nil }
    let before = known(id)
    guard let start = before?.start ?? list["START-DATE"].flatMap(ISODate.parse) else { return nil }
    func nanoseconds(_ name: String) -> Int64? {
      list[name].flatMap { HLSNumber.nanoseconds($0, limit: HLSLimits.totalNanoseconds) }.flatMap { $0 < 0 ? nil : $0 }
    }
    self.id = id
    self.start = start
    classification = before?.classification ?? list["CLASS"]
    end = before?.end ?? list["END-DATE"].flatMap(ISODate.parse).flatMap { $0 < start ? nil : $0 }
    durationNanoseconds = before?.durationNanoseconds ?? nanoseconds("DURATION")
    plannedDurationNanoseconds = before?.plannedDurationNanoseconds ?? nanoseconds("PLANNED-DURATION")
    endsOnNext = before?.endsOnNext ?? false || list.isYes("END-ON-NEXT")
    attributes = before?.attributes ?? [:]
    for name in list.names where attributes[name] == nil { attributes[name] = Self.value(of: name, in: list) }
  }

  private static func value(of name: String, in list: HLSAttributes) -> Value? {
    guard let text = list[name] else { return nil }
    if list.isQuoted(name) { return .text(text) }
    if text.hasPrefix("0x") || text.hasPrefix("0X") { return HLSNumber.bytes(text.dropFirst(2)).map { .data($0) } }
    return Double(text) == nil ? .text(text) : .number(text)
  }

  /// Bytes that it is counted by.
  var byteCount: Int {
    attributes.reduce(64) { sum, attribute in
      switch attribute.value {
      case .text(let text), .number(let text): sum + attribute.key.utf8.count + text.utf8.count
      case .data(let bytes): sum + attribute.key.utf8.count + bytes.count
      }
    }
  }
}

/// The ranges of one playlist, while it is read: those with the same id are one.
struct HLSDateRangeList {
  private(set) var ranges: [HLSDateRange] = []
  private var indices: [String: Int] = [:]
  private var byteCount = 0

  /// Takes what a tag says; what is too much is passed over.
  mutating func take(_ value: ArraySlice<UInt8>) {
    guard let attributes = HLSAttributes(value),
      let range = HLSDateRange(attributes, known: { id in indices[id].map { ranges[$0] } })
    else { return }
    let known = indices[range.id]
    let grown = range.byteCount - (known.map { ranges[$0].byteCount } ?? 0)
    guard byteCount + grown <= HLSDateRange.maximumByteCount else { return }
    if let known {
      ranges[known] = range
    } else {
      guard ranges.count < HLSDateRange.maximumCount else { return }
      indices[range.id] = ranges.count
      ranges.append(range)
    }
    byteCount += grown
  }
}
