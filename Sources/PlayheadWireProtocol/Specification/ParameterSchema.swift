/// JSON Schemas (draft 7) of parameters.
extension ParameterSpec {
  /// The values that the parameter accepts in JSON. A parameter that is not required also accepts `null`.
  var schema: JSONValue {
    let one = kind.schema
    switch position {
    case .required: return one
    case .optional, .option: return ["anyOf": [one, ["type": "null"]]]
    case .list: return ["anyOf": [["type": "array", "items": one, "minItems": 1], one]]
    case .optionalList: return ["anyOf": [["type": "array", "items": one], one, ["type": "null"]]]
    }
  }

  var isRequired: Bool { position == .required || position == .list }
}

extension ParameterSpec.Kind {
  /// The values of this kind in JSON.
  var schema: JSONValue {
    switch self {
    case .timeExpression: return .schema("TimeExpression")
    case .time: return .schema("Time")
    case .timeOrNone: return ["anyOf": [.schema("Time"), ["type": "null"]]]
    case .duration: return .schema("Time")
    case .tolerance: return ["anyOf": [.schema("Time"), ["const": "inf"]]]
    case .entry: return .schema("Entry")
    case .integer(let range):
      let schema: JSONValue = ["type": "integer", "minimum": .number(String(range.lowerBound))]
      return schema.with("maximum", range.upperBound == .max ? nil : .number(String(range.upperBound)))
    case .number(let range, let exceptZero):
      let schema: JSONValue = [
        "type": "number", "minimum": .number(NumberText.number(range.lowerBound)),
        "maximum": .number(NumberText.number(range.upperBound)),
      ]
      return schema.with("not", exceptZero ? ["const": 0] : nil)
    case .volume: return .schema("Volume")
    case .word(let words):
      // A word that is a number may be written as one.
      let numbers = words.filter { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
      let booleans: [JSONValue] = words.contains("true") ? [true, false] : []
      return ["enum": .array(words.map(JSONValue.string) + numbers.map(JSONValue.number) + booleans)]
    case .toggle: return ["enum": [true, false, "on", "off", "toggle"]]
    case .onOff: return ["enum": [true, false, "on", "off"]]
    case .flag, .boolean: return ["enum": [true, false, "true", "false"]]
    case .text(let count): return ["type": "string", "maxLength": .number(String(count))]
    case .texts(let count, _):
      let text: JSONValue = ["type": "string", "maxLength": .number(String(count))]
      return ["anyOf": [["type": "array", "items": text], text]]
    case .path: return .schema("Location")
    case .localPath: return .schema("Path")
    case .outputPath: return .schema("OutputPath")
    case .playerName: return .schema("PlayerName")
    case .playerNameOrAll: return .schema("PlayerNameOrAll")
    case .commandName: return ["enum": .array(CommandTable.all.map { .string($0.name.rawValue) })]
    case .key: return ["type": "string", "minLength": 1]
    case .condition: return .schema("WaitCondition")
    case .requestID: return ["type": ["string", "number"]]
    case .edit: return .schema("QueueEdit")
    case .track: return ["type": ["integer", "string", "null"]]
    case .range: return .schema("RangeParameter")
    case .selection: return .schema("TrackSelectionParameter")
    case .startMoment, .startDate, .startTime: return ["type": ["number", "string"]]
    }
  }

  /// The schemas that several parameters share.
  static let sharedSchemas: [(name: String, schema: JSONValue)] = [
    (
      "Time",
      [
        "description":
          "Seconds from the item's beginning, or a text such as 250ms, 1:23.5 or 441000/44100. Not negative.",
        "anyOf": [["type": "number", "minimum": 0], ["type": "string", "minLength": 1]],
      ]
    ),
    (
      "TimeExpression",
      [
        "description": "Seconds, or a text: a time, a relative time such as +5, a percentage such as 50%, end or live.",
        "anyOf": [["type": "number"], ["type": "string", "minLength": 1]],
      ]
    ),
    (
      "Entry",
      [
        "description":
          "A queue entry: its id, current, next, previous, +N or -N from the current entry, or its position #N.",
        "anyOf": [
          ["type": "integer", "minimum": 1, "maximum": .number(String(Int.max))],
          ["type": "string", "pattern": .string(EntryReference.pattern)],
        ],
      ]
    ),
    (
      "Volume",
      [
        "description":
          "A volume from 0 to 1, or a text: a percentage such as 50%, or with a sign a change such as +5%, -0.1 or -6dB.",
        "anyOf": [
          ["type": "number", "minimum": 0, "maximum": 1],
          ["type": "string", "pattern": .string(VolumeSetting.pattern)],
        ],
      ]
    ),
    (
      "RangeParameter",
      [
        "description": .string(
          "A range of times from the item's beginning: an object with start and end, or a text such as 70-83.5. Without"
            + " an end, it extends to the end of the item."),
        "anyOf": [
          [
            "type": "object",
            "properties": ["start": .schema("Time"), "end": ["anyOf": [.schema("Time"), ["type": "null"]]]],
            "required": ["start"], "additionalProperties": false,
          ],
          ["type": "string", "minLength": 3],
        ],
      ]
    ),
    (
      "TrackSelectionParameter",
      [
        "description": .string(
          "A track for each group: an object with audible, legible or both, or a text such as audible=1,legible=none. A"
            + " track is its number, a language, auto, or null for none."),
        "anyOf": [
          [
            "type": "object",
            "properties": .object(
              MediaSelectionCommand.Group.allCases.map {
                .init($0.rawValue, ["type": ["integer", "string", "null"]])
              }),
            "minProperties": 1, "additionalProperties": false,
          ],
          ["type": "string", "minLength": 3],
        ],
      ]
    ),
    (
      "Location",
      [
        "description": "An absolute path, a file://, http:// or https:// URL, or fd:TOKEN.", "type": "string",
        "minLength": 1,
      ]
    ),
    ("Path", ["description": "An absolute path, or a file:// URL.", "type": "string", "minLength": 1]),
    (
      "OutputPath",
      ["description": "An absolute path, a file:// URL, or fd:TOKEN.", "type": "string", "minLength": 1]
    ),
    ("PlayerName", ["description": "The name of a player.", "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"]),
    (
      "PlayerNameOrAll",
      [
        "description": "The name of a player, or `*` for all players.", "type": "string",
        "pattern": "^([A-Za-z0-9._-]{1,64}|[*])$",
      ]
    ),
    (
      "WaitCondition",
      [
        "description":
          "time>=TIME, time>TIME, time<=TIME, time<TIME, status=playing, status=paused, status=waiting, item=ID, ended, ready, silence>=TIME.",
        "type": "string", "minLength": 1,
      ]
    ),
    (
      "QueueEdit",
      [
        "description": "A command that edits the queue.",
        "anyOf": [
          ["type": "string", "minLength": 1],
          [
            "type": "object",
            "properties": ["method": ["type": "string"], "params": ["type": "object"]], "required": ["method"],
          ],
        ],
      ]
    ),
  ]
}
