import MediaCore
import Synchronization

/// Loading an asset's values without blocking. As AVAsynchronousKeyValueLoading.
///
/// Nothing here blocks: files are opened on a few threads of their own (`AssetWorkers`). All keys are found out at once, when the
/// file is opened; requests that come while that is done share it.
extension Asset {
  /// How far a value is. Asking never loads. Any thread.
  public func status<Value>(of property: AssetProperty<Value>) -> AssetValueStatus<Value> {
    status.map(property.read)
  }

  /// The same by name, without the value.
  public func status(of key: AssetKey) -> AssetValueStatus<Void> { status.map { _ in } }

  /// How far loading is. Never blocks.
  public var status: AssetValueStatus<AssetProperties> { knownStatus ?? keyLoading.status ?? .unknown }

  /// Loads values, and gives them: `let (duration, tracks) = try await asset.load(.duration, .tracks)`.
  ///
  /// Returns at once when they are known. A task that is cancelled waits no more; the loading goes on, for whoever asks next.
  ///
  /// Errors: those of `load()`, kept and thrown again next time; `cancelled` when this task or the loading was cancelled.
  public func load<each Value: Sendable>(
    _ property: repeat AssetProperty<each Value>
  ) async throws(MediaError) -> (repeat each Value) {
    let properties = try await loadProperties()
    return (repeat (each property).read(properties))
  }

  private func loadProperties() async throws(MediaError) -> AssetProperties {
    let waiter = Waiter()
    let status = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiter.begin(continuation) { completion in
          keyLoading.request(self, workers: workers, completion: completion)
        }
      }
    } onCancel: {
      waiter.cancel(keyLoading)
    }
    switch status {
    case .loaded(let properties): return properties
    case .failed(let error): throw error
    case .unknown, .loading, .cancelled:
      throw MediaError(.cancelled, "loading was cancelled: \(displayPath)", operation: "load")
    }
  }

  /// Has values loaded, and says when that is done: `completion` is called once, however many keys there are, when all have
  /// been loaded, or failed, or their loading was cancelled. It is called at once when they are known, otherwise on another
  /// thread, and must not block. As `loadValuesAsynchronously(forKeys:completionHandler:)`.
  ///
  /// The answer ends the waiting, not the loading.
  @discardableResult
  public func loadValues(
    forKeys keys: [AssetKey], completion: @escaping @Sendable (AssetValueStatus<AssetProperties>) -> Void
  ) -> AssetLoadRequest {
    // Nothing is left to wait for when no key is named.
    guard !keys.isEmpty else {
      completion(status)
      return AssetLoadRequest(loading: keyLoading, number: nil)
    }
    let number = keyLoading.request(self, workers: workers, completion: completion)
    return AssetLoadRequest(loading: keyLoading, number: number)
  }
}

/// Somebody who waits for values of an asset.
public struct AssetLoadRequest: Sendable {
  let loading: AssetLoading
  let number: UInt64?

  /// Waits no more: the completion is not called. False when it has been called, or is being called. Any thread.
  @discardableResult
  public func cancel() -> Bool { number.map { loading.forget($0) } ?? false }
}

/// A task that waits for an asset to be loaded. Its continuation is resumed once, by whoever comes first.
private final class Waiter: Sendable {
  private struct State {
    var continuation: CheckedContinuation<AssetValueStatus<AssetProperties>, Never>?
    var request: UInt64?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<AssetValueStatus<AssetProperties>, Never>,
    ask: (@escaping AssetLoading.Completion) -> UInt64?
  ) {
    let isCancelled = state.withLock { state in
      state.continuation = continuation
      return state.isCancelled
    }
    if isCancelled { return resume(.cancelled) }
    let request = ask { self.resume($0) }
    state.withLock { $0.request = request }
  }

  func cancel(_ loading: AssetLoading) {
    let request = state.withLock { state in
      state.isCancelled = true
      return state.request
    }
    if let request { _ = loading.forget(request) }
    resume(.cancelled)
  }

  private func resume(_ status: AssetValueStatus<AssetProperties>) {
    let continuation = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: status)
  }
}
