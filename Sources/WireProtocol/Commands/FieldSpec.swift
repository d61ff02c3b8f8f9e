/// One field of a reply, a row or an event.
///
/// The literal is the name of the field: `"duration?"` may have no value, `"[seed]"` may be absent, `"[next?]"` may be
/// both.
public struct FieldSpec: Sendable, Hashable, ExpressibleByStringLiteral {
  public let name: String
  /// Whether the field may be absent.
  public let isOptional: Bool
  /// Whether the field may have no value: `none` in the text form, `null` in JSON. A time may also be `indefinite` or
  /// `inf`.
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

  /// The same field, marked as optional.
  var optional: FieldSpec { FieldSpec(name, isOptional: true, isNullable: isNullable) }

  /// The field as written in help: its literal.
  public var notation: String {
    let value = isNullable ? "\(name)?" : name
    return isOptional ? "[\(value)]" : value
  }
}
