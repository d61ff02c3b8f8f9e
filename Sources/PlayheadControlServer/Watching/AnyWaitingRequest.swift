import PlayheadMediaCore
import PlayheadWireProtocol

/// A request whose reply is sent after an event or an operation. It gets exactly one reply, or is abandoned with its
/// connection.
///
/// Threading: confined to the control loop.
final class AnyWaitingRequest: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which the completions and observers that capture it are
  // called.
  let token: WaitToken
  let request: Request
  /// The JSON-RPC batch that contains the request. Nil: none.
  let batch: Connection.Batch?
  private weak var connection: Connection?
  private var cleanUp: (() -> Void)?
  /// Whether the request has its reply or was abandoned. A handler must then start no further change.
  private(set) var isDone = false
  /// Whether the request has its reply.
  private(set) var hasReply = false

  init(connection: Connection, token: WaitToken, request: Request, batch: Connection.Batch?) {
    self.connection = connection
    self.token = token
    self.request = request
    self.batch = batch
  }

  /// Calls `body` once when the request gets its reply or is abandoned, so that the caller can remove its observers.
  /// Calls it immediately if the request has already ended. A later call replaces `body`.
  func onEnd(_ body: @escaping () -> Void) {
    if isDone { body() } else { cleanUp = body }
  }

  /// Ends the request and sends the reply. Has no effect if the request has already ended.
  func finish(_ reply: Reply) {
    guard end() else { return }
    hasReply = true
    connection?.finish(self, reply)
  }

  /// Ends the request and replies with an error.
  func fail(_ error: MediaError) { finish(.error(error)) }

  /// Marks the ordered part of the request as done. Later requests may be processed while it waits, if it has an id.
  func allowLaterRequests() { connection?.allowLaterRequests(after: self) }

  /// Ends the request without a reply, because the connection is closed.
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
