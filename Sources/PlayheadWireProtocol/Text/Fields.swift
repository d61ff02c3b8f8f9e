import PlayheadMediaCore

/// The `key=value` fields of a reply, a row or an event, in the order in which they are written.
package struct Fields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field. The name contains only letters, digits, `-` and `.`, and never comes from a client.
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: FieldValue

    package init(_ name: String, _ value: FieldValue) {
      self.name = name
      self.value = value
    }
  }

  /// The fields, in order.
  package private(set) var entries: [Field]

  package init() { entries = [] }

  /// Creates an empty list with memory for a number of fields.
  init(capacity: Int) {
    entries = []
    entries.reserveCapacity(capacity)
  }

  /// Creates fields from pairs, such as `["items": .integers(ids), "version": .int(version)]`. Keeps their order.
  package init(dictionaryLiteral elements: (String, FieldValue)...) { entries = elements.map { Field($0.0, $0.1) } }

  package var isEmpty: Bool { entries.isEmpty }

  /// The value of the first field with this name.
  package subscript(name: String) -> FieldValue? { entries.first { $0.name == name }?.value }

  package mutating func append(_ name: String, _ value: FieldValue) { entries.append(Field(name, value)) }

  /// Appends a field if it has a value.
  package mutating func append(_ name: String, ifPresent value: FieldValue?) { if let value { append(name, value) } }

  /// Appends the two fields of a position: `time` in decimal seconds, and `pts` as an exact fraction.
  package mutating func append(position: MediaTime) {
    append("time", .time(position))
    append("pts", .fraction(position))
  }

  /// Appends the fields of `other`.
  package mutating func append(contentsOf other: Fields) { entries.append(contentsOf: other.entries) }

  /// Appends ` name=value` for every field.
  func appendWords(to buffer: inout [UInt8]) {
    for field in entries {
      buffer.append(UInt8(ascii: " "))
      buffer.append(contentsOf: field.name.utf8)
      buffer.append(UInt8(ascii: "="))
      field.value.appendWords(to: &buffer)
    }
  }

  /// Appends `"name":value` for every field, separated by commas. The caller writes the braces.
  func appendJSONMembers(to buffer: inout [UInt8]) {
    for (index, field) in entries.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      JSONText.append(field.name, to: &buffer)
      buffer.append(UInt8(ascii: ":"))
      field.value.appendJSON(to: &buffer)
    }
  }
}
