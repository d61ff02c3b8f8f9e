import MediaCore
import Synchronization

/// One piece of work upon files that a thread of `AssetWorkers` does: begun once, ended once, by its own end, by who cancels or by the clock.
///
/// Threading: any.
package final class WorkRun<Outcome: Sendable>: Sendable {
  private struct State {
    var hasBegun = false
    var isOver = false
    /// What it does cannot be undone.
    var isSettled = false
    var job: AssetWorkers.Job?
    /// Make what blocks give up.
    var cancellations: [@Sendable () -> Void] = []
    var completion: (@Sendable (Result<Outcome, MediaError>) -> Void)?
  }

  private let operation: String
  private let state = Mutex(State())

  /// - Parameter operation: what errors say that it was.
  package init(_ operation: String) { self.operation = operation }

  /// Begins, once. `completion` is called once: on the thread that works, or by who cancels, or by the thread that looks at the time.
  ///
  /// - Parameter nanoseconds: after so long without a sign of life it has failed; from the first on (`Job.goesOn`) it may take as long as it
  ///   likes.
  package func start(
    on workers: AssetWorkers, forNanoseconds nanoseconds: Int64, name: String,
    completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void,
    _ body: @escaping @Sendable (AssetWorkers.Job) throws(MediaError) -> Outcome
  ) {
    let mayBegin = state.withLock { state in
      precondition(!state.hasBegun, "work is begun once")
      state.hasBegun = true
      if !state.isOver { state.completion = completion }
      return !state.isOver
    }
    guard mayBegin else { return completion(.failure(cancelled)) }
    let job = workers.run(forNanoseconds: nanoseconds) { [self] job in
      finish(Result { () throws(MediaError) in try body(job) })
    } timedOut: { [self] reason in
      end(with: .failure(reason.error(name)))
    }
    let isOver = state.withLock { state in
      state.job = job
      return state.isOver
    }
    if isOver { job.cancel() }
  }

  /// The same for a task; cancelling that cancels the work.
  ///
  /// - Parameter start: calls `start` with the completion.
  package func outcome(
    _ start: (@escaping @Sendable (Result<Outcome, MediaError>) -> Void) -> Void
  ) async throws(MediaError) -> Outcome {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Something that is under way until the end, and how it is made to give up.
  ///
  /// Errors: `cancelled` when it is over already.
  package func holds(_ cancellation: @escaping @Sendable () -> Void) throws(MediaError) {
    let isOver = state.withLock { state in
      if !state.isOver { state.cancellations.append(cancellation) }
      return state.isOver
    }
    guard isOver else { return }
    cancellation()
    throw cancelled
  }

  /// Ends it: who waits is told at once, and what is under way is given up. Nothing once it is over, or settled. Does not block.
  package func cancel() { end(with: .failure(cancelled)) }

  /// From here on it is not cancelled any more. False when it has been.
  package func settle() -> Bool {
    state.withLock { state in
      state.isSettled = state.isSettled || !state.isOver
      return state.isSettled
    }
  }

  /// Errors: `cancelled` when it is over.
  package func check() throws(MediaError) { if state.withLock({ $0.isOver }) { throw cancelled } }

  /// What who gave it up is told.
  package var cancelled: MediaError { MediaError(.cancelled, "\(operation) was cancelled", operation: operation) }

  private func end(with result: Result<Outcome, MediaError>) {
    let underWay = state.withLock { state -> ([@Sendable () -> Void], AssetWorkers.Job?)? in
      guard !state.isSettled else { return nil }
      state.isOver = true
      defer { state.cancellations = [] }
      return (state.cancellations, state.job)
    }
    guard let (cancellations, job) = underWay else { return }
    for cancellation in cancellations { cancellation() }
    job?.cancel()
    finish(result)
  }

  private func finish(_ result: Result<Outcome, MediaError>) {
    let completion = state.withLock { state in
      state.isOver = true
      state.cancellations = []
      defer { state.completion = nil }
      return state.completion
    }
    completion?(result)
  }
}
