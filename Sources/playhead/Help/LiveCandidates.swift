// Completes ids of entries and names of players with replies of the daemon while a user types. Prints nothing when the
// daemon does not reply.
import Glibc
import PlayheadWireProtocol

enum LiveCandidates {
  /// The maximum time of the completion. After it, the process ends without output.
  private static let timeoutMicroseconds = 500_000

  /// Prints the candidates for the last word. If the daemon does not reply, the process ends without output.
  static func print(_ words: [[UInt8]], socketPath: @escaping (_ specifiedPath: String?) throws -> String) {
    let words = words.map { String(decoding: $0, as: UTF8.self) }
    // A timer ends the process at any blocking point: connecting, sending or reading.
    signal(SIGALRM) { _ in _exit(0) }
    var limit = itimerval()
    limit.it_value.tv_usec = __suseconds_t(timeoutMicroseconds)
    setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &limit, nil)
    let player = PlayheadClient.environmentPlayer.map { String(decoding: $0, as: UTF8.self) }
    let completion = Completion(words) { live in
      (try? candidates(live, DaemonConnection(path: socketPath(socket(in: words))), player: player)) ?? []
    }
    Terminal.print(completion.text)
  }

  /// The socket specified in the words.
  private static func socket(in words: [String]) -> String? {
    let prefix = "--socket="
    if let word = words.last(where: { $0.hasPrefix(prefix) }) { return String(word.dropFirst(prefix.count)) }
    return words.lastIndex(of: "--socket").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
  }

  /// The candidates for a word in the shell; none if the daemon does not reply in time.
  ///
  /// - Parameter player: The player if the line names none; nil for that of the daemon.
  static func candidates(_ live: Completion.Live, _ path: String, player: String?) -> [Completion.Candidate] {
    do {
      let connection = try DaemonConnection(path: path)
      connection.limitWaiting(microseconds: timeoutMicroseconds)
      return try candidates(live, connection, player: player)
    } catch { return [] }
  }

  private static func candidates(
    _ live: Completion.Live, _ connection: consuming DaemonConnection, player defaultPlayer: String?
  ) throws -> [Completion.Candidate] {
    let encoder = RequestEncoder()
    let daemon = RequestClient(connection) { try encoder.words($0) }
    switch live {
    case .players:
      return try daemon.send(["player.list"]).rows.compactMap { row in
        row["player"].map { Completion.Candidate(text: $0, summary: row["timeControlStatus"] ?? "") }
      }
    case .entries(let player):
      let name = player ?? defaultPlayer
      let rows = try daemon.send(["list"] + (name.map { $0.isEmpty ? [] : ["player=\($0)"] } ?? [])).rows
      return rows.compactMap { row in row["item"].map { .init(text: $0, summary: EntryTitle.of(row)) } }
    }
  }
}
