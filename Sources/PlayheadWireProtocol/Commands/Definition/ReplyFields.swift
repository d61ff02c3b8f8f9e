import PlayheadMediaCore

/// The fields of a reply or of one of its rows, as properties.
package protocol ReplyFields: Sendable {
  /// The fields in the order in which they are written.
  static var fields: [Field<Self>] { get }
  /// The fields of each row. Nil for a reply without rows.
  static var rowFields: [FieldSpec]? { get }
  /// The values of the rows. Nil for a reply without rows.
  var encodedRows: [Fields]? { get }
  /// Optional fields of which exactly one is present. Default: none.
  static var alternatives: [String] { get }
  /// Whether all fields are absent, so that the reply is `ok`. Default: false.
  var isEmpty: Bool { get }
}

extension ReplyFields {
  package static var rowFields: [FieldSpec]? { nil }
  package var encodedRows: [Fields]? { nil }
  package static var alternatives: [String] { [] }
  package var isEmpty: Bool { false }

  /// The values in the order of `fields`.
  fileprivate var encodedFields: Fields {
    let fields = Self.fields
    var values = Fields(capacity: fields.count)
    for field in fields { field.append(self, &values) }
    return values
  }
}

/// The fields of a reply that has rows.
package protocol ReplyRows: ReplyFields {
  associatedtype Row: ReplyFields
  var rows: [Row] { get }
}

extension ReplyRows {
  package static var rowFields: [FieldSpec]? { Row.fields.map(\.spec) }
  package var encodedRows: [Fields]? { rows.map(\.encodedFields) }
}

/// The reply `ok` without fields.
package struct NoFields: ReplyFields {
  package static let fields: [Field<Self>] = []

  package init() {}
}

extension Fields {
  /// The fields of a row, as an event contains them.
  package init(_ row: some ReplyFields) { self = row.encodedFields }
}

extension Reply {
  /// The success of a request.
  package init(_ reply: some ReplyFields) { self.init(rows: reply.encodedRows, outcome: .ok(reply.encodedFields)) }
}

/// A field of a reply or a row, with the value that it has in a `Root`.
package struct Field<Root>: Sendable {
  let spec: FieldSpec
  fileprivate let append: @Sendable (Root, inout Fields) -> Void

  private init(_ spec: FieldSpec, append: @escaping @Sendable (Root, inout Fields) -> Void) {
    self.spec = spec
    self.append = append
  }

  /// A field that always has a value.
  init<Value>(_ key: FieldKey<Value>, _ value: @escaping @Sendable (Root) -> Value) {
    let (name, encode) = (key.spec.name, key.encode)
    self.init(key.spec) { $1.append(name, encode(value($0))) }
  }

  /// A field that is absent if its value is nil.
  init<Value>(optional key: FieldKey<Value>, _ value: @escaping @Sendable (Root) -> Value?) {
    let (name, encode) = (key.spec.name, key.encode)
    self.init(key.spec.optional) { root, fields in
      if let value = value(root) { fields.append(name, encode(value)) }
    }
  }

  /// A field that is `none`, or `null` in JSON, if its value is nil.
  init<Value>(nullable key: FieldKey<Value>, _ value: @escaping @Sendable (Root) -> Value?) {
    let (name, encode) = (key.spec.name, key.encode)
    self.init(key.spec.nullable) { $1.append(name, value($0).map(encode) ?? .none) }
  }

  /// A field that is absent if the outer optional is nil, and `none`, or `null` in JSON, if the inner one is.
  init<Value>(nullableIfPresent key: FieldKey<Value>, _ value: @escaping @Sendable (Root) -> Value??) {
    let (name, encode) = (key.spec.name, key.encode)
    self.init(key.spec.nullable.optional) { root, fields in
      if let value = value(root) { fields.append(name, value.map(encode) ?? .none) }
    }
  }

  /// The field as a part of `Outer`, which contains a `Root`.
  func within<Outer>(_ root: @escaping @Sendable (Outer) -> Root) -> Field<Outer> {
    let append = append
    return Field<Outer>(spec) { append(root($0), &$1) }
  }

  /// The field as a part of `Outer`. It is absent if `Outer` contains no `Root`.
  func within<Outer>(ifPresent root: @escaping @Sendable (Outer) -> Root?) -> Field<Outer> {
    let append = append
    return Field<Outer>(spec.optional) { if let root = root($0) { append(root, &$1) } }
  }
}

