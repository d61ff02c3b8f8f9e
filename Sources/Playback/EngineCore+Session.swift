import MediaCore
import RealtimeAudio

/// What the session has players do.
extension EngineCore {
  /// Nothing sounds, and rates stay as they are; nil: what would play does, faded in.
  func holdPlayers(_ reason: WaitingReason?, fade: MediaTime, _ cause: ChangeCause) {
    output.batch {
      for player in allPlayers { player.hold(reason, fade: fade, cause) }
    }
  }

  /// Players that would play are paused.
  func pausePlayers(_ cause: ChangeCause) {
    output.batch {
      for player in allPlayers where player.machine.rate != 0 { player.changeRate(to: 0, cause: cause) }
    }
  }
}

extension PlayerCore {
  /// Nothing of the player sounds, whatever its rate; nil: it does, faded in.
  func hold(_ reason: WaitingReason?, fade: MediaTime, _ cause: ChangeCause) {
    guard !isClosed, machine.holdReason != reason else { return }
    machine.holdReason = reason
    applyRunning()
    if reason == nil { fadeIn(over: fade) }
    output.commit()
    publish(cause)
    aimTimer()
  }

  /// Lets what goes on swell from silence. It is a gain of its own: the volume, and what fades it, stay as they are.
  private func fadeIn(over duration: MediaTime) {
    guard machine.rate != 0, !isMuted, let core = output.core, let inputIndex,
      let frameCount = duration.frameIndex(rate: core.format.sampleRateHz, rounding: .towardPositiveInfinity),
      frameCount > 0
    else { return }
    core.setMuted(true, rampFrameCount: 0, input: inputIndex)
    core.setMuted(false, rampFrameCount: frameCount, input: inputIndex)
  }
}
