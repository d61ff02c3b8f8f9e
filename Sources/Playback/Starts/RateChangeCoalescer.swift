import ControlLoop
import MediaCore
import PlayerModel

/// Applies rates that are set in a row for several players at one output frame.
///
/// A program that sets the rate of three players in a loop expects them to stay in step. The changes wait until no
/// further call arrives within `EngineCore.coalescingNanoseconds`. Players with the same new rate then change together.
///
/// Threading: confined to the control loop.
final class RateChangeCoalescer: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop; timers carry it there.
  /// Twice the lead of a single player: several players decode at the same time, and a late player would be out of
  /// step.
  private static let leadMilliseconds = 2 * PlayerCore.changeMilliseconds

  private unowned let engine: EngineCore
  private var pending: [(player: PlayerCore, rate: PlaybackRate)] = []
  private var timer: (any ControlTimer)?

  init(engine: EngineCore) { self.engine = engine }

  /// Changes the rate of a playing player, together with the calls just before and after this one.
  func change(_ player: PlayerCore, to rate: PlaybackRate) {
    guard engine.coalescingNanoseconds > 0 else { return player.changeRate(to: rate.value) }
    pending.removeAll { $0.player === player }
    pending.append((player, rate))
    timer?.cancel()
    timer = engine.loop.schedule(at: engine.loop.now.advanced(byNanoseconds: engine.coalescingNanoseconds)) {
      [weak self] in self?.apply()
    }
  }

  private func apply() {
    timer = nil
    let changes = pending
    pending = []
    for rate in Set(changes.map(\.rate)) {
      // A player that was paused meanwhile has the rate as its default.
      let players = changes.filter { $0.rate == rate && !$0.player.isClosed && $0.player.machine.rate != 0 }.map(
        \.player)
      if !players.isEmpty {
        RateGroup(rate, leadMilliseconds: Self.leadMilliseconds, engine: engine) { _ in }.apply(to: players)
      }
    }
  }
}
