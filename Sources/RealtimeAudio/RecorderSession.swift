import MediaCore

/// A session that recorders follow: it permits recording, and interrupts it.
public protocol RecorderSession: Sendable {
  /// Any thread; may wait for the session's control loop.
  ///
  /// - Throws: An error if nothing may be recorded now.
  func checkRecording() throws(MediaError)

  /// Has `recorder` follow the session for as long as it lives. Any thread.
  func add(_ recorder: any SessionRecorder)
}

/// A recorder that follows a session. The session calls it on its control loop; no method may block.
public protocol SessionRecorder: AnyObject, Sendable {
  var isRecording: Bool { get }
  func interruptionBegan()
  func interruptionEnded(shouldResume: Bool)
  /// The session was set to a category that does not record.
  func sessionForbidsRecording()
}
