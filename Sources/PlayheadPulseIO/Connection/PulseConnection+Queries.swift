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

  /// The reply of a query; it lives until the operation is over.
  private final class Reply {
    private let mainloop: PulseMainloop
    var device: DeviceInfo?
    var isMuted = false
    private(set) var isComplete = false

    init(_ mainloop: PulseMainloop) { self.mainloop = mainloop }

    var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ pointer: UnsafeMutableRawPointer?) -> Reply? {
      pointer.map { Unmanaged<Reply>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Records that a part of the reply, or its end, has arrived.
    func received(isEnd: Bool) {
      if isEnd { isComplete = true }
      mainloop.signal()
    }
  }

  /// Queries the device called `name`; nil is the default device. Monitors of sinks are sources.
  func deviceInfo(_ kind: AudioDevice.Kind, name: String?, deadline: HostTime) throws(PulseFailure) -> DeviceInfo {
    let call = kind == .output ? "pa_context_get_sink_info_by_name" : "pa_context_get_source_info_by_name"
    let reply = Reply(mainloop)
    try mainloop.withLock { () throws(PulseFailure) in
      let operation =
        switch kind {
        case .output:
          pa_context_get_sink_info_by_name(
            context, name,
            { _, info, endOfList, userdata in
              let reply = Reply.from(userdata)
              if let info = info?.pointee { reply?.device = DeviceInfo(info.name, info.driver, info.sample_spec) }
              reply?.received(isEnd: endOfList != 0)
            }, reply.userdata)
        case .input:
          pa_context_get_source_info_by_name(
            context, name,
            { _, info, endOfList, userdata in
              let reply = Reply.from(userdata)
              if let info = info?.pointee { reply?.device = DeviceInfo(info.name, info.driver, info.sample_spec) }
              reply?.received(isEnd: endOfList != 0)
            }, reply.userdata)
        }
      try wait(for: reply, operation, call, deadline)
    }
    guard let device = reply.device else { throw PulseFailure(call, code: PA_ERR_NOENTITY) }
    return device
  }

  /// Returns whether the server muted a stream. Call it under the loop's lock.
  func isMuted(stream index: UInt32, deadline: HostTime) throws(PulseFailure) -> Bool {
    let reply = Reply(mainloop)
    let operation = pa_context_get_sink_input_info(
      context, index,
      { _, info, endOfList, userdata in
        let reply = Reply.from(userdata)
        if let info { reply?.isMuted = info.pointee.mute != 0 }
        reply?.received(isEnd: endOfList != 0)
      }, reply.userdata)
    try wait(for: reply, operation, "pa_context_get_sink_input_info", deadline)
    return reply.isMuted
  }

  private func wait(
    for reply: Reply, _ operation: OpaquePointer?, _ call: String, _ deadline: HostTime
  ) throws(PulseFailure) {
    guard let operation else { throw PulseFailure(call, context: context) }
    defer {
      // After a cancellation the callback no longer runs.
      pa_operation_cancel(operation)
      pa_operation_unref(operation)
    }
    try wait(until: deadline, for: call) {
      reply.isComplete ? true : pa_operation_get_state(operation) == PA_OPERATION_RUNNING ? false : nil
    }
  }
}

/// Streams of either direction. Called under the loop's lock.
extension PulseConnection {
  /// Connects a stream with `start`, which returns libpulse's result, and waits until the stream is ready.
  func connect(
    _ stream: OpaquePointer, _ call: String, deadline: HostTime, _ start: () -> Int32
  ) throws(PulseFailure) {
    let loop = Unmanaged.passUnretained(mainloop).toOpaque()
    pa_stream_set_state_callback(
      stream, { _, loop in if let loop { Unmanaged<PulseMainloop>.fromOpaque(loop).takeUnretainedValue().signal() } },
      loop)
    defer { pa_stream_set_state_callback(stream, nil, nil) }
    guard start() == 0 else { throw PulseFailure(call, context: context) }
    try wait(until: deadline, for: call) {
      switch pa_stream_get_state(stream) {
      case PA_STREAM_READY: true
      case PA_STREAM_FAILED, PA_STREAM_TERMINATED: nil
      default: false
      }
    }
  }

  /// Disconnects and releases a stream.
  static func destroy(_ stream: OpaquePointer) {
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
  }
}
