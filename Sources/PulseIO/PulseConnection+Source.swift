import CPulse
import MediaCore

extension PulseConnection {
  /// What a source says about itself.
  struct SourceInfo: Sendable {
    var name: String
    var sampleRateHz: Int
    var channelCount: Int
  }

  /// Asks for the source called `name`; nil is the default one. Monitors of sinks are sources.
  func sourceInfo(name: String?, deadline: HostTime) throws(PulseFailure) -> SourceInfo {
    /// Where the answer goes; lives until the operation is over.
    final class Answer {
      let mainloop: PulseMainloop
      var info: SourceInfo?
      var isOver = false
      init(mainloop: PulseMainloop) { self.mainloop = mainloop }
    }
    let answer = Answer(mainloop: mainloop)
    return try mainloop.withLock { () throws(PulseFailure) -> SourceInfo in
      let operation = pa_context_get_source_info_by_name(
        context, name,
        { _, info, endOfList, userdata in
          guard let userdata else { return }
          let answer = Unmanaged<Answer>.fromOpaque(userdata).takeUnretainedValue()
          if endOfList != 0 {
            answer.isOver = true
          } else if let info = info?.pointee, let name = info.name {
            answer.info = SourceInfo(
              name: String(cString: name), sampleRateHz: Int(info.sample_spec.rate),
              channelCount: Int(info.sample_spec.channels))
          }
          answer.mainloop.signal()
        }, Unmanaged.passUnretained(answer).toOpaque())
      guard let operation else { throw PulseFailure("pa_context_get_source_info_by_name", context: context) }
      defer {
        // After a cancellation the callback does not run any more.
        pa_operation_cancel(operation)
        pa_operation_unref(operation)
      }
      try wait(until: deadline, for: "pa_context_get_source_info_by_name") {
        answer.isOver ? true : pa_operation_get_state(operation) == PA_OPERATION_RUNNING ? false : nil
      }
      guard let info = answer.info else {
        throw PulseFailure("pa_context_get_source_info_by_name", code: PA_ERR_NOENTITY)
      }
      return info
    }
  }
}
