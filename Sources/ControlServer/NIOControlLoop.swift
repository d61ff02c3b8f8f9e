import MediaCore
import NIOCore
import Playback

/// A NIO event loop as the control loop: connections and players share one thread, so that a handler calls a player
/// without a task, a hop or a lock.
public final class NIOControlLoop: ControlLoop {
  /// The loop that everything runs on.
  public let eventLoop: any EventLoop

  public init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// `CLOCK_MONOTONIC`, which is also what NIO's timers run on.
  public var now: HostTime { HostTime(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

  public func execute(_ body: @escaping @Sendable () -> Void) { eventLoop.execute(body) }

  public func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer {
    let timer = Timer(body)
    let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, time.nanoseconds)))
    do {
      timer.callback = try eventLoop.scheduleCallback(at: deadline, handler: timer)
    } catch {
      // The loop is shutting down: nothing that was to happen later happens any more.
      timer.cancel()
    }
    return timer
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { eventLoop.preconditionInEventLoop() }

  public func isIsolatingCurrentContext() -> Bool? { eventLoop.inEventLoop }

  /// One scheduled call.
  private final class Timer: NIOScheduledCallbackHandler, ControlTimer, @unchecked Sendable {
    // `@unchecked Sendable`: confined to the event loop.
    private var body: (@Sendable () -> Void)?
    var callback: NIOScheduledCallback?

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func handleScheduledCallback(eventLoop: some EventLoop) {
      let body = body
      forget()
      body?()
    }

    func didCancelScheduledCallback(eventLoop: some EventLoop) { forget() }

    func cancel() {
      let callback = callback
      forget()
      callback?.cancel()
    }

    private func forget() {
      body = nil
      callback = nil
    }
  }
}
