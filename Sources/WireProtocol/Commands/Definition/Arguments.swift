import MediaCore

/// The arguments of a request for one command: a value for each of its parameters, under the name of the property in
/// `Parameters`.
@dynamicMemberLookup
public struct Arguments<Definition: Command>: Sendable {
  private let parsed: ParsedArguments

  /// The arguments of a request for this command. Arguments of another command are a programming error.
  public init(parsed: ParsedArguments) {
    precondition(parsed.spec === Definition.definition.spec, "the arguments belong to another command")
    self.parsed = parsed
  }

  /// The value of a parameter.
  @inlinable
  public subscript<Value>(dynamicMember property: KeyPath<Definition.Parameters, Parameter<Value>>) -> Value {
    value(of: Definition.definition.parameters[keyPath: property])
  }

  /// The value of a parameter.
  @usableFromInline
  func value<Value>(of parameter: Parameter<Value>) -> Value { parameter.value(in: parsed) }

  /// Whether the request has a value for a parameter.
  func has<Value>(_ property: KeyPath<Definition.Parameters, Parameter<Value>>) -> Bool {
    parsed.has(Definition.definition.parameters[keyPath: property].index)
  }

  /// A `bad-arguments` error of this command.
  func failure(_ message: String) -> MediaError { parsed.failure(message) }
}
