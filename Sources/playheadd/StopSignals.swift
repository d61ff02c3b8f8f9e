import Glibc

/// SIGTERM, SIGINT and SIGHUP (the terminal closed), taken by a thread that waits for them instead of by a handler.
struct StopSignals {
  private static let names = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP"]

  private var signals = sigset_t()

  /// Blocks the signals for this thread and those that it makes from now on.
  init() {
    sigemptyset(&signals)
    for signal in Self.names.keys { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Blocks until one of them comes; answers its name.
  func wait() -> String {
    var signals = signals
    var received: Int32 = 0
    while sigwait(&signals, &received) != 0 {}
    return Self.names[received] ?? "\(received)"
  }
}
