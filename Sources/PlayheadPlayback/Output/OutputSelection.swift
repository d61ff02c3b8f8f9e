import PlayheadMediaCore

/// The selection of an output device of a sound server.
public struct OutputSelection: Sendable, Hashable {
  /// The requested device.
  public enum Target: Sendable, Hashable {
    /// The server's default device.
    case serverDefault
    /// The device with this name. If it is not available at the start, the output waits for it.
    case device(String)
    /// Silence, at real-time rate.
    case silence
  }

  /// The requested device.
  public var target: Target
  /// The names of output devices in order of preference. Playback uses the first one that is available and not
  /// unplugged, and returns to it when it reappears. A device that `target` names comes first.
  public var preferred: [String]
  /// The behaviour of players when the device disappears. Default: they pause.
  public var lostPolicy: LostDevicePolicy

  /// Creates a selection, by default of the server's default device.
  public init(
    _ target: Target = .serverDefault, preferred: [String] = [], lostPolicy: LostDevicePolicy = .pause
  ) {
    self.target = target
    self.preferred = preferred
    self.lostPolicy = lostPolicy
  }
}
