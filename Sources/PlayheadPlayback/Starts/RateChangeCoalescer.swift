import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel

/// Applies rates that successive calls set for several players at one output frame.
///
/// A program that sets the rate of three players in a `for` loop expects them to stay synchronized. The changes wait
/// until no further call arrives within `EngineCore.coalescingNanoseconds`. Players with the same new rate then change
/// together.
///
/// Threading: confined to the control loop.
final class RateChangeCoalescer: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop, on which its timers fire.
  /// Twice the lead of a single player: several players decode at the same time, and a late player would lose
  /// synchronization.
  private static let leadMilliseconds = 2 * PlayerCore.rateChangeMilliseconds

  private unowned let engine: EngineCore
  private var pending: [(player: PlayerCore, rate: PlaybackRate)] = []
  private var timer: (any ControlTimer)?

  init(engine: EngineCore) { self.engine = engine }

  /// Changes the rate of a playing player, together with calls for other players shortly before or after this one.
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
      // A player that was paused meanwhile needs no change: the rate is its default rate.
      let players = changes.filter { $0.rate == rate && !$0.player.isClosed && $0.player.machine.rate != 0 }.map(
        \.player)
      if !players.isEmpty {
        JointRateChange(rate, leadMilliseconds: Self.leadMilliseconds, engine: engine) { _ in }.apply(to: players)
      }
    }
  }
}
