/// The exit statuses of the client. The usage, the man page and the README list them, and a test tries each.
enum ExitStatus: Int32, CaseIterable {
  case done = 0
  case refused = 1
  case misused = 2
  case unreachable = 3

  /// The description in the documentation.
  var meaning: String {
    switch self {
    case .done: "done; of `wait`: what was waited for is so"
    case .refused:
      "the daemon answered an error (on standard error); of `info`, `tags`, `scan`, `add` and `save`: a file could not be read or written; standard output could not be written"
    case .misused: "wrong use, which the daemon is not asked about"
    case .unreachable:
      "no daemon, or it went away or broke the protocol before it answered, or it runs as a user that is not trusted"
    }
  }

  /// The description of the status after a signal, as a shell reports it.
  static let signalMeaning = "a signal ended it, such as 130 for Ctrl-C"
}
