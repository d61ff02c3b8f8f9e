/// The reaction of players to the loss of their device. Players always wait for a sound server that disappears.
public enum LostDevicePolicy: String, Sendable, Hashable, CaseIterable {
  /// The players pause, and `play` uses the next device. AVFoundation's behavior.
  case pause
  /// The players wait at their position, and resume automatically when the same device reappears.
  case hold
  /// The players continue on the next device.
  case move
  /// The players continue without audible output, in real time, until the same device reappears.
  case null
}
