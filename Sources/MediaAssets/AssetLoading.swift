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
    case loading(number: UInt64, Interrupt, AssetWorkers.Job)
    case cancelled
    /// It took too long; asking again loads again.
    case failed(MediaError)
  }

  private struct State {
    var phase = Phase.idle
    var nextNumber: UInt64 = 1
    var waiting: [UInt64: Completion] = [:]
    var nextRequest: UInt64 = 1
  }

  private let state = Mutex(State())

  /// Whether it is being loaded, was cancelled or took too long; nil: nothing of that.
  var status: AssetValueStatus<Value>? {
    state.withLock { state in
      switch state.phase {
      case .idle: nil
      case .loading: .loading
      case .cancelled: .cancelled
      case .failed(let error): .failed(error)
      }
    }
  }

  /// Has it loaded, unless it is being loaded already. The completion is called once: at once when it is `known`, otherwise on
  /// the thread that loads it or cancels, or that of `AssetWorkers` that watches. Answers what `forget` takes; nil when it has
  /// been called.
  func request(
    _ loader: Asset, known: AssetValueStatus<Value>?,
    load: @escaping @Sendable (Asset, Interrupt) throws(MediaError) -> Value, completion: @escaping Completion
  ) -> UInt64? {
    if let known {
      completion(known)
      return nil
    }
    return state.withLock { state in
      let request = state.nextRequest
      state.nextRequest += 1
      state.waiting[request] = completion
      if case .loading = state.phase { return request }
      let (number, interrupt) = (state.nextNumber, Interrupt())
      state.nextNumber += 1
      let job = loader.workers.run(forNanoseconds: loader.openingNanoseconds) { [self] _ in
        let result = Result { () throws(MediaError) in try load(loader, interrupt) }
        finished(number, result)
      } timedOut: { [self] reason in
        tookTooLong(number, reason.error(loader.displayPath))
      }
      state.phase = .loading(number: number, interrupt, job)
      return request
    }
  }

  /// Who asked does not wait any more; its completion is not called. Where it was the last one loading ends. False when it has been,
  /// or is being, called.
  func forget(_ request: UInt64) -> Bool {
    let (hasWaited, loading) = state.withLock { state -> (Bool, (Interrupt, AssetWorkers.Job)?) in
      guard state.waiting.removeValue(forKey: request) != nil else { return (false, nil) }
      guard state.waiting.isEmpty, case .loading(_, let interrupt, let job) = state.phase else { return (true, nil) }
      state.phase = .cancelled
      return (true, (interrupt, job))
    }
    loading?.0.cancel()
    loading?.1.cancel()
    return hasWaited
  }

  /// Ends the loading for all who wait.
  func cancel() { end(.cancelled, number: nil) }

  private func tookTooLong(_ number: UInt64, _ error: MediaError) { end(.failed(error), number: number) }

  /// Gives up the loading that runs, if it is that of a number.
  private func end(_ phase: Phase, number wanted: UInt64?) {
    let (loading, waiting) = state.withLock { state -> ((Interrupt, AssetWorkers.Job)?, [Completion]) in
      guard case .loading(let number, let interrupt, let job) = state.phase, number == wanted ?? number else {
        return (nil, [])
      }
      state.phase = phase
      defer { state.waiting = [:] }
      return ((interrupt, job), Array(state.waiting.values))
    }
    loading?.0.cancel()
    loading?.1.cancel()
    let status: AssetValueStatus<Value> = if case .failed(let error) = phase { .failed(error) } else { .cancelled }
    for completion in waiting { completion(status) }
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
      guard case .loading(number, _, _) = state.phase else { return [] }
      if case .cancelled = outcome { state.phase = .cancelled } else { state.phase = .idle }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for completion in waiting { completion(outcome) }
  }
}
