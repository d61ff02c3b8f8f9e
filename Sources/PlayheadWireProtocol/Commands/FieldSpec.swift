/// The definition of one field of a reply, a row or an event: its name, its type, and its meaning.
///
/// There is one definition for each meaning, in an extension of ``FieldKey``. Commands and events refer to these
/// definitions, and state only whether the field may be absent or have no value: `Field(optional: .title)`.
package struct FieldSpec: Sendable, Hashable {
  package let name: String
  package let type: FieldType
  /// One phrase: what the value is, with its unit and its range.
  package let summary: String
  /// Whether the field may be absent.
  package private(set) var isOptional = false
  /// Whether the field may have no value: `none` in the text form, `null` in JSON.
  package private(set) var isNullable = false

  init(_ name: String, _ type: FieldType, _ summary: String) {
    (self.name, self.type, self.summary) = (name, type, summary)
  }

  /// The same field, which may be absent.
  var optional: FieldSpec {
    var field = self
    field.isOptional = true
    return field
  }

  /// The same field, which may have no value.
  var nullable: FieldSpec {
    var field = self
    field.isNullable = true
    return field
  }

  /// The field as written in help: `duration`, `duration?` if it may have no value, `[seed]` if it may be absent.
  package var notation: String {
    let value = isNullable ? "\(name)?" : name
    return isOptional ? "[\(value)]" : value
  }
}

/// The type of a field.
package enum FieldType: Sendable, Hashable {
  case text
  /// One of these words.
  case word([String])
  /// The name of an error.
  case errorName
  case integer
  case number
  case boolean
  /// Seconds, rounded to nine decimals: a number in JSON. `indefinite`, `inf` or `-inf` if the time is not numeric:
  /// text in JSON.
  case time
  /// Seconds as an exact fraction, `538020/44100`: text in JSON.
  case fraction
  /// A range of seconds, `START-END`: an object with `start` and `end` in JSON.
  case range
  /// The selected tracks of an entry, such as `audible=1,legible=none`: an object in JSON.
  case selection
  /// The criteria of `media-selection`, such as `language=de,en`: an object in JSON.
  case criteria
  /// The settings of `output.set`, such as `selected=default preferred=none lost=pause`: an object in JSON.
  case outputSelection
  case integers
  case numbers
  case texts
  /// A list of these words.
  case words([String])
  case ranges
  /// Changes of a queue, such as `insert:12:3`: objects in JSON.
  case changes
  /// A JSON object; in the text form its JSON text.
  case object
  /// An array of JSON objects; in the text form its JSON text.
  case objects
  /// A value whose type depends on another field.
  case value

  /// The type of a field whose values are the raw values of an enumeration.
  static func words<Word: RawRepresentable & CaseIterable>(of _: Word.Type) -> FieldType where Word.RawValue == String {
    .word(Word.allCases.map(\.rawValue))
  }

  /// The type in documents.
  package var description: String {
    switch self {
    case .text: "text"
    case .word(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .errorName: "name of an error"
    case .integer: "integer"
    case .number: "number"
    case .boolean: "`true` or `false`"
    case .time: "seconds"
    case .fraction: "fraction"
    case .range: "range of seconds"
    case .selection: "selected tracks"
    case .criteria: "criteria"
    case .outputSelection: "output selection"
    case .integers: "list of integers"
    case .numbers: "list of numbers"
    case .texts: "list of texts"
    case .words(let words): "list of " + words.map { "`\($0)`" }.joined(separator: ", ")
    case .ranges: "list of ranges"
    case .changes: "list of changes"
    case .object: "object"
    case .objects: "list of objects"
    case .value: "depends on another field"
    }
  }
}
