import MediaCore
import PlayerModel
import RealtimeAudio

/// The effects of the session on players.
extension EngineCore {
  /// Silences all players without changing their rates. If `reason` is nil, players with a rate play again, with a
  /// fade-in.
  func setWaitingReason(_ reason: WaitingReason?, fade: MediaTime, _ cause: ChangeCause) {
    output.batch {
      for player in allPlayers { player.setWaitingReason(reason, fade: fade, cause) }
    }
  }

  /// Pauses the players that would play.
  func pausePlayers(_ cause: ChangeCause) {
    output.batch {
      for player in allPlayers where player.machine.rate != 0 { player.changeRate(to: 0, cause: cause) }
    }
  }
}

extension PlayerCore {
  /// Silences the player whatever its rate; if `reason` is nil, it plays again with a fade-in.
  func setWaitingReason(_ reason: WaitingReason?, fade: MediaTime, _ cause: ChangeCause) {
    guard !isClosed, machine.sessionWaitingReason != reason else { return }
    machine.setSessionWaitingReason(reason)
    applyRunning()
    if reason == nil { fadeIn(over: fade) }
    output.commit()
    publish(cause)
    scheduleNextMilestone()
  }

  /// Fades in resumed playback with a separate gain: the volume and its fades do not change.
  private func fadeIn(over duration: MediaTime) {
    guard machine.rate != 0, !isMuted, let core = output.core, let inputIndex,
      let frameCount = duration.frameIndex(rate: core.format.sampleRateHz, rounding: .towardPositiveInfinity),
      frameCount > 0
    else { return }
    core.setMuted(true, rampFrameCount: 0, input: inputIndex)
    core.setMuted(false, rampFrameCount: frameCount, input: inputIndex)
  }
}
