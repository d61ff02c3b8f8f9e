import Glibc
import PlayheadMediaCore
import RigSupport

/// The cost of a queue with 100,000 entries compared with a short one. Each command is measured from its first byte to
/// the end of its reply. MPD is excluded: it looks up added files in its database or opens them.
enum QueueFigure {
  private static let entryCount = 100_000
  private static let lineCount = 200
  private static let endCount = 10
  /// Maximum number of entries per line, limited by their number and not by their paths, rounded.
  private static let longestAppend = 10_000

  static func measure(_ players: Players, _ material: Material, rounds: Int, into table: inout Table) throws {
    guard let player = players[.playhead] as? PlayheadPlayer else { return }
    for player in players.all { try player.unload() }
    let path = try material.coded(.wav, number: 1)
    let socket = try player.connect()
    let (status, statusRounds) = ("status", rounds * 50)

    var durations = Sample()
    for _ in 0..<max(1, rounds / 4) {
      let paths = String(repeating: " /x", count: longestAppend)
      durations.add(try milliseconds(socket, "append" + paths))
      _ = try milliseconds(socket, "clear")
    }
    table.add(
      "queue: append \(longestAppend) entries in one line", target: "<= 20 ms",
      [.playhead: "\((durations.median ?? 0).text(1)) ms"])

    try addBlockingTimes(player, rounds, into: &table)

    _ = try milliseconds(socket, "append \"\(path)\"")
    let statusOfOne = try median(statusRounds) { try milliseconds(socket, status) * 1_000 }
    _ = try milliseconds(socket, "clear")

    let line = "append" + String(repeating: " \"\(path)\"", count: entryCount / lineCount)
    let appends = try (0..<lineCount).map { _ in try milliseconds(socket, line) }
    let (first, last) = (median(appends.prefix(endCount)), median(appends.suffix(endCount)))
    table.add(
      "queue: append \(entryCount / lineCount) entries in a line, \(lineCount) times: first \(endCount), last \(endCount), longest",
      target: "last <= 1.5 x first",
      [
        .playhead:
          "\(first.text(2)) ms, \(last.text(2)) ms (\((last / first).text(2)) x), \((appends.max() ?? 0).text(1)) ms"
      ])

    let statusOfAll = try median(statusRounds) { try milliseconds(socket, status) * 1_000 }
    table.add(
      "queue: status with 1 entry, with \(entryCount)", target: "<= 1.1 x",
      [
        .playhead:
          "\(statusOfOne.text(0)) µs, \(statusOfAll.text(0)) µs (\((statusOfAll / statusOfOne).text(2)) x)"
      ])

    let list = try median(rounds * 5) { try milliseconds(socket, "list limit=1 offset=\(entryCount - 1_000)") * 1_000 }
    table.add("queue of \(entryCount): list limit=1 offset=\(entryCount - 1_000)", [.playhead: "\(list.text(0)) µs"])
    let item = try lastItem(socket)
    var isAtEnd = true
    let move = try median(rounds * 5) {
      isAtEnd.toggle()
      return try milliseconds(socket, "move \(item) to=\(isAtEnd ? entryCount - 1 : 1)") * 1_000
    }
    table.add("queue of \(entryCount): move from one end to the other", [.playhead: "\(move.text(0)) µs"])
    let shuffle = try median(max(1, rounds / 2)) { try milliseconds(socket, "shuffle on seed=42") }
    table.add("queue of \(entryCount): shuffle on", target: "<= 30 ms", [.playhead: "\(shuffle.text(1)) ms"])
    _ = try milliseconds(socket, "shuffle off")
    try player.unload()
  }

  /// The number of entries in the edits during which another client's pings are measured.
  private static let editEntryCount = 5_000

  /// Measures how long large requests block the control loop: the longest ping of another client until the reply, and
  /// of some pings after it. The result is the median of several rounds, because other programs delay single pings.
  private static func addBlockingTimes(_ player: PlayheadPlayer, _ rounds: Int, into table: inout Table) throws {
    let (socket, pinger) = (try player.connect(), try player.connect())
    let paths = String(repeating: " /music/x", count: editEntryCount)
    let times = (0..<editEntryCount).map { " \($0 * 7_919 % 100_000)" }.joined()
    var (appends, clears, boundaries) = (Sample(), Sample(), Sample())
    for _ in 0..<max(5, rounds) {
      appends.add(try longestPing(pinger, during: "append" + paths, on: socket).milliseconds)
      clears.add(try longestPing(pinger, during: "clear", on: socket).milliseconds)
      let at = try longestPing(pinger, during: "at" + times, on: socket)
      boundaries.add(at.milliseconds)
      guard let id = at.reply.split(separator: "=").last else { continue }
      _ = try milliseconds(socket, "untick \(id)")
    }
    for (name, sample) in [
      ("append of \(editEntryCount) paths", appends), ("clear of \(editEntryCount) entries", clears),
      ("at with \(editEntryCount) times", boundaries),
    ] {
      table.add(
        "queue: longest ping of another client during \(name)", target: "< 1 ms",
        [.playhead: "\((sample.median ?? 0).text(2)) ms"])
    }
  }

  /// Sends a command, and pings on another socket until the reply arrives, and some more.
  private static func longestPing(
    _ pinger: LineSocket, during command: String, on socket: LineSocket
  ) throws -> (milliseconds: Double, reply: String) {
    _ = try milliseconds(pinger, "ping")
    try socket.send(command + "\n")
    var (longest, remaining) = (0.0, 50)
    while remaining > 0 {
      longest = max(longest, try milliseconds(pinger, "ping"))
      var polled = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&polled, 1, 0) > 0 { remaining -= 1 }
    }
    return (longest, try socket.line())
  }

  /// The ID of the queue's last entry.
  private static func lastItem(_ socket: LineSocket) throws -> String {
    try socket.send("list limit=1 offset=\(entryCount - 1)\n")
    let row = try socket.line()
    _ = try socket.line()
    guard let field = row.split(separator: " ").first(where: { $0.hasPrefix("item=") }) else {
      throw RigError.programFailed("playheadd: \(row)")
    }
    return String(field.dropFirst("item=".count))
  }

  /// Sends a command and waits for the end of its reply.
  private static func milliseconds(_ socket: LineSocket, _ command: String) throws -> Double {
    let sent = try socket.send(command + "\n")
    while true {
      let line = try socket.line()
      if line == "ok" || line.hasPrefix("ok ") { return HostTime.present.milliseconds(since: sent) }
      guard line.hasPrefix("| ") else { throw RigError.programFailed("playheadd: \(line.prefix(200))") }
    }
  }

  private static func median(_ count: Int, _ body: () throws -> Double) throws -> Double {
    median(try (0..<count).map { _ in try body() })
  }

  private static func median(_ values: some Sequence<Double>) -> Double {
    var sample = Sample()
    for value in values { sample.add(value) }
    return sample.median ?? 0
  }
}
