import Glibc

/// SIGTERM and SIGINT, which end the daemon, and SIGHUP, which has the configuration read again: taken by a thread that waits for them
/// instead of by a handler.
struct DaemonSignals {
  /// What a signal asks for.
  enum Wish: Equatable {
    case reload
    /// With the signal's name.
    case stop(String)
  }

  private static let names = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP"]

  private var signals = sigset_t()

  /// Blocks the signals for this thread and those that it makes from now on.
  init() {
    sigemptyset(&signals)
    for signal in Self.names.keys { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Blocks until one of them comes.
  func wait() -> Wish {
    var signals = signals
    var received: Int32 = 0
    while sigwait(&signals, &received) != 0 {}
    return received == SIGHUP ? .reload : .stop(Self.names[received] ?? "\(received)")
  }
}
