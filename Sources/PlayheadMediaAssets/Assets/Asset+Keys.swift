import PlayheadLibAV
import PlayheadMediaCore
import Synchronization

/// Loading an asset's values without blocking. Corresponds to `AVAsynchronousKeyValueLoading`.
///
/// - Nothing here blocks: a few dedicated threads (`AssetWorkers`) open the files.
/// - All properties and tracks are loaded together; the tags are loaded separately. Concurrent
///   requests share one loading.
/// - A loading ends when its last request is cancelled, when the asset is released, or after `openingNanoseconds`.
extension Asset {
  /// Returns the loading status of a value. Never starts loading. Threading: any.
  public func status<Value>(of property: AssetProperty<Value>) -> AssetValueStatus<Value> {
    switch status(of: property.key.part) {
    case .unknown: .unknown
    case .loading: .loading
    case .failed(let error): .failed(error)
    case .cancelled: .cancelled
    case .loaded(let values): property.read(values).map { .loaded($0) } ?? .unknown
    }
  }

  /// Returns the loading status of a key, with all values that were loaded for it. `status(of: .tracks)` selects the
  /// overload for the typed `AssetProperty`.
  @_disfavoredOverload
  package func status(of key: AssetKey) -> AssetValueStatus<AssetValues> { status(of: key.part) }

  private func status(of part: AssetPart) -> AssetValueStatus<AssetValues> {
    switch part {
    case .properties:
      (knownStatus ?? state.propertiesLoading.status ?? .unknown).map { AssetValues(properties: $0) }
    case .metadata:
      (knownMetadata ?? state.metadataLoading.status ?? .unknown).map { AssetValues(metadata: $0) }
    }
  }

  /// Loads values and returns them: `let (duration, tracks) = try await asset.load(.duration, .tracks)`.
  ///
  /// Returns immediately if the values are known. Cancelling the task ends only its wait; loading
  /// continues for other requests.
  ///
  /// - Throws: the errors of ``load()``, which are kept and thrown again by later calls. Also `openingTimedOut`, and
  ///   `cancelled` if this task or the loading was cancelled; these two are not kept.
  public func load<each Value: Sendable>(
    _ property: repeat AssetProperty<each Value>
  ) async throws(MediaError) -> (repeat each Value) {
    var keys: [AssetKey] = []
    for key in repeat (each property).key { keys.append(key) }
    let values = try await loadValues(keys)
    return (repeat try value(each property, values))
  }

  /// Loads the tags of one format, like `AVAsset.loadMetadata(for:)`.
  /// `load(.availableMetadataFormats)` lists the formats.
  public func loadMetadata(for format: MetadataKeySpace) async throws(MediaError) -> [MetadataItem] {
    try await load(.assetMetadata).metadata(forFormat: format)
  }

  private func value<Value>(_ property: AssetProperty<Value>, _ values: AssetValues) throws(MediaError) -> Value {
    guard let value = property.read(values) else {
      throw MediaError(.cancelled, "\(property.key.rawValue) was not loaded", operation: "load")
    }
    return value
  }

  private func loadValues(_ keys: [AssetKey]) async throws(MediaError) -> AssetValues {
    let waiter = Waiter()
    let status = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiter.start(continuation) { completion in loadValues(forKeys: keys, completion: completion) }
      }
    } onCancel: {
      waiter.cancel()
    }
    switch status {
    case .loaded(let values): return values
    case .failed(let error): throw error
    case .unknown, .loading, .cancelled:
      throw MediaError(.cancelled, "loading was cancelled: \(displayPath)", operation: "load")
    }
  }

  /// Starts loading values and calls `completion` once, after all keys are loaded, failed or cancelled.
  ///
  /// Corresponds to `loadValuesAsynchronously(forKeys:completionHandler:)`. The caller must retain the asset while it
  /// waits: releasing the asset completes the request with `cancelled`. Loading ends when its last request ends.
  ///
  /// - Parameters:
  ///   - keys: The values to load.
  ///   - completion: receives the loaded values or the first failure. It is called immediately if the values are known,
  ///     otherwise on another thread. It must not block.
  @discardableResult
  package func loadValues(
    forKeys keys: [AssetKey], completion: @escaping @Sendable (AssetValueStatus<AssetValues>) -> Void
  ) -> AssetLoadRequest {
    let parts = Set(keys.map(\.part))
    let request = AssetLoadRequest(partCount: parts.count, completion: completion)
    // Without keys there is nothing to wait for.
    if parts.isEmpty { request.finish() }
    if parts.contains(.properties) {
      request.addPart { done in
        startLoading(state.propertiesLoading, known: knownStatus) { (asset, interrupt) throws(MediaError) in
          try asset.load(interrupt: interrupt)
        } completion: { status in
          done(status.map { AssetValues(properties: $0) })
        }
      }
    }
    if parts.contains(.metadata) {
      request.addPart { done in
        startLoading(state.metadataLoading, known: knownMetadata) { (asset, interrupt) throws(MediaError) in
          try asset.loadMetadata(interrupt: interrupt)
        } completion: { status in
          done(status.map { AssetValues(metadata: $0) })
        }
      }
    }
    return request
  }

  /// Cancels loading the parts that contain `keys`, for all requests. Threading: any thread; does not block.
  ///
  /// - The requests for these parts complete with `cancelled`. This is the status of the keys until one of them is
  ///   requested again, which starts a new loading. Loaded values stay loaded.
  /// - A part is cancelled as a whole: the tags, or all other properties.
  /// - If a request also waits for another part, that part is loaded first, and then the request completes.
  /// - ``cancelLoading()`` cancels everything, a blocking ``load()`` included.
  package func cancelLoading(_ keys: [AssetKey]) {
    let parts = Set(keys.map(\.part))
    if parts.contains(.properties) { state.propertiesLoading.cancel() }
    if parts.contains(.metadata) { state.metadataLoading.cancel() }
  }

  /// Starts loading a part on a thread that does not retain this asset. Returns a closure that removes the request.
  private func startLoading<Value>(
    _ loading: AssetLoading<Value>, known: AssetValueStatus<Value>?,
    load: @escaping @Sendable (Asset, Interrupt) throws(MediaError) -> Value,
    completion: @escaping AssetLoading<Value>.Completion
  ) -> @Sendable () -> Bool {
    let loader = Asset(loaderOf: self)
    let number = loading.request(loader, known: known, load: load, completion: completion)
    return { number.map { loading.removeRequest($0) } ?? false }
  }
}

