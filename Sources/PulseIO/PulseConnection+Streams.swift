import CPulse
import MediaCore

/// Asking about streams.
extension PulseConnection {
  /// Whether the server plays a stream muted. Inside the loop's lock, on a thread that may block.
  func isMuted(stream index: UInt32, deadline: HostTime) throws(PulseFailure) -> Bool {
    /// Where the answer goes; lives until the operation is over.
    final class Answer {
      let mainloop: PulseMainloop
      var isMuted = false
      var isOver = false
      init(mainloop: PulseMainloop) { self.mainloop = mainloop }
    }
    let answer = Answer(mainloop: mainloop)
    let operation = pa_context_get_sink_input_info(
      context, index,
      { _, info, endOfList, userdata in
        guard let userdata else { return }
        let answer = Unmanaged<Answer>.fromOpaque(userdata).takeUnretainedValue()
        if endOfList != 0 { answer.isOver = true } else if let info { answer.isMuted = info.pointee.mute != 0 }
        answer.mainloop.signal()
      }, Unmanaged.passUnretained(answer).toOpaque())
    guard let operation else { throw PulseFailure("pa_context_get_sink_input_info", context: context) }
    defer {
      // After a cancellation the callback does not run any more.
      pa_operation_cancel(operation)
      pa_operation_unref(operation)
    }
    try wait(until: deadline, for: "pa_context_get_sink_input_info") {
      answer.isOver ? true : pa_operation_get_state(operation) == PA_OPERATION_RUNNING ? false : nil
    }
    return answer.isMuted
  }
}
