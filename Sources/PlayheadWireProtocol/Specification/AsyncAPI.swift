/// The events as an AsyncAPI document (asyncapi.com, version 2.6.0). Derived from the event table.
package enum AsyncAPI {
  package static let document: JSONValue = [
    "asyncapi": "2.6.0",
    "info": [
      "title": "Playhead events", "version": .string(OpenRPC.protocolVersionText),
      "description":
        "Events of the daemon playheadd: JSON-RPC 2.0 notifications over a Unix socket, one object on each line.",
    ],
    "defaultContentType": "application/json",
    "channels": [
      "events": [
        "description": "The connection on which a command subscribed.",
        "subscribe": [
          "operationId": "receiveEvent",
          "message": [
            "oneOf": .array(
              EventTable.all.map { ["$ref": .string("#/components/messages/\($0.name.rawValue)")] })
          ],
        ],
      ]
    ],
    "components": [
      "messages": .object(EventTable.all.map { .init($0.name.rawValue, message($0)) }),
      "schemas": .object(FieldType.sharedSchemas.map { .init($0.name, $0.schema) }),
    ],
  ]

  private static func message(_ spec: EventSpec) -> JSONValue {
    [
      "name": .string(spec.name.rawValue), "description": .string(spec.summary),
      "payload": [
        "type": "object",
        "properties": [
          "jsonrpc": ["const": "2.0"], "method": ["const": .string(spec.name.rawValue)],
          "params": parameters(spec),
        ],
        "required": ["jsonrpc", "method", "params"],
      ],
    ]
  }

  /// The fields of an event. The type of the values of `changed` depends on the key.
  private static func parameters(_ spec: EventSpec) -> JSONValue {
    let schema = spec.fields.schema()
    guard spec.name == .changed else { return schema }
    let alternatives: [JSONValue] = ObservableKey.allCases.compactMap { key in
      guard let value = key.value?.schema else { return nil }
      return [
        "properties": ["key": ["const": .string(key.rawValue)], "old": value, "new": value], "required": ["key"],
      ]
    }
    return schema.with("oneOf", .array(alternatives))
  }
}
