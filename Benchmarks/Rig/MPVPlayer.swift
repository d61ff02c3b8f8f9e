import PlayheadMediaCore
import RigSupport

/// mpv, controlled over its JSON socket.
final class MPVPlayer: BenchPlayer {
  let kind = PlayerKind.mpv
  let server: PulseServer
  let process: ChildProcess
  let socketPath: String
  private let directory: TemporaryDirectory
  private let socket: LineSocket
  private var lastRequest = 0
  private var isLoaded = false

  init() throws {
    directory = try TemporaryDirectory("bench")
    server = try PulseServer()
    socketPath = directory.file("mpv.sock")
    process = try ChildProcess(
      Self.command(socket: socketPath, server: server), environment: Self.environment(directory, server))
    socket = try .waiting(for: socketPath)
  }

  static func command(socket: String, server: PulseServer) -> [String] {
    [
      "mpv", "--no-config", "--no-video", "--no-terminal", "--idle=yes", "--ao=pulse",
      "--audio-device=pulse/\(server.sinkName)", "--input-ipc-server=\(socket)",
    ]
  }

  static func environment(_ directory: TemporaryDirectory, _ server: PulseServer) -> [String: String] {
    ["XDG_RUNTIME_DIR": directory.path, "HOME": directory.path, "PULSE_SERVER": server.address]
  }

  func load(_ paths: [String]) throws {
    try sendAndWait(#"["set_property","pause",true]"#)
    isLoaded = false
    for (index, path) in paths.enumerated() {
      try sendAndWait(#"["loadfile","\#(path)","\#(index == 0 ? "replace" : "append")"]"#)
    }
    while !isLoaded { _ = try nextLine() }
  }

  func unload() throws {
    try sendAndWait(#"["stop"]"#)
    try sendAndWait(#"["set_property","pause",false]"#)
  }

  func send(_ command: PlayerCommand) throws -> HostTime {
    switch command {
    case .start(let path): return try request(#"["loadfile","\#(path)"]"#)
    case .play: return try request(#"["set_property","pause",false]"#)
    case .pause: return try request(#"["set_property","pause",true]"#)
    case .rate(let rate, let pitch):
      if pitch == .spectral { throw RigError.programFailed("this rig does not configure Rubber Band for mpv") }
      try sendAndWait(#"["set_property","audio-pitch-correction",\#(pitch == .timeDomain)]"#)
      return try request(#"["set_property","speed",\#(rate)]"#)
    case .seek(let milliseconds):
      return try request(#"["seek",\#((Double(milliseconds) / 1_000).text(3)),"absolute+exact"]"#)
    }
  }

  private func request(_ command: String) throws -> HostTime {
    lastRequest += 1
    return try socket.send(#"{"command":\#(command),"request_id":\#(lastRequest)}"# + "\n")
  }

  func finish() throws {
    while true {
      let line = try nextLine()
      guard line.contains(#""request_id":\#(lastRequest),"#) || line.contains(#""request_id":\#(lastRequest)}"#) else {
        continue
      }
      guard line.contains(#""error":"success""#) else { throw RigError.programFailed("mpv: \(line)") }
      return
    }
  }

  private func nextLine() throws -> String {
    let line = try socket.line()
    if line.contains(#""event":"file-loaded""#) { isLoaded = true }
    return line
  }

  private func sendAndWait(_ command: String) throws {
    _ = try request(command)
    try finish()
  }
}
