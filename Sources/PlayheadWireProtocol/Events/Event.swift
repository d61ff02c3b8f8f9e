/// An event that the daemon sends to a client: `* name k=v ...` in the text form, a JSON-RPC notification in JSON.
///
/// A type defines everything that clients know of an event: its name, its documentation and its fields. ``AllEvents``
/// lists the types.
package protocol Event: ReplyFields {
  static var definition: EventDefinition { get }
}

/// An event of an observable key. It has a number in the event log.
package protocol NumberedEvent: Event {
  /// The id of the subscription. 0 in the event log, which has no subscriptions.
  var subscription: Int { get set }
}

extension NumberedEvent {
  /// A copy of the event for a subscription.
  package func addressed(to subscription: Int) -> Self {
    var event = self
    event.subscription = subscription
    return event
  }
}

extension Event {
  /// The name on the wire.
  package var name: EventName { Self.definition.name }

  /// The event as a row of the event log, without the subscription.
  package var loggedFields: Fields {
    var row: Fields = ["event": .string(name.rawValue)]
    for field in Fields(self).entries where field.name != "id" { row.append(field.name, field.value) }
    return row
  }

  /// Appends the event with its LF, in the form of the request that subscribed. `number` is the sequence number in the
  /// event log, if any.
  package func encode(form: WireForm, into buffer: inout [UInt8], number: UInt64? = nil) {
    var fields = Fields(self)
    fields.append("seq", ifPresent: number.map { .int($0) })
    switch form {
    case .words:
      buffer.append(contentsOf: "* ".utf8)
      buffer.append(contentsOf: name.rawValue.utf8)
      fields.appendWords(to: &buffer)
    case .json:
      buffer.append(contentsOf: "{\"jsonrpc\":\"2.0\",\"method\":\"".utf8)
      buffer.append(contentsOf: name.rawValue.utf8)
      buffer.append(contentsOf: "\",\"params\":{".utf8)
      fields.appendJSONMembers(to: &buffer)
      buffer.append(contentsOf: "}}".utf8)
    }
    buffer.append(UInt8(ascii: "\n"))
  }
}
