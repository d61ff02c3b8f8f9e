import PlayheadMediaCore
import PlayheadWireProtocol

/// Long operations on a media file. They run on other threads, send progress events, and have an id for `scan.cancel`.
extension Client {
  /// Starts an operation. Replies when the operation ends or is cancelled.
  ///
  /// - Parameters:
  ///   - path: The path in the progress events.
  ///   - cancel: Cancels the operation. Called on any thread, possibly after the end of the operation.
  ///   - start: Starts the operation. It calls `progress` repeatedly, with the fraction that is done or nil if it is
  ///     unknown, and `completion` once. Both calls come on any thread.
  ///   - reply: Creates the reply from the id and the result. Called on any thread.
  func startOperation<Definition: Command, Outcome: Sendable>(
    _ request: WaitingRequest<Definition>, form: WireForm, on path: FilePath, cancel: @escaping @Sendable () -> Void,
    start: (
      _ progress: @escaping @Sendable (Double?) -> Void,
      _ completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void
    ) -> Void,
    reply: @escaping @Sendable (Int, Outcome) throws(MediaError) -> Definition.Reply
  ) {
    let id = operations.add(cancel: cancel)
    let loop = server.loop
    let path = path.redacted
    request.onEnd { [weak self] in
      cancel()
      self?.operations.remove(id)
    }
    start { [weak self] fraction in
      loop.execute { [weak self] in
        // No progress event may come after the reply.
        guard let self, self.operations.contains(id) else { return }
        self.send(
          ScanProgressEvent(scan: id, file: 1, count: 1, path: path, done: fraction), form: form)
      }
    } _: { result in
      let replyResult = result.flatMap { outcome in
        Result { () throws(MediaError) in EncodedReply<Definition>(try reply(id, outcome)) }
      }
      loop.execute { request.finish(with: replyResult) }
    }
  }
}
