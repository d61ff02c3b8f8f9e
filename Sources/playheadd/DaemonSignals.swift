import Glibc

/// The signals SIGTERM and SIGINT, which stop the daemon, and SIGHUP, which reloads the configuration. The main thread
/// waits for them. There are no signal handlers.
struct DaemonSignals {
  /// The action that a signal requests.
  enum Action: Equatable {
    case reload
    /// The associated value is the name of the signal.
    case stop(String)
  }

  private static let names = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP"]

  private var signals = sigset_t()

  /// Blocks the signals for this thread and for threads that it creates later.
  init() {
    sigemptyset(&signals)
    for signal in Self.names.keys { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Blocks until one of the signals arrives.
  func wait() -> Action {
    var signals = signals
    var received: Int32 = 0
    while sigwait(&signals, &received) != 0 {}
    return received == SIGHUP ? .reload : .stop(Self.names[received] ?? "\(received)")
  }
}
