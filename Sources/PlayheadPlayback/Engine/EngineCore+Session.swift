import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The effects of the session on players.
extension EngineCore {
  /// Silences all players without changing their rates. If `reason` is nil, players whose rate is not 0 play again,
  /// with a fade-in of `fade`.
  func setWaitingReason(_ reason: WaitingReason?, fade: MediaTime, _ cause: ChangeCause) {
    output.batch {
      for player in allPlayers { player.setWaitingReason(reason, fade: fade, cause) }
    }
  }

  /// Pauses the players whose rate is not 0.
  func pausePlayers(_ cause: ChangeCause) {
    output.batch {
      for player in allPlayers where player.machine.rate != 0 { player.changeRate(to: 0, cause: cause) }
    }
  }
}

extension PlayerCore {
  /// Silences the player without changing its rate. If `reason` is nil, the player may play again, with a fade-in of
  /// `fade`.
  func setWaitingReason(_ reason: WaitingReason?, fade: MediaTime, _ cause: ChangeCause) {
    guard !isClosed, machine.intent.sessionWaitingReason != reason else { return }
    machine.setSessionWaitingReason(reason)
    applyRunning()
    if reason == nil { volume.fadeIn(over: fade) }
    output.postCommands()
    publish(cause)
    milestones.schedule()
  }
}
