import PlayheadMediaCore
import RigSupport

/// The round trip of `ping` beside clients that observe a change, compared with MPD.
enum WatcherFigure {
  private static let runCount = 5

  /// Each round changes a setting and sends `ping` at once, on another connection. The player must send an event to
  /// each watcher. Five runs of each player in turn, so that disturbances of the machine affect both.
  static func measure(_ players: Players, rounds: Int, into table: inout Table) throws {
    guard let playhead = players[.playhead] as? PlayheadPlayer else { return }
    let mpd = players[.mpd] as? MPDPlayer
    let missing = players.missing[.mpd] ?? "-"
    for count in [1, 8] {
      let playheadClients = try Clients(playhead, watcherCount: count)
      let mpdClients = try mpd.map { try Clients($0, watcherCount: count) }
      var (playheadRuns, mpdRuns, ratios) = (Runs(), Runs(), Sample())
      // The first run only fills the caches.
      for run in -1..<runCount {
        let playheadRun = try playheadClients.run(rounds: rounds)
        let mpdRun = try mpdClients?.run(rounds: rounds)
        guard run >= 0 else { continue }
        playheadRuns.add(playheadRun)
        guard let mpdRun else { continue }
        mpdRuns.add(mpdRun)
        if let median = playheadRun.median, let mpdMedian = mpdRun.median { ratios.add(median / mpdMedian) }
      }
      table.add(
        "watchers: round trip of ping during a change with \(count == 1 ? "1 watcher" : "\(count) watchers"), median of"
          + " \(runCount) runs (p99)",
        [
          .playhead: "\(playheadRuns.text); \(ratios.median.map { "\($0.text(2)) x" } ?? missing)",
          .mpd: mpd == nil ? missing : mpdRuns.text,
        ])
    }
    try LineCounter(playhead.socketPath, greetingLines: 1).exchange("volume 1")
  }

  /// The runs of one player, in microseconds.
  private struct Runs {
    private var medians = Sample()
    private var all = Sample()

    mutating func add(_ run: Sample) {
      if let median = run.median { medians.add(median) }
      for value in run.values { all.add(value) }
    }

    var text: String { "\((medians.median ?? 0).text(1)) µs (\((all.quantile(0.99) ?? 0).text(1)))" }
  }

  /// The connections to one player.
  private struct Clients {
    private let actor: LineCounter
    private let pinging: LineCounter
    private let watchers: [LineCounter]
    private let changes: [[UInt8]]
    /// The number of lines of an event.
    private let eventLineCount: Int
    /// The request for the next event, if events must be requested each time.
    private let nextEvent: [UInt8]?

    init(_ player: PlayheadPlayer, watcherCount: Int) throws {
      func connect() throws -> LineCounter { try LineCounter(player.socketPath, greetingLines: 1) }
      (actor, pinging) = (try connect(), try connect())
      watchers = try (0..<watcherCount).map { _ in
        let watcher = try connect()
        // The reply and the current value.
        try watcher.exchange("observe player.volume", replyLineCount: 2)
        return watcher
      }
      changes = ["volume 0.25\n", "volume 0.75\n"].map { Array($0.utf8) }
      (eventLineCount, nextEvent) = (1, nil)
    }

    init(_ player: MPDPlayer, watcherCount: Int) throws {
      func connect() throws -> LineCounter { try LineCounter(player.socketPath, greetingLines: 1) }
      (actor, pinging) = (try connect(), try connect())
      try actor.exchange("repeat 0")
      let request = Array("idle options\n".utf8)
      watchers = try (0..<watcherCount).map { _ in
        let watcher = try connect()
        try watcher.send(request)
        return watcher
      }
      changes = ["repeat 1\n", "repeat 0\n"].map { Array($0.utf8) }
      // `changed: options` and `OK`.
      (eventLineCount, nextEvent) = (2, request)
    }

    /// The round trips of `ping` in microseconds. The number of rounds is even, so that the setting is restored.
    func run(rounds: Int) throws -> Sample {
      var sample = Sample()
      let ping = Array("ping\n".utf8)
      for round in 0..<(rounds + rounds % 2) {
        try actor.send(changes[round & 1])
        sample.add(try pinging.roundTrip(ping) * 1_000)
        try actor.wait(forLines: 1)
        for watcher in watchers {
          try watcher.wait(forLines: eventLineCount)
          if let nextEvent { try watcher.send(nextEvent) }
        }
      }
      return sample
    }
  }
}

extension LineCounter {
  /// Sends a line without its LF, and waits for its reply.
  fileprivate func exchange(_ line: String, replyLineCount: Int = 1) throws {
    try send(Array("\(line)\n".utf8))
    try wait(forLines: replyLineCount)
  }
}
