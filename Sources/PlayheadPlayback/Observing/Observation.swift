/// A handler that receives the elements of a sequence, until `cancel` or the end of the sequence.
public struct Observation: Sendable {
  private let task: Task<Void, Never>

  fileprivate init(_ task: Task<Void, Never>) { self.task = task }

  /// Ends the observation. On the main actor the handler is not called any more. On an executor one more call may
  /// begin: wait for ``finish()`` to be sure.
  public func cancel() { task.cancel() }

  /// Waits for the end of the sequence, or until a cancelled observation has ended.
  public func finish() async { await task.value }
}

extension AsyncSequence where Self: Sendable, Element: Sendable, Failure == Never {
  /// Calls a handler on the main actor with each element, in order. The handler may block: audio is not affected.
  ///
  /// <!-- listing: observe-main-actor -->
  /// ```swift
  /// let observation = try await player.times(forInterval: .milliseconds(100)).observe(onMainActor: { observation in
  ///   showTime(observation.time)
  /// })
  /// observation.cancel()
  /// ```
  @discardableResult
  public func observe(onMainActor handler: @escaping @MainActor @Sendable (Element) -> Void) -> Observation {
    Observation(
      Task { @MainActor in
        for await element in self {
          if Task.isCancelled { return }
          handler(element)
        }
      })
  }

  /// Calls a handler on an executor with each element, in order. The handler may block: audio is not affected.
  ///
  /// - Parameters:
  ///   - executor: Where the handler runs, for example a queue of the program. Nil: the global concurrent executor.
  ///   - handler: Called with each element.
  @discardableResult
  public func observe(
    on executor: (any TaskExecutor)? = nil, _ handler: @escaping @Sendable (Element) async -> Void
  ) -> Observation {
    Observation(
      Task.detached(executorPreference: executor) {
        for await element in self {
          if Task.isCancelled { return }
          await handler(element)
        }
      })
  }
}
