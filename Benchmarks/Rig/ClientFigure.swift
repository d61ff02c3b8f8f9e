import PlayheadMediaCore
import RigSupport

/// The time of one call of the client: `playhead status` and `mpc status`, from the start of the process to its end.
enum ClientFigure {
  static func measure(
    _ players: Players, _ material: Material, programs: Programs, rounds: Int, into table: inout Table
  ) throws {
    let file = try material.music(rate: 44_100)
    let bare = try Spawned.median(of: ["true"], rounds: rounds)
    var durations: [PlayerKind: Sample] = [:]
    let kinds = [PlayerKind.playhead, .mpd]
    for kind in kinds { try players[kind]?.load([file]) }
    var cells = players.interleave(kinds, rounds: rounds) { player, _ in
      let command =
        player is PlayheadPlayer
        ? [programs.playhead, "--socket", player.socketPath, "status"] : ["mpc", "--host", player.socketPath, "status"]
      let client = try Spawned(command)
      durations[player.kind, default: Sample()].add(try client.waitForEnd().milliseconds(since: client.started))
    }
    for (kind, sample) in durations where cells[kind] == nil { cells[kind] = "\((sample.median ?? 0).text(2)) ms" }
    table.add("client: `status` (mpc status), from start to end of the process; `true` takes \(bare.text(2)) ms", cells)
    guard let own = durations[.playhead]?.median, let peer = durations[.mpd]?.median else { return }
    table.add("client: `status`, ratio of the medians", target: "<= 2", [.playhead: (own / peer).text(2)])
  }
}

extension Spawned {
  /// The median time of a program, in milliseconds.
  fileprivate static func median(of command: [String], rounds: Int) throws -> Double {
    var durations = Sample()
    for _ in 0..<rounds {
      let program = try Spawned(command)
      durations.add(try program.waitForEnd().milliseconds(since: program.started))
    }
    return durations.median ?? 0
  }
}
