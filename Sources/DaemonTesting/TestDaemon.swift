import Glibc
import RigSupport

/// A daemon of a test's own.
package final class TestDaemon {
  package let folder: TemporaryDirectory
  package let socket: String
  package let process: Program

  /// Starts it and waits until it listens.
  package convenience init(_ arguments: String..., folder: TemporaryDirectory? = nil) throws {
    try self.init(arguments, folder: folder)
  }

  /// The same. What is not said to be saved is not.
  package init(_ arguments: [String], folder: TemporaryDirectory? = nil) throws {
    self.folder = try folder ?? TemporaryDirectory("daemon")
    socket = self.folder.file("control.sock")
    let state = arguments.contains("--state") ? [] : ["--no-state"]
    process = try Program(Executables.playheadd, ["--socket", socket, "--log-level", "error"] + state + arguments)
    guard try process.waitForLine() == "playheadd ready socket=\(socket)" else {
      throw Program.Failure(description: "the daemon did not start: \(try process.waitForEnd())")
    }
  }

  /// One on the virtual clock that writes what would be heard into `out.wav` of its folder; `writesFiles`: clients may have files
  /// written there, too.
  package static func recording(writesFiles: Bool = false) throws -> TestDaemon {
    let folder = try TemporaryDirectory("daemon")
    let options = ["--clock", "virtual", "--output", "wav:\(folder.file("out.wav"))"]
    return try TestDaemon(options + (writesFiles ? ["--write-root", folder.path] : []), folder: folder)
  }

  /// A daemon as `recording()` starts it, with time-coded files in its queue that are ready, and a connection.
  package static func recordingQueue(frameCount: Int = 48_000, count: Int = 2) throws -> (TestDaemon, WireClient) {
    let daemon = try recording()
    let client = try daemon.connect()
    let paths = try (1...count).map { try daemon.wave($0, frameCount: frameCount) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    return (daemon, client)
  }

  /// What would have been heard, as `Recording` describes it; ends the daemon.
  package func recorded(withSilences: Bool = true) throws -> String {
    try stop()
    let frames = try Recording.frames(in: folder.file("out.wav"))
    return withSilences ? Recording.describe(frames) : Recording.describeSound(frames)
  }

  /// A connection whose greeting has been read.
  package func connect() throws -> WireClient { try connect(at: socket) }

  /// The same at another socket of its.
  package func connect(at path: String) throws -> WireClient {
    let client = try WireClient(path, owner: self)
    guard let greeting = try client.line(), greeting.hasPrefix("* hello playhead protocol=1") else {
      throw Program.Failure(description: "no greeting")
    }
    return client
  }

  /// Ends it as an administrator would.
  @discardableResult
  package func stop() throws -> Program.Outcome {
    process.signal(SIGTERM)
    return try process.waitForEnd()
  }

  /// Runs the client against it.
  package func playhead(_ arguments: String..., folder: String? = nil) throws -> Program.Outcome {
    try Program(
      Executables.playhead, ["--socket", socket] + arguments, environment: ["LC_ALL": "C.UTF-8"], folder: folder
    ).waitForEnd()
  }

  /// A time-coded WAV file in the daemon's folder.
  package func wave(_ number: Int, frameCount: Int) throws -> String {
    let path = folder.file("\(number).wav")
    try TimeCode.writeWAV(path: path, file: number, frameCount: frameCount)
    return path
  }
}