/// A pending request for values of an asset. Threading: any.
package final class AssetLoadRequest: Sendable {
  private struct State {
    var remaining: Int
    var values = AssetValues()
    /// The first failure of a part.
    var failure: AssetValueStatus<AssetValues>?
    var completion: (@Sendable (AssetValueStatus<AssetValues>) -> Void)?
    var removals: [@Sendable () -> Bool] = []
  }

  private let state: Mutex<State>

  init(partCount: Int, completion: @escaping @Sendable (AssetValueStatus<AssetValues>) -> Void) {
    state = Mutex(State(remaining: partCount, completion: completion))
  }

  /// Adds one part to wait for.
  ///
  /// - Parameter start: starts loading the part with a completion, and returns a closure that removes this request.
  func addPart(_ start: (@escaping @Sendable (AssetValueStatus<AssetValues>) -> Void) -> @Sendable () -> Bool) {
    let remove = start { self.partEnded($0) }
    state.withLock { if $0.remaining > 0 { $0.removals.append(remove) } }
  }

  private func partEnded(_ status: AssetValueStatus<AssetValues>) {
    let isComplete = state.withLock { state in
      if let values = status.value {
        state.values.properties = values.properties ?? state.values.properties
        state.values.metadata = values.metadata ?? state.values.metadata
      } else if state.failure == nil {
        state.failure = status
      }
      state.remaining -= 1
      return state.remaining == 0
    }
    if isComplete { finish() }
  }

  /// Calls the completion, after all parts have ended.
  func finish() {
    let (completion, status) = state.withLock { state in
      defer {
        state.completion = nil
        state.removals = []
      }
      return (state.completion, state.failure ?? .loaded(state.values))
    }
    completion?(status)
  }

  /// Cancels the request: its completion is not called. Returns false if the completion has been called or is running.
  @discardableResult
  package func cancel() -> Bool {
    let (completion, removals) = state.withLock { state in
      defer {
        state.completion = nil
        state.removals = []
      }
      return (state.completion, state.removals)
    }
    for remove in removals { _ = remove() }
    return completion != nil
  }
}

/// A task that waits for an asset's values. The first result or cancellation resumes its continuation, once.
private final class Waiter: Sendable {
  private struct State {
    var continuation: CheckedContinuation<AssetValueStatus<AssetValues>, Never>?
    var request: AssetLoadRequest?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func start(
    _ continuation: CheckedContinuation<AssetValueStatus<AssetValues>, Never>,
    request makeRequest: (@escaping @Sendable (AssetValueStatus<AssetValues>) -> Void) -> AssetLoadRequest
  ) {
    let isCancelled = state.withLock { state in
      state.continuation = continuation
      return state.isCancelled
    }
    if isCancelled { return resume(.cancelled) }
    let request = makeRequest { self.resume($0) }
    let wasCancelledMeanwhile = state.withLock { state in
      state.request = request
      return state.isCancelled
    }
    if wasCancelledMeanwhile { request.cancel() }
  }

  func cancel() {
    let request = state.withLock { state in
      state.isCancelled = true
      return state.request
    }
    request?.cancel()
    resume(.cancelled)
  }

  private func resume(_ status: AssetValueStatus<AssetValues>) {
    let continuation = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: status)
  }
}