/// The definition of a field, with the type of its values in Swift.
struct FieldKey<Value: Sendable>: Sendable {
  let spec: FieldSpec
  fileprivate let encode: @Sendable (Value) -> FieldValue

  private init(
    _ name: String, _ type: FieldType, _ summary: String, encode: @escaping @Sendable (Value) -> FieldValue
  ) {
    self.init(FieldSpec(name, type, summary), encode: encode)
  }

  /// Creates a field whose values have a type in Swift for which no other initializer exists.
  init(_ spec: FieldSpec, encode: @escaping @Sendable (Value) -> FieldValue) {
    (self.spec, self.encode) = (spec, encode)
  }
}

extension FieldSpec {
  /// The definition of a field without the type of its values.
  init(_ key: FieldKey<some Sendable>) { self = key.spec }
}

extension FieldKey<Bool> {
  init(_ name: String, _ summary: String) { self.init(name, .boolean, summary) { .bool($0) } }
}

extension FieldKey where Value: BinaryInteger {
  init(_ name: String, _ summary: String) { self.init(name, .integer, summary) { .int($0) } }
}

extension FieldKey where Value: BinaryFloatingPoint & LosslessStringConvertible {
  init(_ name: String, _ summary: String) { self.init(name, .number, summary) { .float($0) } }
}

extension FieldKey<MediaTime> {
  /// Seconds, rounded to nine decimals.
  init(time name: String, _ summary: String) { self.init(name, .time, summary) { .time($0) } }
  /// Seconds as an exact fraction.
  init(fraction name: String, _ summary: String) { self.init(name, .fraction, summary) { .fraction($0) } }
}

extension FieldKey<String> {
  init(_ name: String, _ summary: String) { self.init(name, .text, summary) { .string($0) } }
  /// One of these words.
  init(_ name: String, words: [String], _ summary: String) { self.init(name, .word(words), summary) { .string($0) } }
  /// The name of an error.
  init(error name: String, _ summary: String) { self.init(name, .errorName, summary) { .string($0) } }
}

extension FieldKey<TimeRange> {
  /// A range of seconds.
  init(_ name: String, _ summary: String) { self.init(name, .range, summary) { .range($0) } }
}

extension FieldKey<[TimeRange]> {
  /// Ranges of seconds.
  init(_ name: String, _ summary: String) { self.init(name, .ranges, summary) { .ranges($0) } }
}

extension FieldKey<[QueueChange]> {
  init(_ name: String, _ summary: String) { self.init(name, .changes, summary) { .changes($0) } }
}

extension FieldKey<TrackSelection> {
  init(_ name: String, _ summary: String) { self.init(name, .selection, summary) { .selection($0) } }
}

extension FieldKey<HostTime> {
  init(_ name: String, _ summary: String) { self.init(name, .time, summary) { .hostTime($0) } }
}

extension FieldKey<JSONValue> {
  /// A JSON object.
  init(object name: String, _ summary: String) { self.init(name, .object, summary) { .structured(.json($0)) } }
  /// An array of JSON objects.
  init(objects name: String, _ summary: String) { self.init(name, .objects, summary) { .structured(.json($0)) } }
}

extension FieldKey<FilePath> {
  init(_ name: String, _ summary: String) { self.init(name, .text, summary) { .path($0) } }
}

extension FieldKey<IntegerList> {
  init(_ name: String, _ summary: String) { self.init(name, .integers, summary) { .integerList($0) } }
}

extension FieldKey<[UInt64]> {
  init(_ name: String, _ summary: String) { self.init(name, .integers, summary) { .integers($0) } }
}

extension FieldKey<[Double]> {
  init(_ name: String, _ summary: String) { self.init(name, .numbers, summary) { .list($0.map { .float($0) }) } }
}

extension FieldKey<[String]> {
  init(_ name: String, _ summary: String) { self.init(name, .texts, summary) { .strings($0) } }
  /// A list of these words.
  init(_ name: String, words: [String], _ summary: String) { self.init(name, .words(words), summary) { .strings($0) } }
}

extension FieldKey where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the words of an enumeration.
  init(_ name: String, _ summary: String) { self.init(name, .words(of: Value.self), summary) { .string($0.rawValue) } }
}
