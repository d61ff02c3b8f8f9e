import MediaCore
import RealtimeAudio

/// The one thread on which all control happens: players, outputs, observers, connections.
///
/// It is a serial executor, so that actors can be pinned to it, and a source of time and timers, so that time can be
/// virtual. The daemon has one of its own; library users share `ThreadControlLoop.shared`.
public protocol ControlLoop: SerialExecutor {
  /// The present instant of the clock that this loop's timers run on.
  var now: HostTime { get }

  /// Runs `body` on the loop, after what was given to it before. Any thread; never blocks.
  func execute(_ body: @escaping @Sendable () -> Void)

  /// Runs `body` on the loop at `time`, or as soon as possible after it. On the loop.
  func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer
}

/// A scheduled call that has not happened yet.
public protocol ControlTimer: Sendable {
  /// The call will not happen. On the loop; without effect afterwards.
  func cancel()
}

extension ControlLoop {
  /// Traps when not called on the loop: for state that is confined to it.
  func assertIsolated() { preconditionIsolated("called off the control loop") }
}
