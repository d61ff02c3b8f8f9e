// Asynchronous loading requests of an asset. Only the threads of `AssetWorkers` open files and block.
import PlayheadLibAV
import PlayheadMediaCore
import Synchronization

/// The requests for one part of an asset. They share one loading, and each is completed once.
///
/// Threading: any.
final class AssetLoading<Value: Sendable>: Sendable {
  typealias Completion = @Sendable (AssetValueStatus<Value>) -> Void

  private enum Phase {
    case idle
    /// A worker loads the part, or will load it. The interrupt cancels the read.
    case loading(number: UInt64, Interrupt, AssetWorkers.Job)
    case cancelled
    /// Loading exceeded its time limit. A new request loads again.
    case failed(MediaError)
  }

  private struct State {
    var phase = Phase.idle
    var nextLoadingNumber: UInt64 = 1
    var waiting: [UInt64: Completion] = [:]
    var nextRequestNumber: UInt64 = 1
  }

  private let state = Mutex(State())

  /// The status of a loading that runs, was cancelled or timed out; nil otherwise.
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

  /// Starts loading, unless a loading runs already, and adds a request to it.
  ///
  /// - Parameter completion: called once: immediately if the value is `known`; otherwise on the thread that loads or
  ///   cancels, or on the watching thread of `AssetWorkers`.
  /// - Returns: the number of the request for `removeRequest`; nil if the completion has been called.
  func request(
    _ loader: Asset, known: AssetValueStatus<Value>?,
    load: @escaping @Sendable (Asset, Interrupt) throws(MediaError) -> Value, completion: @escaping Completion
  ) -> UInt64? {
    if let known {
      completion(known)
      return nil
    }
    return state.withLock { state in
      let request = state.nextRequestNumber
      state.nextRequestNumber += 1
      state.waiting[request] = completion
      if case .loading = state.phase { return request }
      let (number, interrupt) = (state.nextLoadingNumber, Interrupt())
      state.nextLoadingNumber += 1
      let job = loader.workers.run(forNanoseconds: loader.openingNanoseconds) { [self] _ in
        let result = Result { () throws(MediaError) in try load(loader, interrupt) }
        finish(number, result)
      } timedOut: { [self] reason in
        timeOut(number, reason.error(loader.displayPath))
      }
      state.phase = .loading(number: number, interrupt, job)
      return request
    }
  }

  /// Removes a request; its completion is not called. Cancels loading if this was the last request.
  ///
  /// - Returns: false if the completion has been called or is running.
  func removeRequest(_ request: UInt64) -> Bool {
    let (wasWaiting, loading) = state.withLock { state -> (Bool, (Interrupt, AssetWorkers.Job)?) in
      guard state.waiting.removeValue(forKey: request) != nil else { return (false, nil) }
      guard state.waiting.isEmpty, case .loading(_, let interrupt, let job) = state.phase else { return (true, nil) }
      state.phase = .cancelled
      return (true, (interrupt, job))
    }
    loading?.0.cancel()
    loading?.1.cancel()
    return wasWaiting
  }

  /// Cancels loading for all requests.
  func cancel() { end(.cancelled, number: nil) }

  private func timeOut(_ number: UInt64, _ error: MediaError) { end(.failed(error), number: number) }

  /// Ends the running loading, if its number is `expectedNumber` or `expectedNumber` is nil.
  private func end(_ phase: Phase, number expectedNumber: UInt64?) {
    let (loading, waiting) = state.withLock { state -> ((Interrupt, AssetWorkers.Job)?, [Completion]) in
      guard case .loading(let number, let interrupt, let job) = state.phase, number == expectedNumber ?? number else {
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

  private func finish(_ number: UInt64, _ result: Result<Value, MediaError>) {
    var outcome: AssetValueStatus<Value> =
      switch result {
      case .success(let value): .loaded(value)
      case .failure(let error): .failed(error)
      }
    // `AssetState.cancelLoading` can cancel the read through its interrupt.
    if case .failure(let error) = result, error.code == .cancelled { outcome = .cancelled }
    let waiting = state.withLock { state -> [Completion] in
      // The result of a loading that was cancelled, and may have been restarted, is ignored.
      guard case .loading(number, _, _) = state.phase else { return [] }
      if case .cancelled = outcome { state.phase = .cancelled } else { state.phase = .idle }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for completion in waiting { completion(outcome) }
  }
}
