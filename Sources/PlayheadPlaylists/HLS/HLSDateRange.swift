import PlayheadMediaCore

/// A date range with metadata (`EXT-X-DATERANGE`, RFC 8216, section 4.3.2.7).
package struct HLSDateRange: Sendable, Hashable {
  /// The value of an attribute: a text, the digits of a number, or bytes (a hexadecimal number, as for SCTE-35).
  package enum Value: Sendable, Hashable {
    /// A text.
    case text(String)
    /// The digits of a number.
    case number(String)
    /// The bytes of a hexadecimal number.
    case data([UInt8])
  }

  /// The identifier, unique in the playlist.
  package var id: String
  /// The class of similar ranges (`CLASS`).
  package var classification: String?
  /// The start, in nanoseconds since 1970.
  package var start: Int64
  /// The end, in nanoseconds since 1970; nil when not specified.
  package var end: Int64?
  /// The duration in nanoseconds; nil when not specified.
  package var durationNanoseconds: Int64?
  /// The planned duration in nanoseconds; nil when not specified.
  package var plannedDurationNanoseconds: Int64?
  /// Whether the range ends at the start of the next range of its class.
  package var endsOnNext = false
  /// All attributes by name, including those above.
  package var attributes: [String: Value] = [:]

  /// The maximum number of ranges of a playlist, and the maximum total of their bytes.
  package static let maximumCount = 1_024
  static let maximumByteCount = 1 << 20

  /// Parses a range. Nil when invalid; the stream is playable without it.
  ///
  /// - Parameter known: returns the earlier range with an id, which this tag extends.
  init?(_ attributeList: HLSAttributes, known: (String) -> HLSDateRange?) {
    guard let id = attributeList["ID"], !id.isEmpty else { return nil }
    let earlier = known(id)
    guard let start = earlier?.start ?? attributeList["START-DATE"].flatMap(ISODate.parse) else { return nil }
    func nanoseconds(_ name: String) -> Int64? {
      attributeList[name].flatMap { HLSNumber.nanoseconds($0, limit: HLSLimits.totalNanoseconds) }
        .flatMap { $0 < 0 ? nil : $0 }
    }
    self.id = id
    self.start = start
    classification = earlier?.classification ?? attributeList["CLASS"]
    end = earlier?.end ?? attributeList["END-DATE"].flatMap(ISODate.parse).flatMap { $0 < start ? nil : $0 }
    durationNanoseconds = earlier?.durationNanoseconds ?? nanoseconds("DURATION")
    plannedDurationNanoseconds = earlier?.plannedDurationNanoseconds ?? nanoseconds("PLANNED-DURATION")
    endsOnNext = earlier?.endsOnNext ?? false || attributeList.isYes("END-ON-NEXT")
    attributes = earlier?.attributes ?? [:]
    for name in attributeList.names where attributes[name] == nil {
      attributes[name] = Self.value(of: name, in: attributeList)
    }
  }

  private static func value(of name: String, in attributeList: HLSAttributes) -> Value? {
    guard let text = attributeList[name] else { return nil }
    if attributeList.isQuoted(name) { return .text(text) }
    if text.hasPrefix("0x") || text.hasPrefix("0X") { return HLSNumber.bytes(text.dropFirst(2)).map { .data($0) } }
    return Double(text) == nil ? .text(text) : .number(text)
  }

  /// The number of bytes that count toward the limit.
  var byteCount: Int {
    attributes.reduce(64) { sum, attribute in
      switch attribute.value {
      case .text(let text), .number(let text): sum + attribute.key.utf8.count + text.utf8.count
      case .data(let bytes): sum + attribute.key.utf8.count + bytes.count
      }
    }
  }
}

/// The ranges of a playlist during parsing. Ranges with the same id are merged.
struct HLSDateRangeList {
  private(set) var ranges: [HLSDateRange] = []
  private var indices: [String: Int] = [:]
  private var byteCount = 0

  /// Adds the range of a tag. Ranges beyond the limits are ignored.
  mutating func add(_ value: ArraySlice<UInt8>) {
    guard let attributes = HLSAttributes(value),
      let range = HLSDateRange(attributes, known: { id in indices[id].map { ranges[$0] } })
    else { return }
    let known = indices[range.id]
    let growth = range.byteCount - (known.map { ranges[$0].byteCount } ?? 0)
    guard byteCount + growth <= HLSDateRange.maximumByteCount else { return }
    if let known {
      ranges[known] = range
    } else {
      guard ranges.count < HLSDateRange.maximumCount else { return }
      indices[range.id] = ranges.count
      ranges.append(range)
    }
    byteCount += growth
  }
}
