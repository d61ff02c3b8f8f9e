import MediaCore
import RealtimeAudio

/// A control loop on a thread of its own, which sleeps until there is something to do: a job, a timer, or a descriptor that is
/// watched (epoll(7)).
///
/// When the last reference is gone it does what has been given to it, waits for its timers, and ends.
public final class ThreadControlLoop: ControlLoop {
  /// The loop that library users share unless they make their own.
  public static let shared = ThreadControlLoop(name: "playhead-control")

  private let core: LoopCore

  /// Starts the loop. Needs three descriptors, and a thread.
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

  /// Has `handler` called on the loop when something of `events` happens at `descriptor`, and when it fails or the other end is gone,
  /// until the watch is cancelled; that comes before the descriptor is closed. On the loop.
  ///
  /// Errors: `output-unavailable` when the system has no room for it.
  package func watch(_ descriptor: Int32, for events: DescriptorEvents, _ handler: any DescriptorHandler)
    throws(MediaError) -> DescriptorWatch
  {
    try core.watch(descriptor, for: events, handler)
  }

  /// Runs `body` on the loop and waits for what it answers. Not on the loop.
  package func perform<Result>(_ body: @escaping () -> Result) -> Result {
    precondition(!core.isCurrent, "a loop that waits for itself")
    // Each is used by one thread at a time: this one waits.
    nonisolated(unsafe) let body = body
    let result = WakeSignal<Result?>(nil)
    execute {
      nonisolated(unsafe) let value = body()
      result.update { $0 = value }
    }
    guard let value = result.wait({ $0 }) else { preconditionFailure("it has no deadline") }
    return value
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { precondition(core.isCurrent, "not on the control loop") }

  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }
}
