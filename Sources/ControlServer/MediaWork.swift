import MediaCore
import WireProtocol

/// Work upon a file that takes a while: off the loop, with a number by which it is ended, and events that tell how far it is.
extension Connection {
  /// Begins it; answers when it is done, or was cancelled.
  ///
  /// - Parameters:
  ///   - path: what the events name.
  ///   - cancel: ends it; from any thread, and after its end, too.
  ///   - start: begins it; tells how much is done, and once what it came to, on any thread.
  ///   - reply: what is answered, by its number and what it came to; on any thread.
  func beginWork<Outcome: Sendable>(
    _ request: WaitingRequest, on path: FilePath, cancel: @escaping @Sendable () -> Void,
    start: (
      _ progress: @escaping @Sendable (Double?) -> Void,
      _ completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void
    ) -> Void,
    reply: @escaping @Sendable (Int, Outcome) throws(MediaError) -> Reply
  ) {
    let number = scans.add(cancel: cancel)
    let loop = server.loop
    let form = request.request.address.form
    request.onEnd { [weak self] in
      cancel()
      self?.scans.remove(number)
    }
    start { [weak self] done in
      loop.execute { [weak self] in
        // None comes behind the reply.
        guard let self, self.scans.contains(number) else { return }
        self.send(
          .scanProgress(Event.ScanProgress(scan: number, file: 1, count: 1, path: .path(path), done: done)), form: form)
      }
    } _: { result in
      let answer = result.flatMap { outcome in Result { () throws(MediaError) in try reply(number, outcome) } }
      loop.execute {
        switch answer {
        case .success(let answer): request.finish(answer)
        case .failure(let error): request.fail(error)
        }
      }
    }
  }
}
