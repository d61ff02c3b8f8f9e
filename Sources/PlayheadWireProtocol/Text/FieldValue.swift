import PlayheadMediaCore

/// A typed value of a reply or an event.
package enum FieldValue: Sendable, Hashable {
  /// No value: `none` in the text form, `null` in JSON.
  case none
  case string(String)
  case integer(Int64)
  /// A number as decimal text (`1`, `0.75`) in JSON's grammar. See ``float(_:)``.
  case number(String)
  case bool(Bool)
  /// Seconds rounded to 9 decimals, a number in JSON. `indefinite`, `invalid`, `inf` or `-inf` if not numeric.
  case time(MediaTime)
  /// An exact fraction such as `3682350/44100`. A string in JSON.
  case fraction(MediaTime)
  /// In the text form the elements separated by commas, with `\,` and `\\` for a comma and a backslash. In JSON an
  /// array.
  case list([FieldValue])
  /// A list of integers, such as ids. In both forms like `list`.
  case integerList(IntegerList)
  /// A value that is an object or array in JSON.
  indirect case structured(StructuredValue)

  /// An integer. Values outside the range of `Int64` become text and do not trap.
  package static func int(_ value: some BinaryInteger) -> FieldValue {
    Int64(exactly: value).map(FieldValue.integer) ?? .number("\(value)")
  }

  /// A floating-point number in its shortest exact text. Integral values have no `.0`. Values that are not finite
  /// become `none`.
  package static func float(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> FieldValue {
    guard value.isFinite else { return .none }
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return .integer(whole) }
    return .number(value.description)
  }

  /// An instant in seconds of its clock; `none` for nil.
  package static func hostTime(_ instant: HostTime?) -> FieldValue {
    instant.map { .seconds(nanoseconds: $0.nanoseconds) } ?? .none
  }

  /// Seconds, rounded half away from zero to nine decimals.
  package static func seconds(nanoseconds: Int64) -> FieldValue {
    .time(MediaTime(value: nanoseconds, timescale: 1_000_000_000))
  }

  /// A path in the form of ``FilePath/text``.
  package static func path(_ path: FilePath) -> FieldValue { .string(path.text) }

  /// A list of integers, such as ids.
  package static func integers(_ values: [some BinaryInteger & Sendable]) -> FieldValue {
    .integerList(IntegerList(values))
  }

  /// A range of seconds: ``StructuredValue/range(_:)``.
  package static func range(_ range: TimeRange) -> FieldValue { .structured(.range(range)) }

  /// A change of a queue: ``StructuredValue/change(_:)``.
  package static func change(_ change: QueueChange) -> FieldValue { .structured(.change(change)) }

  /// The selected tracks of an entry: ``StructuredValue/selection(_:)``.
  package static func selection(_ selection: TrackSelection) -> FieldValue { .structured(.selection(selection)) }

  /// Options of a command: ``StructuredValue/options(_:)``.
  package static func options(_ options: [StructuredValue.Option]) -> FieldValue { .structured(.options(options)) }

  /// A list of ranges of seconds.
  package static func ranges(_ ranges: [TimeRange]) -> FieldValue { .list(ranges.map(FieldValue.range)) }

  /// A list of changes of a queue.
  package static func changes(_ changes: [QueueChange]) -> FieldValue { .list(changes.map(FieldValue.change)) }

  /// A list of texts.
  package static func strings(_ values: [String]) -> FieldValue { .list(values.map(FieldValue.string)) }
}

extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .none }
}

extension FieldValue {
  /// Appends the value in the text form.
  func appendWords(to buffer: inout [UInt8]) {
    switch self {
    case .none: buffer.append(contentsOf: "none".utf8)
    case .string(let text): WordsText.append(text, to: &buffer)
    case .integer(let value): buffer.append(decimal: value)
    case .number(let text): buffer.append(contentsOf: text.utf8)
    case .bool(let value): buffer.append(contentsOf: (value ? "true" : "false").utf8)
    case .time(let time): buffer.append(seconds: time)
    case .fraction(let time): buffer.append(fraction: time)
    case .list(let elements): appendList(elements, to: &buffer)
    case .integerList(let list):
      if list.isEmpty { buffer.append(contentsOf: "\"\"".utf8) } else { appendList(list, to: &buffer) }
    case .structured(let value): value.appendWords(to: &buffer)
    }
  }

