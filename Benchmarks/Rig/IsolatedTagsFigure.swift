import PlayheadMediaCore
import RigSupport

/// The time in which a daemon opens 1,000 files and reads all their tags, without workers and with them.
enum IsolatedTagsFigure {
  /// The number of files that are open at a time.
  private static let groupCount = 50

  /// `paths`: the files.
  static func measure(_ programs: Programs, _ paths: [String], rounds: Int, into table: inout Table) throws {
    let players = try ["none", "opening"].map {
      try PlayheadPlayer(program: programs.playheadd, options: ["--isolate", $0])
    }
    defer { withExtendedLifetime(players) {} }
    let sockets = try players.map { try $0.connect() }
    var durations = [Sample(), Sample()]
    var ratios = Sample()
    // The first round fills the caches.
    for round in -1..<rounds {
      let times = try sockets.map { try milliseconds($0, paths) }
      guard round >= 0 else { continue }
      for index in times.indices { durations[index].add(times[index]) }
      ratios.add(times[1] / times[0])
    }
    let medians = durations.map { ($0.median ?? 0).text(0) }
    table.add(
      "isolated-tags: \(paths.count) files opened, with all tags: --isolate none, opening", target: "<= 1.3 x",
      [.playhead: "\(medians[0]) ms, \(medians[1]) ms (\((ratios.median ?? 0).text(2)) x)"])
  }

  private static func milliseconds(_ socket: LineSocket, _ paths: [String]) throws -> Double {
    let start = HostTime.present
    for first in stride(from: 0, to: paths.count, by: groupCount) {
      let group = paths[first..<min(first + groupCount, paths.count)]
      let replies = try exchange(socket, group.map { "asset.open \"\($0)\"" })
      let numbers = replies.compactMap { $0.firstMatch(of: /asset=([0-9]+)/)?.output.1 }
      try exchange(socket, numbers.map { "asset.load \($0) duration metadata" })
      try exchange(socket, numbers.map { "asset.close \($0)" })
    }
    return HostTime.present.milliseconds(since: start)
  }

  /// Sends all requests at once. Returns the last line of each reply.
  @discardableResult
  private static func exchange(_ socket: LineSocket, _ requests: [String]) throws -> [String] {
    try socket.send(requests.map { "\($0)\n" }.joined())
    var replies: [String] = []
    while replies.count < requests.count {
      let line = try socket.line()
      if line.hasPrefix("error ") { throw RigError.programFailed("playheadd: \(line)") }
      if line.hasPrefix("ok") { replies.append(line) }
    }
    return replies
  }
}
