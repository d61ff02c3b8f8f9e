/// JSON values as literals, for the documents that are written here.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .number(String(value)) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(members.map { Member($0.0, $0.1) })
  }

  /// The object with another member at its end. Only for objects.
  func with(_ name: String, _ value: JSONValue?) -> JSONValue {
    guard let value, case .object(let members) = self else { return self }
    return .object(members + [Member(name, value)])
  }

  /// A reference to a schema of the same document.
  static func schema(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }
}
