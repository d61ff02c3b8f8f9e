// `--wait` and `wait daemon`: waits until a daemon is reachable.
import Glibc

enum DaemonWait {
  /// The delay between two attempts, in milliseconds.
  private static let intervalMilliseconds: Int32 = 50

  /// Waits until a daemon greets the client.
  ///
  /// - Parameter deadline: The end of the wait; nil for no limit.
  /// - Throws: `Unreachable` at the deadline.
  static func run(until deadline: ContinuousClock.Instant?, socketPath: () throws -> String) throws {
    while true {
      let failure: Unreachable
      do {
        let connection = try DaemonConnection(path: socketPath())
        failure = Unreachable(message: "the daemon at \(connection.path) does not reply")
        if isGreeted(by: connection, until: deadline) { return }
      } catch let unreachable as Unreachable where unreachable.isNotRunning { failure = unreachable }
      if let deadline, ContinuousClock.now >= deadline { throw failure }
      poll(nil, 0, intervalMilliseconds)
    }
  }

  /// Whether the daemon sends a line before the deadline, and does not close the connection first.
  private static func isGreeted(by connection: consuming DaemonConnection, until deadline: ContinuousClock.Instant?)
    -> Bool
  {
    while let deadline {
      let milliseconds = max(0, (deadline - ContinuousClock.now) / .milliseconds(1))
      var polled = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&polled, 1, Int32(min(milliseconds.rounded(.up), 1_000_000)))
      if count > 0 { break }
      if milliseconds == 0 { return false }
    }
    // A daemon that ends meanwhile resets the connection.
    return (try? connection.waitForLine()) != nil
  }
}
