// Who waits for an asset to be loaded, and who loads it. Files are opened on `AssetWorkers`' threads; nobody else blocks.
import LibAV
import MediaCore
import Synchronization

/// The requests for one part of an asset: they share one loading, and each is completed once.
///
/// Threading: any.
final class AssetLoading<Value: Sendable>: Sendable {
  typealias Completion = @Sendable (AssetValueStatus<Value>) -> Void

  private enum Phase {
    case idle
    /// A worker has it, or is to have it; the interrupt is that of the reading.
    case loading(number: UInt64, Interrupt)
    case cancelled
  }

  private struct State {
    var phase = Phase.idle
    var nextNumber: UInt64 = 1
    var waiting: [UInt64: Completion] = [:]
    var nextRequest: UInt64 = 1
  }

  private let state = Mutex(State())

  /// Whether it is being loaded, or was cancelled; nil: neither.
  var status: AssetValueStatus<Value>? {
    state.withLock { state in
      switch state.phase {
      case .idle: nil
      case .loading: .loading
      case .cancelled: .cancelled
      }
    }
  }

  /// Has it loaded, unless it is being loaded already. The completion is called once: at once when it is `known`, otherwise on
  /// the thread that loads it or cancels. Answers what `forget` takes; nil when it has been called.
  func request(
    workers: AssetWorkers, known: AssetValueStatus<Value>?,
    load: @escaping @Sendable (Interrupt) throws(MediaError) -> Value, completion: @escaping Completion
  ) -> UInt64? {
    if let known {
      completion(known)
      return nil
    }
    let (request, job) = state.withLock { state -> (UInt64, (UInt64, Interrupt)?) in
      let request = state.nextRequest
      state.nextRequest += 1
      state.waiting[request] = completion
      if case .loading = state.phase { return (request, nil) }
      let job = (state.nextNumber, Interrupt())
      state.nextNumber += 1
      state.phase = .loading(number: job.0, job.1)
      return (request, job)
    }
    if let (number, interrupt) = job {
      workers.run { [self] in
        let result = Result { () throws(MediaError) in try load(interrupt) }
        finished(number, result)
      }
    }
    return request
  }

  /// Who asked does not wait any more; its completion is not called. False when it has been, or is being, called.
  func forget(_ request: UInt64) -> Bool { state.withLock { $0.waiting.removeValue(forKey: request) != nil } }

  /// Ends the loading for all who wait.
  func cancel() {
    let (interrupt, waiting) = state.withLock { state -> (Interrupt?, [Completion]) in
      guard case .loading(_, let interrupt) = state.phase else { return (nil, []) }
      state.phase = .cancelled
      defer { state.waiting = [:] }
      return (interrupt, Array(state.waiting.values))
    }
    interrupt?.cancel()
    for completion in waiting { completion(.cancelled) }
  }

  private func finished(_ number: UInt64, _ result: Result<Value, MediaError>) {
    var outcome: AssetValueStatus<Value> =
      switch result {
      case .success(let value): .loaded(value)
      case .failure(let error): .failed(error)
      }
    // Somebody cancelled reading the file without asking this.
    if case .failure(let error) = result, error.code == .cancelled { outcome = .cancelled }
    let waiting = state.withLock { state -> [Completion] in
      // What was cancelled, and perhaps begun anew, has nothing to say.
      guard case .loading(number, _) = state.phase else { return [] }
      if case .cancelled = outcome { state.phase = .cancelled } else { state.phase = .idle }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for completion in waiting { completion(outcome) }
  }
}
