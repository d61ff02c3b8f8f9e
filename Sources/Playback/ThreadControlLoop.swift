import MediaCore
import RealtimeAudio

/// A control loop on a thread of its own, for users of the library. It sleeps until there is something to do.
public final class ThreadControlLoop: ControlLoop {
  /// The loop that library users share unless they make their own.
  public static let shared = ThreadControlLoop(name: "playhead-control")

  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var timers = TimerHeap()
    var thread: UInt64 = 0
  }

  private let signal = WakeSignal(State())

  /// Starts the loop. It lives as long as the process.
  public init(name: String = "playhead-control") {
    let signal = signal
    NamedThread.detached(name: name) { Self.run(signal) }
  }

  public var now: HostTime { .now }

  public func execute(_ body: @escaping @Sendable () -> Void) { signal.update { $0.jobs.append(body) } }

  public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer {
    signal.update { $0.timers.add(at: time, body) }
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { precondition(isIsolatingCurrentContext() == true, "not on the control loop") }

  public func isIsolatingCurrentContext() -> Bool? {
    let current = ThreadIdentity.current
    return signal.withState { $0.thread == current }
  }

  private static func run(_ signal: WakeSignal<State>) {
    let current = ThreadIdentity.current
    signal.withState { $0.thread = current }
    while true {
      let deadline = signal.withState { $0.jobs.isEmpty ? $0.timers.nextTime() : HostTime(nanoseconds: 0) }
      var jobs =
        signal.wait(until: deadline) { state -> [@Sendable () -> Void]? in
          if state.jobs.isEmpty {
            // A timer that was set meanwhile may be earlier than the deadline: look again.
            return state.timers.nextTime() == deadline ? nil : []
          }
          defer { state.jobs = [] }
          return state.jobs
        } ?? []
      let now = HostTime.now
      while let timer = signal.withState({ $0.timers.popDue(at: now) }) {
        // A job that runs before it may cancel it.
        jobs.append { if !timer.isCancelled { timer.body() } }
      }
      for job in jobs { job() }
    }
  }
}
