/// One field of a reply, a row or an event.
///
/// The literal is the field's name: `"duration?"` may have no value, `"[seed]"` may be absent, `"[next?]"` either.
public struct FieldSpec: Sendable, Hashable, ExpressibleByStringLiteral {
  public let name: String
  /// Whether the field may be absent.
  public let isOptional: Bool
  /// Whether the field may have no value: `none` in words, `null` in JSON; for a time also `indefinite` or `inf`.
  public let isNullable: Bool

  init(_ name: String, isOptional: Bool, isNullable: Bool) {
    (self.name, self.isOptional, self.isNullable) = (name, isOptional, isNullable)
  }

  public init(stringLiteral literal: String) {
    var name = literal[...]
    isOptional = name.first == "["
    if isOptional { name = name.dropFirst().dropLast() }
    isNullable = name.last == "?"
    self.name = String(isNullable ? name.dropLast() : name)
  }

  /// The same field, which may be absent.
  var optional: FieldSpec { FieldSpec(name, isOptional: true, isNullable: isNullable) }

  /// How the help writes the field: as its literal.
  public var notation: String {
    let value = isNullable ? "\(name)?" : name
    return isOptional ? "[\(value)]" : value
  }
}
