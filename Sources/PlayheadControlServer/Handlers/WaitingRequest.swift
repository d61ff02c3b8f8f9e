import PlayheadMediaCore
import PlayheadWireProtocol

/// A request for one command whose reply comes later (``AnyWaitingRequest``).
struct WaitingRequest<Definition: Command>: Sendable {
  let erased: AnyWaitingRequest

  /// Whether the request has its reply or was abandoned. A handler must then start no further change.
  var isDone: Bool { erased.isDone }

  /// Calls `body` once when the request gets its reply or is abandoned (``AnyWaitingRequest/onEnd(_:)``).
  func onEnd(_ body: @escaping () -> Void) { erased.onEnd(body) }

  /// Ends the request and sends the reply. Has no effect if the request has already ended.
  func finish(_ reply: Definition.Reply) { erased.finish(Reply(reply)) }

  /// Ends the request and sends a reply that another thread has encoded.
  func finish(_ reply: EncodedReply<Definition>) { erased.finish(reply.reply) }

  /// Ends the request and sends a reply that another thread has encoded, or the error.
  func finish(with result: Result<EncodedReply<Definition>, MediaError>) { erased.finish(with: result) { $0.reply } }

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

/// A reply to one command as a list of fields. Encoding a long reply takes so long that another thread does it.
struct EncodedReply<Definition: Command>: Sendable {
  fileprivate let reply: Reply

  init(_ reply: Definition.Reply) { self.reply = Reply(reply) }
}
