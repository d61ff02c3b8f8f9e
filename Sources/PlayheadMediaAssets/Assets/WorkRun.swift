import PlayheadMediaCore
import Synchronization

/// One job on files that a thread of `AssetWorkers` runs. It starts once and ends once: by completion,
/// cancellation or time limit.
///
/// Threading: any.
package final class WorkRun<Outcome: Sendable>: Sendable {
  private struct State {
    var hasStarted = false
    var hasEnded = false
    /// Whether cancellation has no effect, because the effect of the job can no longer be undone.
    var isCancellationDisabled = false
    var job: AssetWorkers.Job?
    /// The closures that cancel blocking operations.
    var cancellations: [@Sendable () -> Void] = []
    var completion: (@Sendable (Result<Outcome, MediaError>) -> Void)?
  }

  private let operation: String
  private let state = Mutex(State())

  /// - Parameter operation: the name of the operation in errors.
  package init(_ operation: String) { self.operation = operation }

  /// Starts the job; call it once. `completion` is called once, on the working thread, the cancelling thread or the
  /// thread that checks time limits.
  ///
  /// - Parameter nanoseconds: the time limit for the first progress report, in ns. After the first report
  ///   (`Job.reportProgress`) the time is unlimited.
  package func start(
    on workers: AssetWorkers, forNanoseconds nanoseconds: Int64, name: String,
    completion: @escaping @Sendable (Result<Outcome, MediaError>) -> Void,
    _ body: @escaping @Sendable (AssetWorkers.Job) throws(MediaError) -> Outcome
  ) {
    let mayStart = state.withLock { state in
      precondition(!state.hasStarted, "work can be started only once")
      state.hasStarted = true
      if !state.hasEnded { state.completion = completion }
      return !state.hasEnded
    }
    guard mayStart else { return completion(.failure(cancelled)) }
    let job = workers.run(forNanoseconds: nanoseconds) { [self] job in
      finish(Result { () throws(MediaError) in try body(job) })
    } timedOut: { [self] reason in
      end(with: .failure(reason.error(name)))
    }
    let hasEnded = state.withLock { state in
      state.job = job
      return state.hasEnded
    }
    if hasEnded { job.cancel() }
  }

  /// Runs the job for a task. Cancelling the task cancels the job.
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

  /// Registers an operation in progress with the closure that cancels it.
  ///
  /// - Throws: `cancelled` if the job is over; the closure is then called immediately.
  package func addCancellation(_ cancellation: @escaping @Sendable () -> Void) throws(MediaError) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.cancellations.append(cancellation) }
      return state.hasEnded
    }
    guard hasEnded else { return }
    cancellation()
    throw cancelled
  }

  /// Cancels the job: completes it at once, and cancels its operations. No effect after the job has
  /// ended, or after `disableCancellation`. Does not block.
  package func cancel() { end(with: .failure(cancelled)) }

  /// Disables cancellation from now on. Returns false if the job was cancelled before.
  package func disableCancellation() -> Bool {
    state.withLock { state in
      state.isCancellationDisabled = state.isCancellationDisabled || !state.hasEnded
      return state.isCancellationDisabled
    }
  }

  /// Throws `cancelled` if the job is over.
  package func check() throws(MediaError) { if state.withLock({ $0.hasEnded }) { throw cancelled } }

  /// The error of a cancelled job.
  package var cancelled: MediaError { MediaError(.cancelled, "\(operation) was cancelled", operation: operation) }

  private func end(with result: Result<Outcome, MediaError>) {
    let pending = state.withLock { state -> ([@Sendable () -> Void], AssetWorkers.Job?)? in
      guard !state.isCancellationDisabled else { return nil }
      state.hasEnded = true
      defer { state.cancellations = [] }
      return (state.cancellations, state.job)
    }
    guard let (cancellations, job) = pending else { return }
    for cancellation in cancellations { cancellation() }
    job?.cancel()
    finish(result)
  }

  private func finish(_ result: Result<Outcome, MediaError>) {
    let completion = state.withLock { state in
      state.hasEnded = true
      state.cancellations = []
      defer { state.completion = nil }
      return state.completion
    }
    completion?(result)
  }
}
