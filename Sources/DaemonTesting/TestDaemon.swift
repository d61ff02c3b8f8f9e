import Glibc
import RigSupport

/// A daemon process for a test.
package final class TestDaemon: TestServer {
  package let process: Program

  /// Starts the daemon and waits until it accepts connections.
  package convenience init(_ arguments: String..., folder: TemporaryDirectory? = nil) throws {
    try self.init(arguments, folder: folder)
  }

  /// Starts the daemon and waits until it accepts connections. Saves no state without `--state`.
  ///
  /// - Parameter program: the path of the program. Its folder has the worker program.
  package init(
    _ arguments: [String], folder: TemporaryDirectory? = nil, program: String = Executables.playheadd
  ) throws {
    let folder = try folder ?? TemporaryDirectory("daemon")
    let socket = folder.file("control.sock")
    let state = arguments.contains("--state") ? [] : ["--no-state"]
    process = try Program(program, ["--socket", socket, "--log-level", "error"] + state + arguments)
    super.init(folder: folder, socket: socket)
    guard try process.waitForLine() == "playheadd ready socket=\(socket)" else {
      throw Program.Failure(description: "the daemon did not start: \(try process.waitForEnd())")
    }
  }

  /// Starts a daemon on the virtual clock that writes the played audio to `out.wav` in its folder. Clients may write
  /// files there.
  package static func recording() throws -> TestDaemon {
    let folder = try TemporaryDirectory("daemon")
    let options = ["--clock", "virtual", "--output", "wav:\(folder.file("out.wav"))", "--write-root", folder.path]
    return try TestDaemon(options, folder: folder)
  }

  /// Ends the daemon with SIGTERM.
  @discardableResult
  package func stop() throws -> Program.Outcome {
    process.signal(SIGTERM)
    return try process.waitForEnd()
  }

  override package func finish() throws { try stop() }
}
