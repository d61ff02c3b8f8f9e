import MediaCore
import WireProtocol

/// Why the client ends with another status than 0, as it is said on standard error.
struct Failure {
  var status: ExitStatus
  /// The error's number, where a daemon said it, or would have.
  var code: MediaError.Code?
  var name: String
  var message: String

  init(_ error: any Error) {
    switch error {
    case let failure as Save.Failure:
      self.init(.refused, "not-written", failure.message)
    case let failure as Add.Failure:
      self.init(.refused, "nothing-added", failure.message)
    case let failure as OutputFailure:
      self.init(.refused, "not-printed", failure.message)
    case let refusal as Refusal:
      self.init(refusal.error, ExitStatus(rawValue: refusal.status) ?? .refused)
    case let misuse as Invocation.Misuse:
      self.init(.misused, "misuse", misuse.message)
    case let error as MediaError:
      // A request that cannot be sent, or that no daemon would take. A command that is not known is for the daemon to refuse, which
      // in JSON it cannot even be asked to.
      self.init(error, error.code == .unknownCommand ? .refused : .misused)
    default:
      self.init(.unreachable, "unreachable", (error as? Unreachable)?.message ?? "\(error)")
    }
  }

  /// One that no daemon said.
  private init(_ status: ExitStatus, _ name: String, _ message: String) {
    (self.status, self.name, self.message) = (status, name, message)
  }

  /// An error reply.
  init(_ error: MediaError, _ status: ExitStatus) {
    (self.status, code, name, message) = (status, error.code, error.code.name, error.message)
  }

  /// Says it on standard error: a line for people, or one of JSON.
  func complain(isJSON: Bool) {
    guard isJSON else {
      return Terminal.complain(code == nil ? message : "\(message) (\(name))")
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
