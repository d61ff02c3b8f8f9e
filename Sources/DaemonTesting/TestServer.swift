import RigSupport

/// A control server for a test, in a separate process (`TestDaemon`) or in the test's process (`InProcessServer`).
package class TestServer {
  package let folder: TemporaryDirectory
  package let socket: String

  init(folder: TemporaryDirectory, socket: String) { (self.folder, self.socket) = (folder, socket) }

  /// Ends the server. Afterwards its files are complete.
  package func finish() throws {}

  /// Connects to the control socket and reads the greeting.
  package func connect() throws -> WireClient { try connect(at: socket) }

  /// Connects to another socket of the server and reads the greeting.
  package func connect(at path: String) throws -> WireClient {
    let client = try WireClient(path, owner: self)
    guard let greeting = try client.line(), greeting.hasPrefix("* hello playhead protocol=1") else {
      throw Program.Failure(description: "no greeting")
    }
    return client
  }

  /// Adds time-coded files to the queue, waits until they are ready, and returns a connection.
  package func connectWithQueue(frameCount: Int = 48_000, count: Int = 2) throws -> WireClient {
    let client = try connect()
    let paths = try (1...count).map { try wave($0, frameCount: frameCount) }
    try client.reply("append \(paths.joined(separator: " ")) wait=ready")
    return client
  }

  /// Ends a server that `recording()` started. Returns a description of the played audio (`Recording.describe`).
  package func recorded(withSilences: Bool = true) throws -> String {
    try finish()
    let frames = try Recording.frames(in: folder.file("out.wav"))
    return withSilences ? Recording.describe(frames) : Recording.describeAudio(frames)
  }

  /// Runs the client program `playhead` with this server's socket, and waits for its end.
  package func playhead(_ arguments: String..., folder: String? = nil) throws -> Program.Outcome {
    try playhead(arguments, folder: folder)
  }

  /// Runs the client with these arguments.
  package func playhead(_ arguments: [String], folder: String? = nil) throws -> Program.Outcome {
    try Program(
      Executables.playhead, ["--socket", socket] + arguments, environment: ["LC_ALL": "C.UTF-8"], folder: folder
    ).waitForEnd()
  }

  /// Writes a time-coded WAV file into the server's folder. Returns its path.
  package func wave(_ number: Int, frameCount: Int) throws -> String {
    let path = folder.file("\(number).wav")
    try TimeCode.writeWAV(path: path, file: number, frameCount: frameCount)
    return path
  }
}
