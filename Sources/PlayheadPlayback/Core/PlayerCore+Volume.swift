import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Volume, muting and pan.
extension PlayerCore {
  func setVolume(_ newVolume: Float) throws(MediaError) {
    try checkOpen("setVolume")
    try checkVolume(newVolume, operation: "setVolume")
    settleFade()
    endFade(.replaced)
    volume = newVolume
    apply { core, input, ramp in core.setGain(newVolume, rampFrameCount: ramp, input: input) }
  }

  func setMuted(_ muted: Bool) {
    isMuted = muted
    apply { core, input, ramp in core.setMuted(muted, rampFrameCount: ramp, input: input) }
  }

  func setPan(_ newPan: Float) throws(MediaError) {
    try checkOpen("setPan")
    guard newPan >= -1, newPan <= 1 else {
      throw MediaError(.invalidArgument, "pan must be between -1 and 1 (got \(newPan))", operation: "setPan")
    }
    pan = newPan
    apply { core, input, ramp in core.setPan(newPan, rampFrameCount: ramp, input: input) }
  }

  /// Sets volume, muting and pan in the mixer of a new device, without a ramp.
  func applyGains(to core: RenderCore, input: Int) {
    core.setGain(volume, rampFrameCount: 0, input: input)
    core.setMuted(isMuted, rampFrameCount: 0, input: input)
    core.setPan(pan, rampFrameCount: 0, input: input)
  }

  func checkVolume(_ volume: Float, operation: String) throws(MediaError) {
    guard volume >= 0, volume <= 1 else {
      throw MediaError(.invalidArgument, "volume must be between 0 and 1 (got \(volume))", operation: operation)
    }
  }

  /// The length of the shortest ramp of a gain: 5 ms while the player is audible, so that the change does not click.
  func gainRampFrameCount(of core: RenderCore) -> Int64 {
    machine.timeControlStatus == .playing ? Int64(core.format.sampleRateHz / 200) : 0
  }

  /// Applies a change with a ramp of 5 ms while the player is audible, so that it does not click.
  private func apply(_ change: (RenderCore, _ input: Int, _ rampFrameCount: Int64) -> Void) {
    if let inputIndex, let core = output.core {
      change(core, inputIndex, gainRampFrameCount(of: core))
      output.postCommands()
    }
    publish(.request)
  }
}
