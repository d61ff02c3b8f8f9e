import Glibc

/// SIGTERM and SIGINT, taken by a thread that waits for them instead of by a handler.
struct StopSignals {
  private var signals = sigset_t()

  /// Blocks the signals for this thread and those that it makes from now on.
  init() {
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Blocks until one of them comes.
  func wait() {
    var signals = signals
    var received: Int32 = 0
    while sigwait(&signals, &received) != 0 {}
  }
}
