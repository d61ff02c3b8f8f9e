import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The volume of a player with its fades, muting and pan.
final class PlayerVolume: PlayerFeature {
  unowned let player: PlayerCore
  /// The target of a fade, from its beginning on.
  var gain: Float = 1
  private(set) var isMuted = false
  private(set) var pan: Float = 0
  /// The fade whose end has not been heard.
  var fade: Fade?
  var newestFadeID: UInt64 = 0
  /// The end action of a fade that the loss of the device ended.
  private var lostEndAction = FadeEndAction.none

  init(_ player: PlayerCore) { self.player = player }

  func setVolume(_ newVolume: Float) throws(MediaError) {
    try player.checkOpen("setVolume")
    try check(newVolume, operation: "setVolume")
    settleFade()
    endFade(.replaced)
    gain = newVolume
    apply { core, input, ramp in core.setGain(newVolume, rampFrameCount: ramp, input: input) }
  }

  func setMuted(_ muted: Bool) {
    isMuted = muted
    apply { core, input, ramp in core.setMuted(muted, rampFrameCount: ramp, input: input) }
  }

  func setPan(_ newPan: Float) throws(MediaError) {
    try player.checkOpen("setPan")
    guard newPan >= -1, newPan <= 1 else {
      throw MediaError(.invalidArgument, "pan must be between -1 and 1 (got \(newPan))", operation: "setPan")
    }
    pan = newPan
    apply { core, input, ramp in core.setPan(newPan, rampFrameCount: ramp, input: input) }
  }

  func check(_ volume: Float, operation: String) throws(MediaError) {
    guard volume >= 0, volume <= 1 else {
      throw MediaError(.invalidArgument, "volume must be between 0 and 1 (got \(volume))", operation: operation)
    }
  }

  /// The length of the shortest ramp of a gain: 5 ms while the player is audible, so that the change does not click.
  func rampFrameCount(of core: RenderCore) -> Int64 {
    player.machine.timeControlStatus == .playing ? Int64(core.format.sampleRateHz / 200) : 0
  }

  private func apply(_ change: (RenderCore, _ input: Int, _ rampFrameCount: Int64) -> Void) {
    if let (core, input) = player.mixerInput {
      change(core, input, rampFrameCount(of: core))
      player.output.postCommands()
    }
    player.publish(.request)
  }

  /// Fades in resumed playback with the gain of muting, so that the volume and its fades do not change.
  func fadeIn(over duration: MediaTime) {
    guard player.machine.rate != 0, !isMuted, let (core, input) = player.mixerInput,
      let frameCount = duration.frameIndex(rate: core.format.sampleRateHz, rounding: .towardPositiveInfinity),
      frameCount > 0
    else { return }
    core.setMuted(true, rampFrameCount: 0, input: input)
    core.setMuted(false, rampFrameCount: frameCount, input: input)
  }

  // MARK: - The output

  func outputDidStart(_ core: RenderCore, input: Int) {
    core.setGain(gain, rampFrameCount: 0, input: input)
    core.setMuted(isMuted, rampFrameCount: 0, input: input)
    core.setPan(pan, rampFrameCount: 0, input: input)
    player.output.postCommands()
  }

  /// The next output begins with the final volume.
  func outputWillStop() {
    lostEndAction = fade?.endAction ?? .none
    endFade(.finished)
  }

  func outputDidStop() {
    let action = lostEndAction
    lostEndAction = .none
    perform(action)
  }

  func playerWillClose() { endFade(.closed) }
}
