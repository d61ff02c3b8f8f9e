import PlayheadMediaCore
import RigSupport

/// This player.
final class PlayheadPlayer: BenchPlayer {
  let kind = PlayerKind.playhead
  let server: PulseServer
  let process: ChildProcess
  let socketPath: String
  private let directory: TemporaryDirectory
  private let socket: LineSocket
  private var pendingReplyCount = 0

  init(program: String, options: [String] = []) throws {
    directory = try TemporaryDirectory("bench")
    server = try PulseServer()
    socketPath = directory.file("control.sock")
    process = try ChildProcess(
      [program] + Self.arguments(socket: socketPath, server: server) + options, environment: Self.environment(directory)
    )
    socket = try .waiting(for: socketPath)
    _ = try socket.line()
    // Waits for the device on a separate connection, which ends with the wait.
    let watch = try connect()
    try watch.send("observe output.state\n")
    while try !watch.line().contains("new=ready") {}
  }

  /// Separate folders without the user's configuration.
  static func environment(_ directory: TemporaryDirectory) -> [String: String] {
    ["XDG_STATE_HOME": directory.path, "XDG_CONFIG_HOME": directory.path]
  }

  static func arguments(socket: String, server: PulseServer) -> [String] {
    [
      "--socket", socket, "--state", "\(socket).state", "--log-level", "error", "--output", "pulse:\(server.sinkName)",
      "--pulse-server",
      server.address,
    ]
  }

  /// A second connection, after its greeting.
  func connect() throws -> LineSocket {
    let socket = try LineSocket.waiting(for: socketPath)
    _ = try socket.line()
    return socket
  }

  func load(_ paths: [String]) throws {
    try sendAndWait("pause")
    try sendAndWait("load \(paths.map { "\"\($0)\"" }.joined(separator: " ")) wait=ready")
  }

  func unload() throws {
    try sendAndWait("pause")
    try sendAndWait("clear")
  }

  func send(_ command: PlayerCommand) throws -> HostTime {
    switch command {
    case .start(let path): return try send(["load \"\(path)\"", "play"])
    case .play: return try send(["play"])
    case .pause: return try send(["pause"])
    case .rate(let rate, let pitch): return try send(["pitch \(pitch.rawValue)", "rate \(rate)"])
    case .seek(let milliseconds): return try send(["seek \(milliseconds)/1000"])
    }
  }

  private func send(_ lines: [String]) throws -> HostTime {
    pendingReplyCount += lines.count
    return try socket.send(lines.joined(separator: "\n") + "\n")
  }

  func finish() throws {
    while pendingReplyCount > 0 {
      let line = try socket.line()
      if line == "ok" || line.hasPrefix("ok ") { pendingReplyCount -= 1 }
      if line.hasPrefix("error ") {
        pendingReplyCount -= 1
        throw RigError.programFailed("playheadd: \(line)")
      }
    }
  }

  /// The time for locating the last seek's target in the file, as the player reports it.
  func indexMilliseconds() throws -> Double {
    let socket = try connect()
    try socket.send("explain\n")
    let line = try socket.line()
    for word in line.split(separator: " ") where word.hasPrefix("index=") {
      if let microseconds = Double(word.dropFirst(6)) { return microseconds / 1_000 }
    }
    throw RigError.programFailed("playheadd: \(line)")
  }

  private func sendAndWait(_ line: String) throws {
    _ = try send([line])
    try finish()
  }
}
