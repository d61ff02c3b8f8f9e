import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Blocking queries with a deadline, on a thread that may block.
extension PulseConnection {
  /// The server's description of a sink or a source.
  struct DeviceInfo: Sendable {
    var name: String
    var sampleRateHz: Int
    var channelCount: Int
    /// Whether the device is a node of PipeWire's graph. The graph consumes a block before the device does, and drops
    /// it when the stream ends.
    var isGraphNode: Bool

    fileprivate init?(_ name: UnsafePointer<CChar>?, _ driver: UnsafePointer<CChar>?, _ sampleSpec: pa_sample_spec) {
      guard let name else { return nil }
      self.name = String(cString: name)
      (sampleRateHz, channelCount) = (Int(sampleSpec.rate), Int(sampleSpec.channels))
      isGraphNode = driver.map { String(cString: $0) } == "PipeWire"
    }
  }

  /// The reply of a query; nil until it arrives.
  private final class Reply<Value> {
    var value: Value?
  }

  /// Queries the device called `name`; nil is the default device. Monitors of sinks are sources.
  func deviceInfo(_ kind: AudioDevice.Kind, name: String?, deadline: HostTime) throws(PulseFailure) -> DeviceInfo {
    typealias Box = CallbackBox<Reply<DeviceInfo>>
    let call = kind == .output ? "pa_context_get_sink_info_by_name" : "pa_context_get_source_info_by_name"
    let reply = Reply<DeviceInfo>()
    try mainloop.withLock { () throws(PulseFailure) in
      let userdata = mainloop.userdata(for: reply)
      let operation =
        switch kind {
        case .output:
          pa_context_get_sink_info_by_name(
            context, name,
            { _, info, _, userdata in
              guard let info = info?.pointee else { return }
              Box.target(userdata)?.value = DeviceInfo(info.name, info.driver, info.sample_spec)
            }, userdata)
        case .input:
          pa_context_get_source_info_by_name(
            context, name,
            { _, info, _, userdata in
              guard let info = info?.pointee else { return }
              Box.target(userdata)?.value = DeviceInfo(info.name, info.driver, info.sample_spec)
            }, userdata)
        }
      try wait(for: operation, call, deadline)
    }
    guard let device = reply.value else { throw PulseFailure(call, code: PA_ERR_NOENTITY) }
    return device
  }

  /// Returns whether the server muted a stream. Call it under the loop's lock.
  func isMuted(stream index: UInt32, deadline: HostTime) throws(PulseFailure) -> Bool {
    let reply = Reply<Bool>()
    let operation = pa_context_get_sink_input_info(
      context, index,
      { _, info, _, userdata in
        if let info { CallbackBox<Reply<Bool>>.target(userdata)?.value = info.pointee.mute != 0 }
      }, mainloop.userdata(for: reply))
    try wait(for: operation, "pa_context_get_sink_input_info", deadline)
    return reply.value ?? false
  }

  private func wait(for operation: OpaquePointer?, _ call: String, _ deadline: HostTime) throws(PulseFailure) {
    guard let operation = PulseOperation(operation) else { throw PulseFailure(call, context: context) }
    try operation.wait(on: self, until: deadline, for: call)
  }
}
