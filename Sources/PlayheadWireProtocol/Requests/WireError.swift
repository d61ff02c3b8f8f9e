import PlayheadMediaCore

/// An error of the daemon, with the code for the JSON form. JSON-RPC reserves codes for some errors.
package struct WireError: Error, Sendable, Hashable {
  /// The error of the daemon. The reply in the text form contains its number, name and message.
  package var error: MediaError
  /// The `code` in the JSON form.
  package var jsonCode: Int

  /// Creates an error with the JSON code of its kind (JSON-RPC 2.0 section 5.1). Most kinds use the number of the
  /// daemon's error.
  package init(_ error: MediaError) {
    self.error = error
    jsonCode =
      switch error.code {
      case .invalidJSON, .lineTooLong: Self.parseError
      case .unknownCommand: Self.methodNotFound
      case .badArguments: Self.invalidParams
      default: error.code.rawValue
      }
  }

  /// Creates the error of a request. `command` is nil if it is unknown.
  init(_ error: MediaError, of command: CommandName?) {
    let error = WireError(error)
    self = command.map(error.replying) ?? error
  }

  /// Creates an error with one of the codes that JSON-RPC defines.
  init(_ error: MediaError, jsonCode: Int) {
    self.error = error
    self.jsonCode = jsonCode
  }

  /// JSON-RPC: the line is not JSON, or is too long.
  package static let parseError = -32_700
  /// JSON-RPC: the line is JSON but not a request.
  package static let invalidRequest = -32_600
  /// JSON-RPC: unknown command.
  package static let methodNotFound = -32_601
  /// JSON-RPC: invalid parameters.
  package static let invalidParams = -32_602

  /// The error as the reply to a command. `operation` becomes the command. Another failed call becomes part of
  /// `underlying`.
  package func replying(to command: CommandName) -> WireError {
    var reply = self
    if let call = error.operation, call != command.rawValue, let underlying = error.underlying {
      reply.error.underlying = "\(call): \(underlying)"
    }
    reply.error.operation = command.rawValue
    return reply
  }

  /// The fields of an error reply in the text form.
  package var fields: Fields {
    var fields: Fields = [
      "code": .int(error.code.rawValue), "name": .string(error.code.name), "message": .string(error.message),
    ]
    fields.append("operation", ifPresent: error.operation.map(FieldValue.string))
    fields.append("underlying", ifPresent: error.underlying.map(FieldValue.string))
    return fields
  }

  /// Appends JSON-RPC's error object: `code`, `message`, and `data` with the number, name, operation and underlying
  /// error.
  func appendJSON(to buffer: inout [UInt8]) {
    buffer.append(contentsOf: "{\"code\":".utf8)
    buffer.append(decimal: Int64(jsonCode))
    buffer.append(contentsOf: ",\"message\":".utf8)
    JSONText.append(error.message, to: &buffer)
    buffer.append(contentsOf: ",\"data\":{\"number\":".utf8)
    buffer.append(decimal: Int64(error.code.rawValue))
    buffer.append(contentsOf: ",\"name\":".utf8)
    JSONText.append(error.code.name, to: &buffer)
    for (name, text) in [("operation", error.operation), ("underlying", error.underlying)] {
      guard let text else { continue }
      buffer.append(contentsOf: ",\"\(name)\":".utf8)
      JSONText.append(text, to: &buffer)
    }
    buffer.append(contentsOf: "}}".utf8)
  }
}
