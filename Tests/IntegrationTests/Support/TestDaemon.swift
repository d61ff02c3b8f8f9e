import Glibc
import RigSupport

/// A daemon of a test's own.
final class TestDaemon {
  let folder: TemporaryDirectory
  let socket: String
  let process: Program

  /// Starts it and waits until it listens.
  init(_ arguments: String..., folder: TemporaryDirectory? = nil) throws {
    self.folder = try folder ?? TemporaryDirectory("daemon")
    socket = self.folder.file("control.sock")
    process = try Program(Executables.playheadd, ["--socket", socket, "--log-level", "error"] + arguments)
    guard try process.waitForLine() == "playheadd ready socket=\(socket)" else {
      throw Program.Failure(description: "the daemon did not start: \(try process.waitForEnd())")
    }
  }

  /// One on the virtual clock that writes what would be heard into `out.wav` of its folder.
  static func recording() throws -> TestDaemon {
    let folder = try TemporaryDirectory("daemon")
    return try TestDaemon("--clock", "virtual", "--output", "wav:\(folder.file("out.wav"))", folder: folder)
  }

  /// What would have been heard, as `Recording` describes it; ends the daemon.
  func recorded(withSilences: Bool = true) throws -> String {
    try stop()
    let frames = try Recording.frames(in: folder.file("out.wav"))
    return withSilences ? Recording.describe(frames) : Recording.describeSound(frames)
  }

  /// A connection whose greeting has been read.
  func connect() throws -> WireClient {
    let client = try WireClient(socket, owner: self)
    guard let greeting = try client.line(), greeting.hasPrefix("* hello playhead protocol=1") else {
      throw Program.Failure(description: "no greeting")
    }
    return client
  }

  /// Ends it as an administrator would.
  @discardableResult
  func stop() throws -> Program.Outcome {
    process.signal(SIGTERM)
    return try process.waitForEnd()
  }

  /// Runs the client against it.
  func playhead(_ arguments: String..., folder: String? = nil) throws -> Program.Outcome {
    try Program(Executables.playhead, ["--socket", socket] + arguments, folder: folder).waitForEnd()
  }

  /// A time-coded WAV file in the daemon's folder.
  func wave(_ number: Int, frameCount: Int) throws -> String {
    let path = folder.file("\(number).wav")
    try TimeCode.writeWAV(path: path, file: number, frameCount: frameCount)
    return path
  }
}
