import PlayheadMediaCore

extension AssetWriter {
  /// Finishes all inputs, and returns when the file is complete and has its name. Cancelling the task cancels writing,
  /// as ``cancelWriting()`` does.
  ///
  /// - Throws: The reason why there is no file; `cancelled`; `invalidState` before ``startWriting()`` and on a second
  ///   call.
  public func finishWriting() async throws(MediaError) {
    let result: Result<Status, MediaError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do throws(MediaError) {
          try finishWriting { continuation.resume(returning: .success($0)) }
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    } onCancel: {
      cancelWriting()
    }
    try check(try result.get())
  }

  /// - Throws: The error of a writer that failed or was cancelled.
  func check(_ status: Status) throws(MediaError) {
    if let error { throw error }
    if status == .cancelled { throw MediaError(.cancelled, "writing was cancelled", operation: "finishWriting") }
  }
}
