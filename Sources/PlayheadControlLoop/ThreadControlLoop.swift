import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A control loop on a separate thread, which sleeps until a job, a timer or a watched descriptor needs work
/// (epoll(7)).
///
/// After the release of the last reference, the loop runs the remaining jobs, waits for its timers, and ends.
public final class ThreadControlLoop: ControlLoop {
  /// The loop that library users share by default.
  public static let shared = ThreadControlLoop(name: "playhead-control")

  private let core: LoopCore

  /// Starts the loop. Needs three descriptors and a thread.
  public init(name: String = "playhead-control") {
    core = LoopCore()
    NamedThread.detached(name: name) { [core] in core.run() }
  }

  deinit { core.end() }

  public var now: HostTime { .now }

  public func execute(_ body: @escaping @Sendable () -> Void) { core.execute(body) }

  public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer {
    core.schedule(at: time, body)
  }

  /// Watches a descriptor until the watch is cancelled. Must be called on the loop.
  ///
  /// `handler` is called on the loop for each event of `events`, for errors and for a closed connection. Cancel the
  /// watch before closing the descriptor.
  ///
  /// - Throws: `outputUnavailable` if the system cannot watch another descriptor.
  package func watch(_ descriptor: Int32, for events: DescriptorEvents, _ handler: any DescriptorHandler)
    throws(MediaError) -> DescriptorWatch
  {
    try core.watch(descriptor, for: events, handler)
  }

  /// Runs `body` on the loop and waits for its result. Must not be called on the loop.
  package func perform<Result>(_ body: @escaping () -> Result) -> Result { perform(body, whileRunning: {}).0 }

  /// Runs `body` on the loop and `other` on the calling thread, and waits for both results. Must not be called on the
  /// loop.
  package func perform<Result, Other>(
    _ body: @escaping () -> Result, whileRunning other: () -> Other
  ) -> (Result, Other) {
    precondition(!core.isCurrent, "the control loop cannot wait for itself")
    // Only the loop uses `body`, and only one thread at a time uses the result.
    nonisolated(unsafe) let body = body
    let result = ConditionMutex<Result?>(nil)
    execute {
      nonisolated(unsafe) let value = body()
      result.update { $0 = value }
    }
    let otherValue = other()
    guard let value = result.wait({ $0 }) else { preconditionFailure("a wait without a deadline ended") }
    return (value, otherValue)
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { precondition(core.isCurrent, "not on the control loop") }

  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }
}
