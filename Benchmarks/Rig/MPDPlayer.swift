import Glibc
import PlayheadMediaCore
import RigSupport

/// MPD, controlled over its Unix socket.
final class MPDPlayer: BenchPlayer {
  let kind = PlayerKind.mpd
  let server: PulseServer
  let process: ChildProcess
  let socketPath: String
  private let directory: TemporaryDirectory
  private let socket: LineSocket
  private var isStopped = true

  init() throws {
    directory = try TemporaryDirectory("bench")
    server = try PulseServer()
    socketPath = directory.file("mpd.sock")
    process = try ChildProcess(try Self.command(directory, server: server))
    socket = try .waiting(for: socketPath)
    try finish()
  }

  /// Writes its configuration.
  static func command(_ directory: TemporaryDirectory, server: PulseServer) throws -> [String] {
    let text = """
      bind_to_address "\(directory.file("mpd.sock"))"
      pid_file "\(directory.file("mpd.pid"))"
      log_file "\(directory.file("mpd.log"))"
      log_level "warning"
      connection_timeout "100000"
      audio_output {
        type "pulse"
        name "pulse"
        server "\(server.address)"
        sink "\(server.sinkName)"
        mixer_type "none"
      }

      """
    let path = directory.file("mpd.conf")
    guard let file = fopen(path, "w") else { throw RigError.system(call: "fopen", errno: errno) }
    fputs(text, file)
    fclose(file)
    return ["mpd", "--no-daemon", path]
  }

  func load(_ paths: [String]) throws {
    try sendAndWait("clear")
    for path in paths { try sendAndWait("add \"file://\(path)\"") }
    isStopped = true
  }

  func unload() throws {
    try sendAndWait("clear")
    isStopped = true
  }

  func send(_ command: PlayerCommand) throws -> HostTime {
    switch command {
    case .start(let path):
      return try socket.send("command_list_begin\nclear\nadd \"file://\(path)\"\nplay 0\ncommand_list_end\n")
    case .play:
      defer { isStopped = false }
      return try socket.send(isStopped ? "play 0\n" : "pause 0\n")
    case .pause: return try socket.send("pause 1\n")
    case .rate: throw RigError.programFailed("MPD does not support rates")
    case .seek(let milliseconds): return try socket.send("seekcur \((Double(milliseconds) / 1_000).text(3))\n")
    }
  }

  func finish() throws {
    while true {
      let line = try socket.line()
      if line == "OK" || line.hasPrefix("OK MPD") { return }
      guard !line.hasPrefix("ACK") else { throw RigError.programFailed("MPD: \(line)") }
    }
  }

  private func sendAndWait(_ line: String) throws {
    try socket.send(line + "\n")
    try finish()
  }
}
