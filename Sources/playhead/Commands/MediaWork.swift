// `playhead export` and related commands: the daemon processes a file, and a terminal shows the progress.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

enum MediaWork {
  /// Sends the line of a request and waits for the reply. Shows the progress on a terminal. Prints the problem of a
  /// file on standard error, and removes it from the reply.
  ///
  /// - Parameter output: The file that the client has opened for the daemon.
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func reply(to line: [UInt8], _ socket: String, _ output: OutputFile?) throws -> DaemonReply {
    var connection = try DaemonConnection(path: socket)
    // A daemon that rejects the connection may have closed it already, after sending the reason.
    try connection.sendIgnoringDisconnection(line)
    let showsProgress = isatty(STDERR_FILENO) == 1
    defer { if showsProgress { Terminal.showProgress("") } }
    var reply = try connection.waitForReply { name, fields in
      guard showsProgress, name == EventName.scanProgress.rawValue else { return }
      let percentage = fields["done"].flatMap { Double($0) }.map { "\(Int($0 * 100)) % " } ?? ""
      let path = fields["path"] ?? ""
      Terminal.showProgress(percentage + Terminal.printable(output?.naming(path) ?? path))
    }
    if let fault = reply.fields["message"] {
      reply.fields.entries.removeAll { $0.name == "message" }
      if showsProgress { Terminal.showProgress("") }
      Terminal.printDiagnostic(Terminal.printable(fault))
    }
    return try output?.completed(by: reply) ?? reply
  }

  /// Exports a file and prints its properties. Returns the exit status.
  ///
  /// - Throws: The errors of `reply`.
  static func export(_ line: [UInt8], _ socket: String, _ output: OutputFile?) throws -> Int32 {
    let fields = try reply(to: line, socket, output).fields
    Terminal.print(
      "\(Terminal.printable(fields["file"] ?? "")): \(ClockTime.precise(fields["duration"] ?? "0")), \(fields["size"] ?? "0") bytes\n"
    )
    return PlayheadClient.Status.done
  }
}
