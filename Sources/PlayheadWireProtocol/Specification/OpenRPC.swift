import PlayheadMediaCore

/// The commands as an OpenRPC document (spec.open-rpc.org, version 1.2.6). Derived from the command table.
package enum OpenRPC {
  package static let document: JSONValue = [
    "openrpc": "1.2.6",
    "info": [
      "title": "Playhead", "version": .string(protocolVersionText),
      "description":
        "Commands of the daemon playheadd, as JSON-RPC 2.0 over a Unix socket, one object on each line.",
    ],
    "methods": .array(CommandTable.all.map(method)),
    "components": [
      "schemas": .object(
        (ParameterSpec.Kind.sharedSchemas + FieldType.sharedSchemas + connectionSchemas).map {
          .init($0.name, $0.schema)
        }),
      "errors": .object(
        MediaError.Code.names.sorted { $0.key < $1.key }.map { .init($0.value, error(number: $0.key, name: $0.value)) }),
    ],
    "x-asyncapi": AsyncAPI.document,
  ]

  /// The schemas of the data of an error and of the greeting.
  private static let connectionSchemas: [(name: String, schema: JSONValue)] = [
    (
      "ErrorData",
      [
        "description":
          "The data of an error: its number and name, the command, and the error text of a lower layer.",
        "type": "object",
        "properties": [
          "number": ["type": "integer"], "name": .schema("ErrorName"), "operation": ["type": "string"],
          "underlying": ["type": "string"],
        ],
        "required": ["number", "name"], "additionalProperties": false,
      ]
    ),
    (
      "Greeting",
      [
        "description": .string(
          "The first line of each connection. It is in the text form: the versions of the protocol and of the daemon,"
            + " and the instance of the daemon."),
        "type": "string",
        "pattern": .string("^[*] hello playhead protocol=\(Greeting.protocolVersion) version=\\S+ instance=\\S+$"),
      ]
    ),
  ]

  static let protocolVersionText = "\(Greeting.protocolVersion).0.0"

  private static func method(_ spec: CommandSpec) -> JSONValue {
    [
      "name": .string(spec.name.rawValue), "summary": .string(spec.summary), "description": .string(spec.details),
      "tags": [["name": .string(spec.family.rawValue)]], "paramStructure": "by-name",
      "params": .array(spec.parameters.map(parameter)),
      "result": [
        "name": "result", "schema": spec.replyFields.schema(rows: spec.rowFields, alternatives: spec.alternativeFields),
      ],
      "errors": .array(
        (spec.errors + CommandTable.requestErrors.filter { !spec.errors.contains($0) })
          .map { ["$ref": .string("#/components/errors/\($0.name)")] }),
      "x-synopsis": .string(spec.synopsis), "x-right": .array(spec.right.names.map(JSONValue.string)),
      "x-waits": .string(spec.waiting.word),
    ]
  }

  private static func parameter(_ spec: ParameterSpec) -> JSONValue {
    [
      "name": .string(spec.name.rawValue), "summary": .string(spec.summary), "required": .bool(spec.isRequired),
      "schema": spec.schema,
    ]
  }

  private static func error(number: Int, name: String) -> JSONValue {
    ["code": .number(String(number)), "message": .string(name)]
  }
}

extension CommandSpec.Waiting {
  fileprivate var word: String {
    switch self {
    case .never: "never"
    case .untilReady: "until-ready"
    case .ifRequested: "if-requested"
    case .withRange: "with-range"
    case .always: "always"
    }
  }
}
