import Glibc
import RigSupport

// usage: RigBench --playheadd PATH --bare PATH --cache FOLDER [--rounds N] [--only NAME,NAME...]
//
// Measures this player, mpv and MPD side by side, each on a separate PulseAudio whose device is a pipe, and prints a
// table. Each sample from the pipes is examined and has an arrival time. The program asserts nothing, because machines
// differ. The table shows the requirements, which compare the player with the others, next to the results. Progress
// goes to standard error.

/// The measured programs that are not in PATH.
struct Programs {
  var playheadd: String
  /// The client, in the same folder as the daemon.
  var playhead: String { String(playheadd.dropLast()) }
  var bare: String
}

@main
struct RigBench {
  private static let names = [
    "start", "client", "roundtrip", "seek", "long", "lossy", "first-seek", "load", "pause", "transition", "tick",
    "observers",
    "usage", "isolated-usage", "isolated-tags", "rates", "queue", "scan", "waveform", "long-waveform", "control",
    "watchers",
    "server-loss", "memory",
  ]

  static func main() {
    do { try run() } catch {
      Progress.report("\(error)")
      exit(1)
    }
  }

  private static func run() throws {
    let options = try options()
    guard let playheadd = options["playheadd"], let bare = options["bare"], let cache = options["cache"],
      let rounds = Int(options["rounds"] ?? "20"), rounds > 0
    else {
      throw RigError.programFailed(
        "usage: RigBench --playheadd PATH --bare PATH --cache FOLDER [--rounds N] [--only NAMES]")
    }
    let only = options["only"].map { $0.split(separator: ",").map(String.init) } ?? names
    if let unknown = only.first(where: { !names.contains($0) }) {
      throw RigError.programFailed("unknown figure \(unknown); the figures are \(names.joined(separator: " "))")
    }
    let material = try Material(cache: cache)
    let programs = Programs(playheadd: playheadd, bare: bare)
    var table = Table()
    let isMemoryOnly = only == ["memory"]
    if !isMemoryOnly { try measure(try Players(programs: programs), programs, material, only, rounds, into: &table) }
    // Measured last, when no other player runs.
    if only.contains("memory") {
      Progress.report("-- memory")
      try UsageFigure.measureMemory(programs, material, into: &table)
    }
    var load = [0.0, 0.0, 0.0]
    getloadavg(&load, 3)
    print(
      "medians of \(rounds), interleaved; system load at the end: \(load.map { $0.text(2) }.joined(separator: " "))"
    )
    table.print()
  }

  /// The figures for which all players run side by side.
  private static func measure(
    _ players: Players, _ programs: Programs, _ material: Material, _ only: [String], _ rounds: Int,
    into table: inout Table
  ) throws {
    var flacSeeks: [PlayerKind: Sample] = [:]
    for name in names where name != "memory" && only.contains(name) {
      Progress.report("-- \(name)")
      do {
        switch name {
        case "start": try StartFigure.measure(players, material, programs: programs, rounds: rounds, into: &table)
        case "client":
          try ClientFigure.measure(players, material, programs: programs, rounds: rounds * 5, into: &table)
        case "roundtrip": try RoundTripFigure.measure(players, rounds: rounds * 500, into: &table)
        case "seek":
          for kind in Material.Coded.allCases {
            let seeks = try SeekFigure.measure(players, material, kind, rounds: 2 * rounds, into: &table)
            if kind == .flac { flacSeeks = seeks }
          }
        case "long": try LongFileFigure.measure(players, material, rounds: rounds, flacSeeks: flacSeeks, into: &table)
        case "lossy": try LossySeekFigure.measure(players, material, rounds: rounds, into: &table)
        case "first-seek": try LossySeekFigure.measureFirst(players, material, rounds: rounds, into: &table)
        case "load": try LoadFigure.measure(players, material, rounds: rounds, into: &table)
        case "pause": try PauseFigure.measure(players, material, rounds: rounds, into: &table)
        case "transition": try TransitionFigure.measure(players, material, into: &table)
        case "tick": try TickFigure.measure(players, material, seconds: 30, into: &table)
        case "observers": try TickFigure.measureObservers(players, material, into: &table)
        case "rates": try RateFigure.measure(players, material, rounds: rounds / 2, into: &table)
        case "scan": try ScanFigure.measure(players, material, rounds: max(1, rounds / 4), into: &table)
        case "waveform":
          let path = try material.music(rate: 44_100)
          try WaveformFigure.measure(programs, path, "ten minutes", rounds: max(1, rounds / 4), into: &table)
        case "long-waveform":
          try WaveformFigure.measure(programs, try material.longMusic(), "ten hours", rounds: 2, into: &table)
        case "control":
          try ControlFigure.measureRoundTrips(players, rounds: rounds * 250, into: &table)
          try ControlFigure.measureChanges(players, rounds: rounds * 50, into: &table)
          try ControlFigure.measureClients(programs, into: &table)
        case "watchers": try WatcherFigure.measure(players, rounds: rounds * 250, into: &table)
        case "server-loss":
          try ServerLossFigure.measure(programs, material, rounds: max(3, rounds / 2), into: &table)
        case "isolated-usage":
          try UsageFigure.measureIsolation(programs, material, rounds: rounds, into: &table)
        case "isolated-tags":
          try IsolatedTagsFigure.measure(programs, try material.taggedFiles(), rounds: rounds, into: &table)
        case "queue": try QueueFigure.measure(players, material, rounds: rounds, into: &table)
        default: try UsageFigure.measure(players, material, rounds: rounds, into: &table)
        }
      } catch {
        table.add("\(name)", [.playhead: "FAILED: \(error)"])
      }
    }
  }

  private static func options() throws -> [String: String] {
    var options: [String: String] = [:]
    var arguments = CommandLine.arguments.dropFirst()
    while let name = arguments.popFirst() {
      guard name.hasPrefix("--"), let value = arguments.popFirst() else {
        throw RigError.programFailed("\(name) needs a value")
      }
      options[String(name.dropFirst(2))] = value
    }
    return options
  }
}
