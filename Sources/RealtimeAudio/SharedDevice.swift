/// What a stream is for, as sound servers name it (PulseAudio's `media.role`). The server's own rules say what becomes of
/// others by it, and of it by others: a call (`phone`) may have music and films stand still, or be lowered.
public enum StreamRole: String, Sendable, Hashable, CaseIterable {
  case music
  case video
  case game
  /// Short sounds that say something has happened.
  case event
  /// A call.
  case phone
  case animation
  /// Making music, measuring.
  case production
  /// Speech that stands for what others see.
  case a11y
}

/// What a sound server has done to a stream because of what other programs play.
public enum SharingNotice: Sendable, Hashable {
  /// The stream was muted and stands still: something else is to be heard alone. It stands until `endInterruption`.
  case interruptionBegan
  /// The server would let it sound again. It stands all the same, until `endInterruption`.
  case interruptionEnded
  /// The stream is lowered while something else is heard, and goes on.
  case duckingBegan
  case duckingEnded
}

/// A sink on a device that is shared with other programs, by rules about roles.
///
/// A stream that the server mutes to interrupt it stands still at once, at the first frame that was not heard, or a little
/// before it: no frame is lost. What players do about that is not for the sink to say.
public protocol SharedDeviceSink: AudioSink {
  /// Says the stream's role, and who is told what the server does. Once, before `open`. `onSharing` is called on any thread and
  /// must not block.
  func prepare(role: StreamRole, onSharing: @escaping @Sendable (SharingNotice) -> Void)

  /// Another role from now on. Any thread; never blocks. Not while the stream is interrupted or lowered: servers would leave
  /// it so, and a new sink is needed.
  func setRole(_ role: StreamRole)

  /// Lets the stream go on from where it stands, if anything is to sound. `overrulesServer`: though the server has not said
  /// that it may; the stream is heard again. Any thread; never blocks.
  func endInterruption(overrulesServer: Bool)
}
