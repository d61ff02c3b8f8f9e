import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

extension FadeCurve {
  fileprivate var rampCurve: RampCurve {
    switch self {
    case .linear: .linear
    case .equalPower: .equalPower
    case .sCurve: .sCurve
    }
  }
}

/// The action at the end of a fade of the volume.
public enum FadeEndAction: String, Sendable, Hashable, CaseIterable {
  /// Playback continues.
  case none
  /// The player pauses at the output frame at which the fade ends.
  case pause
  /// The player pauses at that frame, and seeks to the beginning of the current item.
  case stop
}

/// The outcome of a fade of the volume.
public enum FadeOutcome: String, Sendable, Hashable, CaseIterable {
  /// The end of the fade was heard.
  case finished
  /// Another fade or volume replaced the fade. Its end action is cancelled.
  case replaced
  /// The player is paused, or waits for something other than audio to be decoded. The fade remains, and its end is not
  /// reported.
  case notPlaying
  /// The player was closed.
  case closed
}

/// Fades of the volume.
///
/// The mixer computes the gain of each frame, and stops the player at the exact end of a fade with an end action. It
/// reports the frame at which a fade begins. The end is a milestone of the output clock, at which the player's rate
/// follows.
extension PlayerVolume {
  /// A fade whose end has not been heard.
  struct Fade {
    let id: UInt64
    let frameCount: Int64
    let endAction: FadeEndAction
    /// The output frame at which the volume is reached; nil until the mixer has reported the beginning.
    var endFrame: Int64?
    /// Called once with the outcome; nil after the call.
    var completion: (@Sendable (FadeOutcome) -> Void)?
  }

  /// The maximum duration of a fade: one day.
  private static let longestFade = MediaTime(value: 86_400, timescale: 1)

  /// Whether a fade advances towards its end: the player plays, or waits only until audio is decoded or until its
  /// start.
  var isFading: Bool {
    guard fade != nil, player.machine.rate != 0 else { return false }
    switch player.machine.reasonForWaitingToPlay {
    case nil, .toMinimizeStalls, .evaluatingBufferingRate, .startTimeNotReached: return true
    case .noItemToPlay, .currentItemFailed, .outputUnavailable, .interrupted, .categoryForbidsPlayback: return false
    }
  }

  /// Implements `PlayerControl.fade`.
  func fade(
    to newVolume: Float, duration: MediaTime, curve: FadeCurve, endAction: FadeEndAction,
    completion: (@Sendable (FadeOutcome) -> Void)?
  ) throws(MediaError) {
    try check(newVolume, operation: "fade")
    guard duration.isNumeric, duration >= .zero, duration <= Self.longestFade else {
      throw MediaError(.invalidTime, "fade duration must be from 0 s to a day (got \(duration) s)", operation: "fade")
    }
    settleFade()
    endFade(.replaced)
    gain = newVolume
    newestFadeID += 1
    var newFade = Fade(id: newestFadeID, frameCount: 0, endAction: endAction, completion: completion)
    guard let (core, input) = player.mixerInput else {
      // Without an output nothing is heard, so the fade is already at its end.
      fade = newFade
      return fadeEndHeard()
    }
    let frameCount = duration.frameIndex(rate: core.format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0
    newFade = Fade(
      id: newestFadeID, frameCount: max(frameCount, rampFrameCount(of: core)), endAction: endAction,
      completion: completion)
    fade = newFade
    core.setGain(
      newVolume, rampFrameCount: newFade.frameCount, curve: curve.rampCurve, rampID: newFade.id,
      stopsAtEnd: endAction != .none, input: input)
    player.output.postCommands()
    player.publish(.request)
  }

  /// Handles the report of the mixer that a fade begins at an output frame.
  func rampBegan(_ id: UInt64, atFrame frame: Int64) {
    guard let current = fade, current.id == id else { return }
    fade?.endFrame = frame + current.frameCount
  }

  /// Removes the fade, and reports its outcome at the next `publish`. Unless its end was heard, the caller must set the
  /// gain in the mixer, which cancels the end action.
  func endFade(_ outcome: FadeOutcome) {
    guard let ended = fade else { return }
    fade = nil
    report(ended.completion, outcome)
  }

  func findNextMilestone() -> Int64? { fade?.endFrame }

  func milestoneHeard(at frame: Int64) { fadeEndHeard() }

  /// Ends the fade, and carries out its end action if the player plays.
  private func fadeEndHeard() {
    guard let ended = fade else { return }
    endFade(.finished)
    guard ended.endAction != .none, player.machine.rate != 0 else {
      // The player is paused already: the mixer must not stop it later.
      if ended.endAction != .none, let (core, input) = player.mixerInput {
        core.setGain(gain, rampFrameCount: 0, input: input)
        player.output.postCommands()
      }
      return player.publish(.fadeEnded)
    }
    perform(ended.endAction)
  }

  /// Carries out the end action of a fade if the player plays.
  func perform(_ action: FadeEndAction) {
    guard player.machine.rate != 0 else { return }
    switch action {
    case .none: break
    case .pause: player.changeRate(to: 0, cause: .fadeEnded)
    case .stop: player.stop(.fadeEnded)
    }
  }

  /// Handles the end of a fade that has been heard, and whose milestone is still pending.
  func settleFade() {
    if let endFrame = fade?.endFrame, endFrame <= player.output.heardFrame { fadeEndHeard() }
  }

  /// Completes a fade that does not advance, because the player does not play.
  func stateWillPublish() {
    guard let completion = fade?.completion, !isFading else { return }
    fade?.completion = nil
    report(completion, .notPlaying)
  }

  /// Adds a completion to the pending calls.
  private func report(_ completion: (@Sendable (FadeOutcome) -> Void)?, _ outcome: FadeOutcome) {
    guard let completion else { return }
    player.calls.add(isDeferred: true) { _ in completion(outcome) }
  }
}
