import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The single thread that controls players, outputs, observers and connections.
///
/// A control loop is a serial executor, so actors can be pinned to it. The loop is also the source of time and timers,
/// so time can be virtual. The daemon has a separate loop; library users share ``ThreadControlLoop/shared``.
public protocol ControlLoop: SerialExecutor {
  /// The current instant of the clock of this loop's timers.
  var now: HostTime { get }

  /// Runs `body` on the loop, after the bodies that were passed earlier. Any thread; never blocks.
  func execute(_ body: @escaping @Sendable () -> Void)

  /// Runs `body` on the loop at `time` or as soon as possible after it. Must be called on the loop.
  func schedule(at time: HostTime, _ body: @escaping @Sendable () -> Void) -> any ControlTimer
}

/// A scheduled call that has not happened yet.
public protocol ControlTimer: Sendable {
  /// Cancels the call. Must be called on the loop; no effect after the call has happened.
  func cancel()
}

extension ControlLoop {
  /// Traps if not called on the loop. For state that is confined to the loop.
  func assertIsolated() { preconditionIsolated("not called on the control loop") }
}
