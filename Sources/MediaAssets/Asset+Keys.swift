import LibAV
import MediaCore
import Synchronization

/// Loading an asset's values without blocking. As AVAsynchronousKeyValueLoading.
///
/// Nothing here blocks: files are opened on a few threads of their own (`AssetWorkers`). What the file is and what tracks it has is
/// found out at once, when it is opened, its tags at another time; requests that come while that is done share it. It ends when nobody
/// waits for it any more, when the asset goes away, and when it takes longer than `openingNanoseconds`.
extension Asset {
  /// How far a value is. Asking never loads. Any thread.
  public func status<Value>(of property: AssetProperty<Value>) -> AssetValueStatus<Value> {
    switch status(of: property.key.part) {
    case .unknown: .unknown
    case .loading: .loading
    case .failed(let error): .failed(error)
    case .cancelled: .cancelled
    case .loaded(let values): property.read(values).map { .loaded($0) } ?? .unknown
    }
  }

  /// The status of a value by its key, with everything that was loaded for it. `status(of: .tracks)` means the typed
  /// `AssetProperty`.
  @_disfavoredOverload
  public func status(of key: AssetKey) -> AssetValueStatus<AssetValues> { status(of: key.part) }

  private func status(of part: AssetPart) -> AssetValueStatus<AssetValues> {
    switch part {
    case .properties:
      (knownStatus ?? state.keyLoading.status ?? .unknown).map { AssetValues(properties: $0) }
    case .metadata:
      (knownMetadata ?? state.metadataLoading.status ?? .unknown).map { AssetValues(metadata: $0) }
    }
  }

  /// Loads values, and gives them: `let (duration, tracks) = try await asset.load(.duration, .tracks)`.
  ///
  /// Returns at once when they are known. A task that is cancelled waits no more; the loading goes on for others who wait.
  ///
  /// Errors: those of `load()`, kept and thrown again next time; `openingTimedOut`, and `cancelled` when this task or the loading was
  /// cancelled, are not kept.
  public func load<each Value: Sendable>(
    _ property: repeat AssetProperty<each Value>
  ) async throws(MediaError) -> (repeat each Value) {
    var keys: [AssetKey] = []
    for key in repeat (each property).key { keys.append(key) }
    let values = try await loadValues(keys)
    return (repeat try value(each property, values))
  }

  /// Loads the tags of one format, as `AVAsset.loadMetadata(for:)`. `load(.availableMetadataFormats)` lists the formats.
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
        waiter.begin(continuation) { completion in loadValues(forKeys: keys, completion: completion) }
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

  /// Has values loaded, and says when that is done: `completion` is called once, however many keys there are, when all have
  /// been loaded, or failed, or their loading was cancelled: with what was loaded, or the first failure. It is called at once when
  /// they are known, otherwise on another thread, and must not block. As `loadValuesAsynchronously(forKeys:completionHandler:)`.
  ///
  /// Who asks keeps the asset for as long as it waits: when that goes away the answer is `cancelled`. The answer ends the waiting,
  /// and with the last one who waits the loading.
  @discardableResult
  public func loadValues(
    forKeys keys: [AssetKey], completion: @escaping @Sendable (AssetValueStatus<AssetValues>) -> Void
  ) -> AssetLoadRequest {
    let parts = Set(keys.map(\.part))
    let request = AssetLoadRequest(partCount: parts.count, completion: completion)
    // Nothing is left to wait for when no key is named.
    if parts.isEmpty { request.finish() }
    if parts.contains(.properties) {
      request.wait { done in
        begin(state.keyLoading, known: knownStatus) { (asset, interrupt) throws(MediaError) in
          try asset.load(interrupt: interrupt)
        } completion: { status in
          done(status.map { AssetValues(properties: $0) })
        }
      }
    }
    if parts.contains(.metadata) {
      request.wait { done in
        begin(state.metadataLoading, known: knownMetadata) { (asset, interrupt) throws(MediaError) in
          try asset.loadMetadata(interrupt: interrupt)
        } completion: { status in
          done(status.map { AssetValues(metadata: $0) })
        }
      }
    }
    return request
  }

