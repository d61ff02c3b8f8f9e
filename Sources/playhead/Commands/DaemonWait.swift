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
      do {
        var connection = try DaemonConnection(path: socketPath())
        if try connection.waitForLine() != nil { return }
        throw Unreachable(message: "the daemon at \(connection.path) closed the connection")
      } catch let failure as Unreachable {
        if let deadline, ContinuousClock.now >= deadline { throw failure }
      }
      poll(nil, 0, intervalMilliseconds)
    }
  }
}
