import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The time of the output device, as `AudioPlayer.deviceCurrentTime` reports it. It begins at zero when the first
/// player on the output gets an item.
extension EngineCore {
  /// The maximum time until a start, a day.
  private static let longestWait = MediaTime(value: 86_400, timescale: 1)
  /// The additional lead for a player that is not prepared: its file must be opened and decoded.
  private static let preparationNanoseconds: Int64 = 50_000_000

  /// The device's time; zero until the output is open.
  var deviceTime: MediaTime {
    guard let format = output.format else { return .zero }
    return MediaTime(frame: output.heardFrame - currentDeviceTimeOrigin(), rate: format.sampleRateHz)
  }

  /// The output frame at which the device's time is zero.
  private func currentDeviceTimeOrigin() -> Int64 {
    let heard = output.heardFrame
    if !hasPreparedPlayers { deviceTimeOrigin = heard }
    // The frames of another device count from 0.
    if heard < deviceTimeOrigin { deviceTimeOrigin = 0 }
    return deviceTimeOrigin
  }

  /// The first output frame at `time` or after it; nil until the output is open.
  func outputFrame(atDeviceTime time: MediaTime) -> Int64? {
    guard let format = output.format,
      let frame = time.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity)
    else { return nil }
    return currentDeviceTimeOrigin() + frame
  }

  /// Returns the target of a start at a device time. Nil if the time is in the past or more than a day ahead, if the
  /// output cannot keep it, or if there will be no output.
  func startTarget(atDeviceTime time: MediaTime, of player: PlayerCore) -> JointStart.Target? {
    guard time.isNumeric, time > deviceTime, time - deviceTime <= Self.longestWait else { return nil }
    guard let format = output.format else {
      let willNeverOpen = output.state.status == .closed || output.state.status == .lost && !output.canRecover
      return willNeverOpen ? nil : .deviceTime(time)
    }
    guard let frame = outputFrame(atDeviceTime: time) else { return nil }
    // While no player runs, the device starts when the players are ready.
    guard anyPlayer(\.machine.isRunning) else { return .frame(frame) }
    var lead = output.commandLeadNanoseconds
    if !isVirtual, !player.jointChanges.isPrimed { lead += Self.preparationNanoseconds }
    return frame - output.heardFrame > lead * Int64(format.sampleRateHz) / 1_000_000_000 ? .frame(frame) : nil
  }

  /// Whether a player on the output has an item.
  private var hasPreparedPlayers: Bool { anyPlayer { !$0.machine.entries.isEmpty } }
}
