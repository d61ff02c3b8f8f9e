// `playhead export` and its kin: has the daemon work on a file, and shows on a terminal how far it is.
import Glibc
import MediaCore
import WireProtocol

enum MediaWork {
  /// Sends the request's line and waits; what the daemon found to be wrong with a file is said on standard error. Errors: `Refusal`,
  /// `Unreachable`.
  static func answer(to line: [UInt8], _ socket: String) throws -> Answer {
    var connection = try DaemonConnection(path: socket)
    // One that refuses the connection has closed it perhaps, and has said why.
    try connection.sendFirst(line)
    let showsProgress = isatty(STDERR_FILENO) == 1
    defer { if showsProgress { Terminal.showProgress("") } }
    var answer = try connection.waitForAnswer { name, fields in
      guard showsProgress, name == EventName.scanProgress.rawValue else { return }
      let part = fields["done"].flatMap { Double($0) }.map { "\(Int($0 * 100)) % " } ?? ""
      Terminal.showProgress(part + Terminal.printable(fields["path"] ?? ""))
    }
    if let fault = answer.fields["message"] {
      answer.fields.entries.removeAll { $0.name == "message" }
      if showsProgress { Terminal.showProgress("") }
      Terminal.complain(Terminal.printable(fault))
    }
    return answer
  }

  /// Has a file made and says what it is. Answers the exit status. Errors: those of `answer`.
  static func export(_ line: [UInt8], _ socket: String) throws -> Int32 {
    let fields = try answer(to: line, socket).fields
    Terminal.print(
      "\(Terminal.printable(fields["file"] ?? "")): \(Inspect.clock(fields["duration"] ?? "0")), \(fields["size"] ?? "0") bytes\n"
    )
    return PlayheadClient.Status.done
  }
}
