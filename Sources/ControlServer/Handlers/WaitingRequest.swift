import MediaCore
import WireProtocol

/// A request for one command whose reply comes later (``AnyWaitingRequest``).
struct WaitingRequest<Definition: Command>: Sendable {
  let erased: AnyWaitingRequest

  /// Whether the request has its reply or was abandoned. A handler must then start no further change.
  var isDone: Bool { erased.isDone }

  /// Calls `body` once when the request gets its reply or is abandoned (``AnyWaitingRequest/onEnd(_:)``).
  func onEnd(_ body: @escaping () -> Void) { erased.onEnd(body) }

  /// Ends the request and sends the reply. Has no effect if the request has already ended.
  func finish(_ reply: Definition.Reply) { erased.finish(Reply(reply)) }

  /// Ends the request and replies with an encoded reply, or with an error. Has no effect if the request has already
  /// ended.
  func finish(with result: Result<EncodedReply<Definition>, MediaError>) {
    switch result {
    case .success(let reply): erased.finish(reply.erased)
    case .failure(let error): erased.fail(error)
    }
  }

  /// Ends the request and replies with an error.
  func fail(_ error: MediaError) { erased.fail(error) }

  /// Ends the request and replies with the result of an operation.
  func finish(with result: Result<Definition.Reply, MediaError>) { finish(with: result) { $0 } }

  /// Replies with the result of an operation, or with its error. Does not call `reply` if the request has already
  /// ended.
  func finish<Value>(
    with result: Result<Value, MediaError>, _ reply: (Value) throws(MediaError) -> Definition.Reply
  ) {
    erased.resume(with: result) { value throws(MediaError) in finish(try reply(value)) }
  }

  /// Starts the rest of the request with the result of an operation, or replies with its error. Does not call `body` if
  /// the request has already ended.
  func resume<Value>(with result: Result<Value, MediaError>, _ body: (Value) throws(MediaError) -> Void) {
    erased.resume(with: result, body)
  }
}

/// A reply whose rows are encoded. Any thread can create it, so that the control loop does not encode many rows.
struct EncodedReply<Definition: Command>: Sendable {
  fileprivate let erased: Reply

  init(_ reply: Definition.Reply) { erased = Reply(reply) }
}
