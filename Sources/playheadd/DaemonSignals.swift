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
  ///
  /// - Parameter milliseconds: The timeout, in 1..<1000. Nil: no timeout.
  /// - Returns: The action of the signal. Nil after the timeout.
  func wait(milliseconds: Int? = nil) -> Action? {
    var signals = signals
    var timeout = timespec(tv_sec: 0, tv_nsec: (milliseconds ?? 0) * 1_000_000)
    while true {
      let received = milliseconds == nil ? sigwaitinfo(&signals, nil) : sigtimedwait(&signals, nil, &timeout)
      if received < 0 {
        if errno == EAGAIN { return nil }
      } else if let name = Self.names[received] {
        return received == SIGHUP ? .reload : .stop(name)
      }
    }
  }
}
