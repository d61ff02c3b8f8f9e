import MediaCore

/// An error as a peer gets it: ours, with the number that JSON-RPC wants where JSON-RPC has one of its own.
public struct WireError: Error, Sendable, Hashable {
  /// Our error: in words its number, name and message are the reply.
  public var error: MediaError
  /// The `code` of the JSON form.
  public var jsonCode: Int

  /// An error with the JSON code that its kind has (JSON-RPC 2.0 section 5.1); all but a few have our number.
  public init(_ error: MediaError) {
    self.error = error
    jsonCode =
      switch error.code {
      case .invalidJSON, .lineTooLong: Self.parseError
      case .unknownCommand: Self.methodNotFound
      case .badArguments: Self.invalidParams
      default: error.code.rawValue
      }
  }

  /// The error of a request, of which the command is known or not.
  init(_ error: MediaError, of command: CommandName?) {
    let error = WireError(error)
    self = command.map(error.replying) ?? error
  }

  /// An error of the JSON form with a code of JSON-RPC's.
  init(_ error: MediaError, jsonCode: Int) {
    self.error = error
    self.jsonCode = jsonCode
  }

  /// JSON-RPC: the line is not JSON, or it is too long.
  public static let parseError = -32_700
  /// JSON-RPC: the line is JSON, but no request.
  public static let invalidRequest = -32_600
  /// JSON-RPC: no such command.
  public static let methodNotFound = -32_601
  /// JSON-RPC: parameters that the command does not take.
  public static let invalidParams = -32_602

  /// The error as the reply to a command: `operation` is the command, and another failed call is part of `underlying`.
  public func replying(to command: CommandName) -> WireError {
    var reply = self
    if let call = error.operation, call != command.rawValue, let underlying = error.underlying {
      reply.error.underlying = "\(call): \(underlying)"
    }
    reply.error.operation = command.rawValue
    return reply
  }

  /// The fields of a words error reply.
  public var fields: Fields {
    var fields: Fields = [
      "code": .int(error.code.rawValue), "name": .string(error.code.name), "message": .string(error.message),
    ]
    fields.append("operation", ifPresent: error.operation.map(FieldValue.string))
    fields.append("underlying", ifPresent: error.underlying.map(FieldValue.string))
    return fields
  }

  /// Appends JSON-RPC's error object: `code`, `message`, and `data` with our number, name, operation and underlying error.
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
