import MediaCore
import PlayerModel
import RealtimeAudio

/// The curve of a fade of the volume.
public enum FadeCurve: String, Sendable, Hashable, CaseIterable {
  /// The gain changes linearly.
  case linear
  /// The square of the gain changes linearly: in a cross-fade of two players the total power is constant.
  case equalPower = "equal-power"

  fileprivate var rampCurve: RampCurve {
    switch self {
    case .linear: .linear
    case .equalPower: .equalPower
    }
  }
}

/// Volume, muting and pan.
extension PlayerCore {
  /// The maximum duration of a fade: one day.
  private static let longestFade = MediaTime(value: 86_400, timescale: 1)

  func setVolume(_ newVolume: Float) throws(MediaError) {
    try checkVolume(newVolume, operation: "setVolume")
    volume = newVolume
    apply { core, input, ramp in core.setGain(newVolume, rampFrameCount: ramp, input: input) }
  }

  /// Fades the volume. `duration` counts in output time. The property `volume` has the target value at once.
  func fade(to newVolume: Float, duration: MediaTime, curve: FadeCurve) throws(MediaError) {
    try checkVolume(newVolume, operation: "fade")
    guard duration.isNumeric, duration >= .zero, duration <= Self.longestFade else {
      throw MediaError(.invalidTime, "fade duration must be from 0 s to a day (got \(duration) s)", operation: "fade")
    }
    volume = newVolume
    apply { core, input, ramp in
      let frameCount = duration.frameIndex(rate: core.format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0
      core.setGain(newVolume, rampFrameCount: max(frameCount, ramp), curve: curve.rampCurve, input: input)
    }
  }

  func setMuted(_ muted: Bool) {
    isMuted = muted
    apply { core, input, ramp in core.setMuted(muted, rampFrameCount: ramp, input: input) }
  }

  func setPan(_ newPan: Float) throws(MediaError) {
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

  private func checkVolume(_ volume: Float, operation: String) throws(MediaError) {
    guard volume >= 0, volume <= 1 else {
      throw MediaError(.invalidArgument, "volume must be between 0 and 1 (got \(volume))", operation: operation)
    }
  }

  /// Applies a change with a ramp of 5 ms while the player is audible, so that it does not click.
  private func apply(_ change: (RenderCore, _ input: Int, _ rampFrameCount: Int64) -> Void) {
    if let inputIndex, let core = output.core {
      let isAudible = machine.timeControlStatus == .playing
      change(core, inputIndex, isAudible ? Int64(core.format.sampleRateHz / 200) : 0)
      output.postCommands()
    }
    publish(.request)
  }
}
