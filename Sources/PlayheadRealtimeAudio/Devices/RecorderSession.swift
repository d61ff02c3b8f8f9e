import PlayheadMediaCore

/// A session that recorders follow: it permits recording, and interrupts it.
public protocol RecorderSession: Sendable {
  /// Checks whether recording is permitted. Any thread; may wait for the session's control loop.
  ///
  /// - Throws: An error if recording is not permitted now.
  func checkRecording() throws(MediaError)

  /// Makes `recorder` follow the session as long as the recorder lives. Any thread.
  func add(_ recorder: any SessionRecorder)
}

/// A recorder that follows a session. The session calls it on its control loop; no method may block.
public protocol SessionRecorder: AnyObject, Sendable {
  /// Whether the recorder is recording.
  var isRecording: Bool { get }
  /// Pauses the recorder: an interruption of the session began.
  func interruptionBegan()
  /// Ends the pause of an interruption. The recorder records again if `shouldResume` is true.
  func interruptionEnded(shouldResume: Bool)
  /// Stops the recorder: the session now has a category that does not permit recording.
  func sessionForbidsRecording()
}
