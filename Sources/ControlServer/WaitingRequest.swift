import MediaCore
import WireProtocol

/// A request whose answer comes when something has happened. It is answered exactly once, or abandoned with its
/// connection.
///
/// Threading: confined to the control loop.
final class WaitingRequest: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, where completions and observers carry it.
  let token: WaitToken
  let request: Request
  let batch: Connection.Batch?
  private weak var connection: Connection?
  private var cleanUp: (() -> Void)?
  /// It has been answered, or nobody is there to answer: what it has not begun to change stays as it is.
  private(set) var isDone = false
  /// It has been answered, while its connection was there.
  private(set) var isAnswered = false

  init(connection: Connection, token: WaitToken, request: Request, batch: Connection.Batch?) {
    self.connection = connection
    self.token = token
    self.request = request
    self.batch = batch
  }

  /// Has `body` called once when the request is answered or abandoned: to end what it observes.
  func onEnd(_ body: @escaping () -> Void) {
    if isDone { body() } else { cleanUp = body }
  }

  /// Answers; without effect when that has happened.
  func finish(_ reply: Reply) {
    guard end() else { return }
    isAnswered = true
    connection?.finish(self, reply)
  }

  /// Replies with an error.
  func fail(_ error: MediaError) { finish(.error(error)) }

  /// Ends without an answer: the connection is gone.
  func abandon() { _ = end() }

  private func end() -> Bool {
    guard !isDone else { return false }
    isDone = true
    let body = cleanUp
    cleanUp = nil
    body?()
    return true
  }
}
