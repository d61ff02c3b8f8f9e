import PlayheadMediaCore
import PlayheadPlayerModel

/// Silence of the player.
extension PlayerControl {
  /// The conditions under which the player reports silence. Default: off, which costs nothing.
  public var silenceDetection: SilenceDetection { control.core.silence.detection }

  /// Sets the conditions under which the player reports silence (``PlayerEvent/silence(_:)``).
  ///
  /// A player is silent while the largest sample that is heard of it, after volume and pan, stays below the threshold.
  /// A player is also silent while it is paused, waits, has no item, or has no output. Silence before this call does
  /// not count. The event at the end of silence comes within 0.2 s.
  ///
  /// <!-- listing: detect-silence -->
  /// ```swift
  /// try await player.setSilenceDetection(SilenceDetection(duration: .seconds(10), threshold: -50))
  /// for await event in await player.events() {
  ///   if case .silence(let silence) = event { print(silence.phase, silence.hostTime) }
  /// }
  /// ```
  ///
  /// - Throws: `invalidTime` for a duration out of range; `invalidArgument` for a threshold out of range;
  ///   `invalidState` for a closed player. Then nothing changes.
  public func setSilenceDetection(_ detection: SilenceDetection) throws(MediaError) {
    try control.core.silence.setDetection(detection)
  }

  /// Calls `handler` when the player has been silent for a duration, and when it is heard again, independently of
  /// ``silenceDetection``. The handler runs on the control loop and must not block: see `PlaybackEngine.loop`.
  ///
  /// - Parameters:
  ///   - duration: From 0.1 s to a day.
  ///   - threshold: The level in dBFS, from -100 to 0, below which audio is silent. Default: -60.
  ///   - handler: Called with the beginning and the end of each silence.
  /// - Throws: the errors of ``setSilenceDetection(_:)``.
  public func addSilenceObserver(
    lasting duration: MediaTime, threshold: Float = -60, using handler: @escaping @Sendable (PlayerSilence) -> Void
  ) throws(MediaError) -> ObserverToken {
    try control.core.silence.addObserver(
      lasting: duration, threshold: threshold, operation: "addSilenceObserver", handler)
  }

  /// Removes a silence observer, which is not called any more.
  ///
  /// - Throws: `noSuchObserver`.
  public func removeSilenceObserver(_ token: ObserverToken) throws(MediaError) {
    try control.core.silence.removeObserver(token)
  }
}
