/// JSON Schemas (draft 7) of fields.
extension FieldType {
  /// The values of this type in JSON.
  var schema: JSONValue {
    switch self {
    case .text: ["type": "string"]
    case .word(let words): ["enum": .array(words.map(JSONValue.string))]
    case .integer: ["type": "integer"]
    case .number: ["type": "number"]
    case .boolean: ["type": "boolean"]
    case .time: .schema("Seconds")
    case .fraction: .schema("Fraction")
    case .range: .schema("Range")
    case .integers: ["type": "array", "items": ["type": "integer"]]
    case .numbers: ["type": "array", "items": ["type": "number"]]
    case .texts: ["type": "array", "items": ["type": "string"]]
    case .ranges: ["type": "array", "items": .schema("Range")]
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
    ("Range", ["description": "A range of seconds: START-END.", "type": "string"]),
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
    return .string(summary)
  }
}

extension [FieldSpec] {
  /// An object with these fields and no others.
  func schema(rows: [FieldSpec]? = nil) -> JSONValue {
    var properties = map { JSONValue.Member($0.name, $0.schema) }
    var required = filter { !$0.isOptional }.map { JSONValue.string($0.name) }
    if let rows {
      properties.append(.init("rows", ["type": "array", "items": rows.schema()]))
      required.append("rows")
    }
    return [
      "type": "object", "properties": .object(properties), "required": .array(required), "additionalProperties": false,
    ]
  }
}
