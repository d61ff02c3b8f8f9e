import MediaCore

/// What an engine is to play on, of what a sound server has.
public struct OutputSelection: Sendable, Hashable {
  /// What is asked for by name or nature.
  public enum Target: Sendable, Hashable {
    /// What the server has for those who ask for nothing.
    case serverDefault
    /// The device of this name. Where it is not there from the start it is waited for.
    case device(String)
    /// Silence, at real speed.
    case silence
  }

  public var target: Target
  /// Names of devices, the dearest first: the first that is there and not unplugged is played on, and taken again when it
  /// returns. A device that `target` names comes before them.
  public var preferred: [String]
  public var lostPolicy: LostDevicePolicy

  public init(
    _ target: Target = .serverDefault, preferred: [String] = [], lostPolicy: LostDevicePolicy = .pause
  ) {
    self.target = target
    self.preferred = preferred
    self.lostPolicy = lostPolicy
  }
}
