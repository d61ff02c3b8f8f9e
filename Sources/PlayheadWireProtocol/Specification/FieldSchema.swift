import PlayheadMediaCore

/// JSON Schemas (draft 7) of fields.
extension FieldType {
  /// The values of this type in JSON.
  var schema: JSONValue {
    switch self {
    case .text: ["type": "string"]
    case .word(let words): ["enum": .array(words.map(JSONValue.string))]
    case .errorName: .schema("ErrorName")
    case .integer: ["type": "integer"]
    case .number: ["type": "number"]
    case .boolean: ["type": "boolean"]
    case .time: .schema("Seconds")
    case .fraction: .schema("Fraction")
    case .range: .schema("Range")
    case .selection: .schema("TrackSelection")
    case .criteria: .schema("MediaSelectionCriteria")
    case .outputSelection: .schema("OutputSelection")
    case .integers: ["type": "array", "items": ["type": "integer"]]
    case .numbers: ["type": "array", "items": ["type": "number"]]
    case .texts: ["type": "array", "items": ["type": "string"]]
    case .words(let words): ["type": "array", "items": FieldType.word(words).schema]
    case .ranges: ["type": "array", "items": .schema("Range")]
    case .changes: ["type": "array", "items": .schema("QueueChange")]
    case .object: ["type": "object"]
    case .objects: ["type": "array", "items": ["type": "object"]]
    case .value: [:]
    }
  }

  /// The schemas that several fields share.
  static let sharedSchemas: [(name: String, schema: JSONValue)] = [
    (
      "Seconds",
      [
        "description": "Seconds, rounded to nine decimals; a word if the time is not a number.",
        "anyOf": [["type": "number"], ["enum": ["indefinite", "inf", "-inf", "invalid"]]],
      ]
    ),
    (
      "Fraction",
      [
        "description": "Seconds as an exact fraction, such as 538020/44100.", "type": "string",
        "pattern": "^(-?[0-9]+/[0-9]+|indefinite|inf|-inf|invalid)$",
      ]
    ),
    (
      "ErrorName",
      [
        "description": "The name of an error.",
        "enum": .array(MediaError.Code.names.values.sorted().map(JSONValue.string)),
      ]
    ),
    (
      "Range",
      [
        "description": "A range of seconds, from start up to end; null: no end.", "type": "object",
        "properties": ["start": .schema("Seconds"), "end": ["anyOf": [.schema("Seconds"), ["type": "null"]]]],
        "required": ["start", "end"], "additionalProperties": false,
      ]
    ),
    (
      "QueueChange",
      [
        "description": .string(
          "A change of the queue: an entry was inserted at index, removed from index, or moved from from to index, or"
            + " the first count entries were moved to the end (rotate)."),
        "type": "object",
        "properties": [
          "change": ["enum": .array(QueueChange.names.map(JSONValue.string))], "item": ["type": "integer"],
          "from": ["type": "integer"], "index": ["type": "integer"], "count": ["type": "integer"],
        ],
        "required": ["change"], "additionalProperties": false,
      ]
    ),
    (
      "TrackSelection",
      [
        "description":
          "The number of the selected track of each group; null: no track. A group that the entry does not have is absent.",
        "type": "object",
        "properties": .object(
          MediaSelectionCommand.Group.allCases.map { .init($0.rawValue, ["type": ["integer", "null"]]) }),
        "required": [], "additionalProperties": false,
      ]
    ),
    (
      "MediaSelectionCriteria",
      [
        "description": "The criteria of a group of tracks. A criterion that is not set is absent.", "type": "object",
        "properties": .object(
          [.init("language", FieldType.texts.schema)]
            + ["characteristics", "principal"].map {
              .init($0, FieldType.words(MediaSelectionRequest.Characteristic.allCases.map(\.rawValue)).schema)
            }),
        "required": [], "additionalProperties": false,
      ]
    ),
    (
      "OutputSelection",
      [
        "description": "The requested output.", "type": "object",
        "properties": [
          "selected": ["type": "string", "description": "the name of the device, default or null"],
          "preferred": ["anyOf": [FieldType.texts.schema, ["type": "null"]]],
          "lost": FieldType.words(of: LostDevicePolicy.self).schema,
        ],
        "required": ["selected", "preferred", "lost"], "additionalProperties": false,
      ]
    ),
  ]
}

extension FieldSpec {
  /// The values that the field may have in JSON.
  var schema: JSONValue {
    guard isNullable, type != .value else { return type.schema.with("description", described) }
    let schema: JSONValue = ["anyOf": [type.schema, ["type": "null"]]]
    return schema.with("description", described)
  }

  /// The description; nil for a `$ref`, which cannot have other members in draft 7.
  private var described: JSONValue? {
    if !isNullable, case .object(let members) = type.schema, members.first?.name == "$ref" { return nil }
    // Of a field of words, `none` can be one of the words.
    if case .word(let words) = type, words.contains("none") { return .string(summary) }
    return .string(summary.replacing("`none`", with: "`null`"))
  }
}

extension [FieldSpec] {
  /// An object with these fields and no others.
  ///
  /// - Parameter alternatives: Optional fields of which exactly one is present.
  func schema(rows: [FieldSpec]? = nil, alternatives: [String] = []) -> JSONValue {
    var properties = map { JSONValue.Member($0.name, $0.schema) }
    var required = filter { !$0.isOptional }.map { JSONValue.string($0.name) }
    if let rows {
      properties.append(.init("rows", ["type": "array", "items": rows.schema()]))
      required.append("rows")
    }
    let schema: JSONValue = [
      "type": "object", "properties": .object(properties), "required": .array(required), "additionalProperties": false,
    ]
    return schema.with(
      "oneOf",
      alternatives.isEmpty ? nil : .array(alternatives.map { ["required": .array([.string($0)])] }))
  }
}