  /// Appends the value as JSON.
  func appendJSON(to buffer: inout [UInt8]) {
    switch self {
    case .none: buffer.append(contentsOf: "null".utf8)
    case .string(let text): JSONText.append(text, to: &buffer)
    case .integer, .number, .bool: appendWords(to: &buffer)
    case .time(let time):
      if time.isNumeric { appendWords(to: &buffer) } else { JSONText.append(time.decimalDescription, to: &buffer) }
    case .fraction(let time): JSONText.append(time.fractionDescription, to: &buffer)
    case .structured(let value): value.appendJSON(to: &buffer)
    case .integerList(let list):
      buffer.append(UInt8(ascii: "["))
      appendList(list, to: &buffer)
      buffer.append(UInt8(ascii: "]"))
    case .list(let elements):
      buffer.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { buffer.append(UInt8(ascii: ",")) }
        element.appendJSON(to: &buffer)
      }
      buffer.append(UInt8(ascii: "]"))
    }
  }

  private func appendList(_ list: IntegerList, to buffer: inout [UInt8]) {
    // A long list is copied once, because the rest of its line needs no larger buffer.
    if list.byteCount > 4_096 { buffer.reserveCapacity(buffer.count + list.byteCount + 4_096) }
    buffer.append(contentsOf: list.text)
  }

  private func appendList(_ elements: [FieldValue], to buffer: inout [UInt8]) {
    guard !elements.isEmpty else { return buffer.append(contentsOf: "\"\"".utf8) }
    var text: [UInt8] = []
    var element: [UInt8] = []
    for (index, value) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      element.removeAll(keepingCapacity: true)
      if case .string(let string) = value {
        element.append(contentsOf: string.utf8)
      } else {
        value.appendWords(to: &element)
      }
      for byte in element {
        if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
        text.append(byte)
      }
    }
    text.withUnsafeBufferPointer { WordsText.append(utf8: $0, to: &buffer) }
  }
}

extension [UInt8] {
  /// Appends an integer in decimal without creating a string.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(magnitude: value.magnitude)
  }

  /// Appends `time.decimalDescription` without creating a string: seconds, rounded half away from zero to nine
  /// decimals.
  ///
  /// Every reply and event with a position needs two such texts. Times that are not numeric use the slow path.
  mutating func append(seconds time: MediaTime) {
    guard time.isNumeric, time.timescale > 0 else { return append(contentsOf: time.decimalDescription.utf8) }
    let scale = UInt64(time.timescale)
    var (whole, remainder) = time.value.magnitude.quotientAndRemainder(dividingBy: scale)
    // The remainder is below 2^31 and 2 * 10^9 below 2^31, so nothing here overflows.
    var billionths = (remainder * 2_000_000_000 + scale) / (2 * scale)
    if billionths == 1_000_000_000 { (whole, billionths) = (whole + 1, 0) }
    if time.value < 0, whole > 0 || billionths > 0 { append(UInt8(ascii: "-")) }
    append(magnitude: whole)
    guard billionths > 0 else { return }
    append(UInt8(ascii: "."))
    var divisor: UInt64 = 100_000_000
    while billionths > 0 {
      (remainder, billionths) = billionths.quotientAndRemainder(dividingBy: divisor)
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder))
      divisor /= 10
    }
  }

  /// Appends a range as `START-END`. The end is `inf` for a range without an end.
  mutating func append(range: TimeRange) {
    append(seconds: range.start)
    append(UInt8(ascii: "-"))
    if range.end.isNumeric { append(seconds: range.end) } else { append(contentsOf: "inf".utf8) }
  }

  /// Appends `time.fractionDescription` without creating a string.
  mutating func append(fraction time: MediaTime) {
    guard time.isNumeric else { return append(contentsOf: time.fractionDescription.utf8) }
    append(decimal: time.value)
    append(UInt8(ascii: "/"))
    append(decimal: Int64(time.timescale))
  }

  private mutating func append(magnitude: UInt64) {
    if magnitude < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude)) }
    var remaining = magnitude
    var divisor: UInt64 = 10
    while magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      let digit: UInt64
      (digit, remaining) = remaining.quotientAndRemainder(dividingBy: divisor)
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      divisor /= 10
    }
  }
}
