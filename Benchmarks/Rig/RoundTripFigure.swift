import PlayheadMediaCore
import RigSupport

/// The duration of a command without effect, from its first byte to the end of its reply.
enum RoundTripFigure {
  static func measure(_ players: Players, rounds: Int, into table: inout Table) throws {
    let requests: [(name: String, lines: [PlayerKind: String])] = [
      ("ping", [.playhead: "ping\n", .mpv: #"{"command":["get_property","pause"]}"# + "\n", .mpd: "ping\n"]),
      ("status", [.playhead: "status\n", .mpd: "status\n"]),
    ]
    for request in requests {
      let cells = players.each(Array(request.lines.keys)) { player in
        guard let line = request.lines[player.kind] else { return "-" }
        return try measure(player, line, rounds: rounds)
      }
      table.add("round trip: \(request.name) (mpv: get_property pause), median and p99; pipelined", cells)
    }
  }

  private static func measure(_ player: any BenchPlayer, _ request: String, rounds: Int) throws -> String {
    let socket = try LineSocket.waiting(for: player.socketPath)
    while try socket.receive(timeOutMilliseconds: 200) { while socket.bufferedLine() != nil {} }
    // MPD's reply to `status` has many lines.
    let last: (String) -> Bool = { player.kind == .mpd ? $0 == "OK" : !$0.isEmpty }
    var durations = Sample()
    for round in -rounds / 10..<rounds {
      let sent = try socket.send(request)
      while try !last(socket.line()) {}
      if round >= 0 { durations.add(HostTime.present.milliseconds(since: sent) * 1_000) }
    }
    let batch = String(repeating: request, count: 100)
    let start = HostTime.present
    for _ in 0..<rounds / 100 {
      try socket.send(batch)
      for _ in 0..<100 { while try !last(socket.line()) {} }
    }
    let perSecond = Double(rounds / 100 * 100) * 1_000 / HostTime.present.milliseconds(since: start)
    return
      "\((durations.median ?? 0).text(0)) µs (\((durations.quantile(0.99) ?? 0).text(0))); \((perSecond / 1_000).text(0)) k/s"
  }
}
