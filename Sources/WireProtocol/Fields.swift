import MediaCore

/// The `key=value` fields of a reply, a row or an event, in the order in which they are written.
public struct Fields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field. The name is ours, never a peer's: letters, digits, `-` and `.` only.
  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: FieldValue

    public init(_ name: String, _ value: FieldValue) {
      self.name = name
      self.value = value
    }
  }

  /// The fields, in order.
  public private(set) var entries: [Field]

  public init() { entries = [] }

  /// `["items": .integers(ids), "version": .int(version)]`; the order stays.
  public init(dictionaryLiteral elements: (String, FieldValue)...) { entries = elements.map { Field($0.0, $0.1) } }

  public var isEmpty: Bool { entries.isEmpty }

  /// The first field of that name.
  public subscript(name: String) -> FieldValue? { entries.first { $0.name == name }?.value }

  /// Appends a field.
  public mutating func append(_ name: String, _ value: FieldValue) { entries.append(Field(name, value)) }

  /// Appends a field when there is a value.
  public mutating func append(_ name: String, ifPresent value: FieldValue?) { if let value { append(name, value) } }

  /// Appends the two fields in which every position is given: `time` in decimal seconds and `pts`, exactly.
  public mutating func append(position: MediaTime) {
    append("time", .time(position))
    append("pts", .fraction(position))
  }

  /// Appends other fields behind these.
  public mutating func append(contentsOf other: Fields) { entries.append(contentsOf: other.entries) }

  /// Appends ` name=value` for every field.
  func appendWords(to buffer: inout [UInt8]) {
    for field in entries {
      buffer.append(UInt8(ascii: " "))
      buffer.append(contentsOf: field.name.utf8)
      buffer.append(UInt8(ascii: "="))
      field.value.appendWords(to: &buffer)
    }
  }

  /// Appends `"name":value` for every field, with commas between; the caller writes the braces.
  func appendJSONMembers(to buffer: inout [UInt8]) {
    for (index, field) in entries.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      JSONText.append(field.name, to: &buffer)
      buffer.append(UInt8(ascii: ":"))
      field.value.appendJSON(to: &buffer)
    }
  }
}
