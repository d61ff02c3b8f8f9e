import MediaCore
import RealtimeAudio

/// How a fade moves the volume.
public enum FadeCurve: String, Sendable, Hashable, CaseIterable {
  /// In a straight line.
  case linear
  /// Its square in a straight line: two players that are faded across each other, one in and one out, stay as loud.
  case equalPower = "equal-power"

  fileprivate var rampCurve: RampCurve {
    switch self {
    case .linear: .linear
    case .equalPower: .equalPower
    }
  }
}

/// How loud a player is, and where between left and right.
extension PlayerCore {
  /// A fade lasts a day at most.
  private static let longestFade = MediaTime(value: 86_400, timescale: 1)

  func setVolume(_ newVolume: Float) throws(MediaError) {
    try checkVolume(newVolume, operation: "volume")
    volume = newVolume
    apply { core, input, ramp in core.setGain(newVolume, rampFrameCount: ramp, input: input) }
  }

  /// Moves the volume over output time; it reads as its target from now on.
  func fade(to newVolume: Float, duration: MediaTime, curve: FadeCurve) throws(MediaError) {
    try checkVolume(newVolume, operation: "fade")
    guard duration.isNumeric, duration >= .zero, duration <= Self.longestFade else {
      throw MediaError(.invalidTime, "a fade lasts from 0 s to a day, not \(duration) s", operation: "fade")
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
      throw MediaError(.invalidArgument, "pan is from -1 to 1, not \(newPan)", operation: "pan")
    }
    pan = newPan
    apply { core, input, ramp in core.setPan(newPan, rampFrameCount: ramp, input: input) }
  }

  /// Everything as it is to be, at once: for a new device.
  func applyLevels(to core: RenderCore, input: Int) {
    core.setGain(volume, rampFrameCount: 0, input: input)
    core.setMuted(isMuted, rampFrameCount: 0, input: input)
    core.setPan(pan, rampFrameCount: 0, input: input)
  }

  private func checkVolume(_ volume: Float, operation: String) throws(MediaError) {
    guard volume >= 0, volume <= 1 else {
      throw MediaError(.invalidArgument, "volume is from 0 to 1, not \(volume)", operation: operation)
    }
  }

  /// What sounds moves to what it is to be over 5 ms, so that the change does not click.
  private func apply(_ change: (RenderCore, _ input: Int, _ rampFrameCount: Int64) -> Void) {
    if let inputIndex, let core = output.core {
      let isSounding = machine.timeControlStatus == .playing
      change(core, inputIndex, isSounding ? Int64(core.format.sampleRateHz / 200) : 0)
      output.commit()
    }
    publish(.request)
  }
}
