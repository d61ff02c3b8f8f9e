/// The purpose of a stream: PulseAudio's `media.role`. The server's rules may mute or lower a stream because of the
/// role of another stream: a call (`phone`) may pause or lower music and films.
public enum StreamRole: String, Sendable, Hashable, CaseIterable {
  /// Music.
  case music
  /// The audio of a video.
  case video
  /// The audio of a game.
  case game
  /// Short notifications, such as an alert.
  case event
  /// A call.
  case phone
  /// The audio of an animation.
  case animation
  /// Music production and measuring.
  case production
  /// Speech for accessibility, such as a screen reader.
  case a11y
}

/// A change that a sound server made to a stream because of other programs' audio.
public enum SharingNotice: Sendable, Hashable {
  /// The server muted the stream so that other audio is heard alone. The stream is paused until `endInterruption`.
  case interruptionBegan
  /// The server permits the stream to play again. The stream stays paused until `endInterruption`.
  case interruptionEnded
  /// The server lowered the stream while other audio plays. The stream continues.
  case duckingBegan
  /// The server restored the volume of the stream.
  case duckingEnded
}

/// A sink on a device that is shared with other programs according to the server's role rules.
///
/// When the server mutes the stream to interrupt it, the sink pauses the stream at once. The pause is at or slightly
/// before the first frame that was not heard, so no frame is lost. The owner of the sink decides how the players react.
package protocol SharedDeviceSink: AudioSink {
  /// Sets the stream's role and the handler of the server's changes. Call it once, before `open`. `onSharing` is called
  /// on any thread and must not block.
  func prepare(role: StreamRole, onSharing: @escaping @Sendable (SharingNotice) -> Void)

  /// Changes the role. Any thread; never blocks. Not while the stream is interrupted or lowered: a server would leave
  /// the stream in that state, so the owner must open a new sink instead.
  func setRole(_ role: StreamRole)

  /// Resumes the stream from its paused position, if any audio is to be played. Any thread; never blocks.
  ///
  /// - Parameter overrulesServer: Whether to resume, and unmute the stream, before the server permits it.
  func endInterruption(overrulesServer: Bool)
}
