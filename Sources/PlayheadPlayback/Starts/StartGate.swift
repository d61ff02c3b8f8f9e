import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Delays the start of an idle device until all calls of a joint start have arrived.
///
/// While no player runs, the device's time does not advance. Successive calls, such as `AudioPlayer.play(atTime:)` for
/// three players, may therefore specify start times that are too near for a running device. Their start groups wait in
/// the gate until every player is ready, and no further call has arrived within `EngineCore.coalescingNanoseconds`.
/// Then the mixer gets all groups in one batch.
///
/// Threading: confined to the control loop.
final class StartGate: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop, on which its timers fire.

  /// The maximum wait for a player that does not become ready.
  private static let timeoutNanoseconds: Int64 = 2_000_000_000

  private unowned let engine: EngineCore
  private var groups: [JointStart] = []
  private var quietTimer: (any ControlTimer)?
  private var timeoutTimer: (any ControlTimer)?

  init(engine: EngineCore) { self.engine = engine }

  /// Makes a group wait if the device is idle.
  func add(_ group: JointStart) {
    guard engine.coalescingNanoseconds > 0, !engine.anyPlayer(\.machine.isRunning) else { return }
    if groups.isEmpty {
      timeoutTimer = engine.loop.schedule(
        at: engine.loop.now.advanced(byNanoseconds: Self.timeoutNanoseconds)
      ) { [weak self] in self?.open() }
    }
    groups.append(group)
    quietTimer?.cancel()
    quietTimer = engine.loop.schedule(
      at: engine.loop.now.advanced(byNanoseconds: engine.coalescingNanoseconds)
    ) { [weak self] in
      self?.quietTimer = nil
      self?.openIfReady()
    }
  }

  /// Returns whether a ready group may start now. False for a group that waits in the gate: the gate starts it.
  func allowsStart(of group: JointStart) -> Bool {
    guard groups.contains(where: { $0 === group }) else { return true }
    openIfReady()
    return false
  }

  func remove(_ group: JointStart) {
    guard groups.contains(where: { $0 === group }) else { return }
    groups.removeAll { $0 === group }
    openIfReady()
  }

  private func openIfReady() {
    if quietTimer == nil, groups.allSatisfy(\.isPrimed) { open() }
  }

  private func open() {
    for timer in [quietTimer, timeoutTimer] { timer?.cancel() }
    (quietTimer, timeoutTimer) = (nil, nil)
    let ready = groups.filter(\.isPrimed)
    groups = []
    engine.output.batch { for group in ready { group.start() } }
  }
}
