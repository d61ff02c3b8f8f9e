import PlayheadMediaCore

/// Requests that suspend the task until the devices and the file are ready. Cancelling the task does not cancel the
/// request.
extension AudioRecorder {
  /// Opens the source and creates the file, so that a recording starts at once.
  ///
  /// - Throws: The errors of the form that blocks.
  public func prepareToRecord() async throws(MediaError) {
    let result = await withCheckedContinuation { continuation in
      prepareToRecord { continuation.resume(returning: $0) }
    }
    try result.get()
  }

  /// Starts recording, now or at `hostTime`, and returns when the recorder is recording. After a pause, resumes
  /// recording into the same file.
  ///
  /// - Parameters:
  ///   - hostTime: A future CLOCK_MONOTONIC time.
  ///   - duration: The duration to record from then on, above 0. Default: no limit.
  /// - Throws: The errors of the form that blocks.
  public func record(
    atHostTime hostTime: HostTime? = nil, forDuration duration: MediaTime? = nil
  ) async throws(MediaError) {
    let result: Result<Void, MediaError> = await withCheckedContinuation { continuation in
      do throws(MediaError) {
        try startRecording(atHostTime: hostTime, forDuration: duration) { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    try result.get()
  }

  /// Ends the recording, and returns its outcome when the file is finished.
  ///
  /// - Returns: The outcome, also of a recording that has already ended.
  /// - Throws: `invalidState` if no recording was started; the error of a failed preparation.
  @discardableResult
  public func stop() async throws(MediaError) -> Outcome {
    let result: Result<Outcome, MediaError> = await withCheckedContinuation { continuation in
      do throws(MediaError) {
        try stop { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }
}