  /// Ends loading what some keys are read with, for all who wait for that: their requests complete with `cancelled`, which
  /// is the keys' status until one is asked for again; that loads anew. What is loaded stays so. Any thread, does not block.
  ///
  /// What is read at one go is given up together: the tags, or all the rest. Another part that a request waits for, too, is loaded to
  /// its end, and then the request completes. `cancelLoading()` ends all, and a `load()` that blocks.
  public func cancelLoading(_ keys: [AssetKey]) {
    let parts = Set(keys.map(\.part))
    if parts.contains(.properties) { state.keyLoading.cancel() }
    if parts.contains(.metadata) { state.metadataLoading.cancel() }
  }

  /// Has a part loaded by a thread that does not keep this asset; answers how to wait for it no more.
  private func begin<Value>(
    _ loading: AssetLoading<Value>, known: AssetValueStatus<Value>?,
    load: @escaping @Sendable (Asset, Interrupt) throws(MediaError) -> Value,
    completion: @escaping AssetLoading<Value>.Completion
  ) -> @Sendable () -> Bool {
    let loader = Asset(loaderOf: self)
    let number = loading.request(loader, known: known, load: load, completion: completion)
    return { number.map { loading.forget($0) } ?? false }
  }
}

/// Somebody who waits for values of an asset. Threading: any.
public final class AssetLoadRequest: Sendable {
  private struct State {
    var remaining: Int
    var values = AssetValues()
    /// What was not loaded, the first of it.
    var failure: AssetValueStatus<AssetValues>?
    var completion: (@Sendable (AssetValueStatus<AssetValues>) -> Void)?
    var forgets: [@Sendable () -> Bool] = []
  }

  private let state: Mutex<State>

  init(partCount: Int, completion: @escaping @Sendable (AssetValueStatus<AssetValues>) -> Void) {
    state = Mutex(State(remaining: partCount, completion: completion))
  }

  /// Waits for one part: `begin` asks for it, with what is to be called, and answers how to forget that.
  func wait(_ begin: (@escaping @Sendable (AssetValueStatus<AssetValues>) -> Void) -> @Sendable () -> Bool) {
    let forget = begin { self.partEnded($0) }
    state.withLock { if $0.remaining > 0 { $0.forgets.append(forget) } }
  }

  private func partEnded(_ status: AssetValueStatus<AssetValues>) {
    let isOver = state.withLock { state in
      if let values = status.value {
        state.values.properties = values.properties ?? state.values.properties
        state.values.metadata = values.metadata ?? state.values.metadata
      } else if state.failure == nil {
        state.failure = status
      }
      state.remaining -= 1
      return state.remaining == 0
    }
    if isOver { finish() }
  }

  /// Everything has come.
  func finish() {
    let (completion, status) = state.withLock { state in
      defer {
        state.completion = nil
        state.forgets = []
      }
      return (state.completion, state.failure ?? .loaded(state.values))
    }
    completion?(status)
  }

  /// Waits no more: the completion is not called. False when it has been called, or is being called.
  @discardableResult
  public func cancel() -> Bool {
    let (completion, forgets) = state.withLock { state in
      defer {
        state.completion = nil
        state.forgets = []
      }
      return (state.completion, state.forgets)
    }
    for forget in forgets { _ = forget() }
    return completion != nil
  }
}

/// A task that waits for an asset's values. Its continuation is resumed once, by whoever comes first.
private final class Waiter: Sendable {
  private struct State {
    var continuation: CheckedContinuation<AssetValueStatus<AssetValues>, Never>?
    var request: AssetLoadRequest?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<AssetValueStatus<AssetValues>, Never>,
    ask: (@escaping @Sendable (AssetValueStatus<AssetValues>) -> Void) -> AssetLoadRequest
  ) {
    let isCancelled = state.withLock { state in
      state.continuation = continuation
      return state.isCancelled
    }
    if isCancelled { return resume(.cancelled) }
    let request = ask { self.resume($0) }
    let isTooLate = state.withLock { state in
      state.request = request
      return state.isCancelled
    }
    if isTooLate { request.cancel() }
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
