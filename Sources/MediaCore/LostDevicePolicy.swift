/// What becomes of players whose device goes away. A sound server that goes away is another matter: it is waited for.
public enum LostDevicePolicy: String, Sendable, Hashable, CaseIterable {
  /// They pause, and the next device is taken: `play` is heard there. AVFoundation's way.
  case pause
  /// They wait where they are, and go on by themselves as soon as the very same device is back.
  case hold
  /// They go on with the next device.
  case move
  /// They go on in silence, at real speed, until the very same device is back.
  case null
}
