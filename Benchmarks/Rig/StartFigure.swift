import Glibc
import PlayheadMediaCore
import RigSupport

/// The time from the start of a process to a reply on its socket. A minimal process with the same FFmpeg libraries,
/// which opens a file, is the comparison.
enum StartFigure {
  static func measure(
    _ players: Players, _ material: Material, programs: Programs, rounds: Int, into table: inout Table
  ) throws {
    let file = try material.music(rate: 44_100)
    var bare = Sample()
    var ratios = Sample()
    var durations: [PlayerKind: Sample] = [:]
    // The first run of each only fills the caches with programs.
    for round in -1..<rounds {
      let bareTime = try startBare(programs.bare, file)
      if round >= 0 { bare.add(bareTime) }
      for player in players.all {
        let time = try start(player, programs)
        guard round >= 0 else { continue }
        durations[player.kind, default: Sample()].add(time)
        if player.kind == .playhead { ratios.add(time / bareTime) }
      }
    }
    table.add(
      "start to the first reply (a bare process with FFmpeg opens a file in \((bare.median ?? 0).text()) ms)",
      target: "<= \((1.5 * (bare.median ?? 0)).text()) ms",
      players.each { "\((durations[$0.kind]?.median ?? 0).text()) ms" })
    table.add(
      "start: median ratio to the bare process of the same round", target: "<= 1.5",
      [.playhead: (ratios.median ?? 0).text(2)])
  }

  /// Milliseconds until the program reports that the file is open.
  private static func startBare(_ program: String, _ file: String) throws -> Double {
    let child = try Spawned([program, file])
    let time = try child.waitForOutput()
    return time.milliseconds(since: child.started)
  }

  private static func start(_ player: any BenchPlayer, _ programs: Programs) throws -> Double {
    let directory = try TemporaryDirectory("start")
    let command: [String]
    var environment: [String: String] = [:]
    let path: String
    let request: String
    switch player.kind {
    case .playhead:
      path = directory.file("control.sock")
      command = [programs.playheadd] + PlayheadPlayer.arguments(socket: path, server: player.server)
      environment = PlayheadPlayer.environment(directory)
      request = "ping\n"
    case .mpv:
      path = directory.file("mpv.sock")
      command = MPVPlayer.command(socket: path, server: player.server)
      environment = MPVPlayer.environment(directory, player.server)
      request = #"{"command":["get_property","pause"]}"# + "\n"
    case .mpd:
      path = directory.file("mpd.sock")
      command = try MPDPlayer.command(directory, server: player.server)
      request = "ping\n"
    }
    let child = try Spawned(command, environment: environment)
    let socket = try LineSocket.waiting(for: path)
    // The greeting does not count; the reply to a request does.
    try socket.send(request)
    _ = try socket.line()
    if player.kind != .mpv { _ = try socket.line() }
    return HostTime.present.milliseconds(since: child.started)
  }
}
