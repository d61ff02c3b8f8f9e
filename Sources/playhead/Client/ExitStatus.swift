/// The exit statuses of the client. The usage, the man page and docs/guide/playing.md list them; a test tries each.
enum ExitStatus: Int32, CaseIterable {
  case done = 0
  case failure = 1
  case misused = 2
  case unreachable = 3

  /// The description in the documentation.
  var meaning: String {
    switch self {
    case .done: "success; for `wait`: the condition is true"
    case .failure:
      "the daemon replied with an error (on standard error); or `load`, `append`, `insert`, `play`, `add`, `info`,"
        + " `tags`, `scan` or `save` could not read or write a file; or standard output could not be written"
    case .misused: "invalid arguments; nothing was sent to the daemon"
    case .unreachable:
      "no reply: the daemon is not reachable, closed the connection, violated the protocol, or runs as an untrusted"
        + " user"
    }
  }

  /// The description of the status after a signal, as a shell reports it.
  static let signalDescription = "terminated by signal N, for example 130 for Ctrl-C"
}
