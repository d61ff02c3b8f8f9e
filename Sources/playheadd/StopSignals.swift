import Glibc

/// SIGTERM, SIGINT and SIGHUP (the terminal closed), taken by a thread that waits for them instead of by a handler.
struct StopSignals {
  private var signals = sigset_t()

  /// Blocks the signals for this thread and those that it makes from now on.
  init() {
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGHUP)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Blocks until one of them comes.
  func wait() {
    var signals = signals
    var received: Int32 = 0
    while sigwait(&signals, &received) != 0 {}
  }
}
