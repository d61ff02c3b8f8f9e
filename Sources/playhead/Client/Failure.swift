import PlayheadMediaCore
import PlayheadWireProtocol

/// The reason for a nonzero exit status, as printed on standard error.
struct Failure {
  var status: ExitStatus
  /// The error's number, if a daemon sent it or would have sent it; nil otherwise.
  var code: MediaError.Code?
  /// The error's name on the wire, or a name of the client such as `misuse`.
  var name: String
  var message: String

  init(_ error: any Error) {
    switch error {
    case let failure as Save.Failure:
      self.init(.failure, "not-written", failure.message)
    case let failure as Add.Failure:
      self.init(.failure, "nothing-added", failure.message)
    case let failure as OutputFailure:
      self.init(.failure, "not-printed", failure.message)
    case let reply as ErrorReply:
      self.init(reply.error, ExitStatus(rawValue: reply.status) ?? .failure)
    case let misuse as Invocation.Misuse:
      self.init(.misused, "misuse", misuse.message)
    case let error as MediaError:
      // A request that cannot be sent, or that no daemon accepts.
      self.init(error, .misused)
    default:
      self.init(.unreachable, "unreachable", (error as? Unreachable)?.message ?? "\(error)")
    }
  }

  /// Creates a failure without an error of the daemon.
  private init(_ status: ExitStatus, _ name: String, _ message: String) {
    (self.status, self.name, self.message) = (status, name, message)
  }

  /// Creates the failure of an error reply.
  init(_ error: MediaError, _ status: ExitStatus) {
    (self.status, code, name, message) = (status, error.code, error.code.name, error.message)
  }

  /// Prints the failure on standard error: one line of text or JSON.
  func printDiagnostic(isJSON: Bool) {
    guard isJSON else {
      return Terminal.printDiagnostic(code == nil ? message : "\(message) (\(name))")
    }
    var members: [JSONValue.Member] = []
    if let code { members.append(.init("code", .number("\(code.rawValue)"))) }
    members += [.init("name", .string(name)), .init("message", .string(message))]
    var line: [UInt8] = []
    JSONValue.object([.init("error", .object(members)), .init("status", .number("\(status.rawValue)"))]).append(
      to: &line)
    Terminal.printError(line + [UInt8(ascii: "\n")])
  }
}
