import PlayheadMediaCore

/// The arguments of a request for one command: a value for each of its parameters, under the name of the property in
/// `Parameters`.
@dynamicMemberLookup
package struct Arguments<Definition: Command>: Sendable {
  private let parsed: ParsedArguments

  /// The arguments of a request for this command. Arguments of another command are a programming error.
  package init(parsed: ParsedArguments) {
    precondition(parsed.spec === Definition.definition.spec, "the arguments belong to another command")
    self.parsed = parsed
  }

  /// The arguments of a request that was selected by this command. Not checked, because each request comes here.
  package init(selected parsed: ParsedArguments) {
    assert(parsed.spec === Definition.definition.spec)
    self.parsed = parsed
  }

  /// The value of a parameter.
  @inlinable
  package subscript<Value>(dynamicMember property: KeyPath<Definition.Parameters, Parameter<Value>>) -> Value {
    value(of: Definition.definition.parameters[keyPath: property])
  }

  /// The value of a parameter.
  @usableFromInline
  func value<Value>(of parameter: Parameter<Value>) -> Value { parameter.value(in: parsed) }

  /// Whether the request has a value for a parameter.
  func has<Value>(_ property: KeyPath<Definition.Parameters, Parameter<Value>>) -> Bool {
    parsed.has(Definition.definition.parameters[keyPath: property].index)
  }

  /// Whether the request has no value and therefore only reads (``CommandSpec/readsWithoutValue``).
  package var isReadWithoutValue: Bool { parsed.isReadWithoutValue }

  /// The first of these parameters that the request has a value for.
  func firstGiven(_ names: [ParameterName]) -> ParameterName? { names.first { parsed.isGiven($0) } }

  /// Whether the request is a part of `queue.edit`.
  var isPartOfEdit: Bool { parsed.isPartOfEdit }

  /// The paths of the list that are playlists.
  ///
  /// - Parameter areDeclared: Whether the request declares all paths as playlists, or none. Nil: their names decide.
  func playlists(areDeclared: Bool?) -> PlaylistSelection {
    switch areDeclared {
    case true?: parsed.listContains(FilePath.isFileOrAddress) ? .all : .none
    case false?: .none
    case nil: parsed.hasNamedPlaylist ? .named : .none
    }
  }

  /// The start and end from the parameters `start` and `end`, or from `range`. The end is nil for the end of the item.
  ///
  /// - Throws: `bad-arguments` for an empty range, and for both forms.
  func timeRange(
    start: MediaTime, end: MediaTime?, range: TimeRange?
  ) throws(MediaError) -> (start: MediaTime, end: MediaTime?) {
    guard let range else {
      try parsed.checkRange(start: start, end: end)
      return (start, end)
    }
    if let name = firstGiven([.start, .end]) { throw failure("range cannot be combined with \(name.rawValue)") }
    return (range.start, range.end.isNumeric ? range.end : nil)
  }

  /// Checks that a file that the client has opened is not to be replaced.
  ///
  /// - Throws: `bad-arguments`.
  func checkReplacement(of file: FilePath, _ replaces: Bool) throws(MediaError) {
    guard file.isFile || !replaces else { throw failure("replace cannot be combined with file=fd:TOKEN") }
  }

  /// The error for a file name from which no format can be derived.
  func unknownExtension(_ fileExtension: String?) -> MediaError { parsed.unknownExtension(fileExtension) }

  /// A `bad-arguments` error of this command.
  func failure(_ message: String) -> MediaError { parsed.failure(message) }
}
