import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// Connects to a server and creates a stream.
extension PulseStream {
  /// The device and the stream to create.
  struct Request {
    var direction: AudioDevice.Kind
    /// See `PulseSink.Configuration`; the same applies to the other properties.
    var server: String?
    var deviceName: String?
    var sampleRateHz: Int?
    var channelCount: Int?
    /// The latency of a playback stream, or the duration of a record stream's fragments.
    var bufferMilliseconds: Int
    var timeoutMilliseconds: Int
    var applicationName: String
    var streamName: String
    var mediaRole: String?

    /// The owner of the stream, in messages.
    var owner: String { direction == .output ? "sink" : "source" }
    var unavailable: MediaError.Code { direction == .output ? .outputUnavailable : .sourceUnavailable }

    fileprivate var missingDevice: String {
      (direction == .output ? "no output device" : "no source") + (deviceName.map { " called '\($0)'" } ?? "")
    }

    /// Whether the device must not be replaced: if it disappears, the stream ends. Otherwise the server would move the
    /// stream, and a block would be heard on another device, or a monitor would be recorded.
    fileprivate var isBoundToDevice: Bool {
      guard let deviceName else { return false }
      return direction == .output || !deviceName.hasPrefix("@DEFAULT_")
    }

    /// The buffer attributes to request.
    ///
    /// The whole path of a playback stream must buffer the requested latency; the server divides it equally between the
    /// device and the stream's buffer (PA_STREAM_ADJUST_LATENCY). After an underrun the stream continues as soon as a
    /// small amount has arrived, but never with an empty buffer. With a `prebuf` of 0 the read position would run
    /// ahead, and late audio would be dropped.
    ///
    /// The buffer of a record stream may be as large as the server allows.
    fileprivate func bufferAttributes(_ format: AudioFormat) -> pa_buffer_attr {
      func bytes(_ milliseconds: Int) -> UInt32 {
        UInt32(clamping: max(1, format.sampleRateHz * milliseconds / 1_000) * format.bytesPerFrame)
      }
      switch direction {
      case .output:
        let latency = min(max(10, bufferMilliseconds), 2_000)
        let minimum = bytes(min(10, latency / 4))
        return pa_buffer_attr(
          maxlength: .max, tlength: bytes(latency), prebuf: minimum, minreq: minimum, fragsize: .max)
      case .input:
        return pa_buffer_attr(
          maxlength: .max, tlength: .max, prebuf: .max, minreq: .max,
          fragsize: bytes(min(max(5, bufferMilliseconds), 1_000)))
      }
    }
  }

  /// Connects, queries the device and creates a corked stream; see `PulseSink.open` and `PulseSource.open` for the
  /// errors. On a thread that may block.
  static func open(_ request: Request) throws(MediaError) -> PulseStream {
    let deadline = HostTime.now.advanced(byNanoseconds: Int64(max(1, request.timeoutMilliseconds)) * 1_000_000)
    let connection: PulseConnection
    do {
      connection = try PulseConnection(applicationName: request.applicationName)
      try connection.connect(server: request.server, deadline: deadline)
    } catch { throw error.mediaError(request.unavailable, "no sound server is available") }
    let device: PulseConnection.DeviceInfo
    do { device = try connection.deviceInfo(request.direction, name: request.deviceName, deadline: deadline) } catch {
      throw error.mediaError(request.unavailable, "the sound server has \(request.missingDevice)")
    }
    let format = AudioFormat(
      sampleRateHz: request.sampleRateHz ?? device.sampleRateHz,
      channelCount: request.channelCount ?? device.channelCount)
    do { return try create(request, on: device, format, connection, deadline: deadline) } catch {
      guard error.code == Int32(PA_ERR_INVALID.rawValue) else {
        throw error.mediaError(request.unavailable, "the sound server cannot create a stream")
      }
      throw error.mediaError(
        request.direction == .output ? .outputConfiguration : .sourceConfiguration,
        "PulseAudio cannot \(request.direction == .output ? "play" : "record") \(format.sampleRateHz) Hz with "
          + "\(format.channelCount) channels")
    }
  }

  private static func create(
    _ request: Request, on device: PulseConnection.DeviceInfo, _ format: AudioFormat, _ connection: PulseConnection,
    deadline: HostTime
  ) throws(PulseFailure) -> PulseStream {
    guard (1...Int(PA_RATE_MAX)).contains(format.sampleRateHz),
      var map = ChannelOrder.map(channelCount: format.channelCount)
    else { throw PulseFailure("pa_stream_new_with_proplist", code: PA_ERR_INVALID) }
    var specification = pa_sample_spec(
      format: shim_PA_SAMPLE_FLOAT32(), rate: UInt32(format.sampleRateHz), channels: UInt8(format.channelCount))
    let list = pa_proplist_new()
    defer { if let list { pa_proplist_free(list) } }
    if let role = request.mediaRole { pa_proplist_sets(list, PA_PROP_MEDIA_ROLE, role) }
    return try connection.mainloop.withLock { () throws(PulseFailure) in
      let stream = pa_stream_new_with_proplist(connection.context, request.streamName, &specification, &map, list)
      guard let stream else { throw PulseFailure("pa_stream_new_with_proplist", context: connection.context) }
      do throws(PulseFailure) {
        let attributes = request.bufferAttributes(format)
        try connect(stream, request, on: device, attributes, connection, deadline: deadline)
        let granted = pa_stream_get_buffer_attr(stream)?.pointee ?? attributes
        var properties = Properties(
          format: format, deviceName: device.name, bufferFrameCount: Int(granted.maxlength) / format.bytesPerFrame,
          isGraphNode: device.isGraphNode)
        if request.direction == .output {
          properties.isMuted = try connection.isMuted(stream: pa_stream_get_index(stream), deadline: deadline)
          properties.bufferFrameCount = Int(granted.tlength) / format.bytesPerFrame
          let name = pa_stream_get_device_name(stream).map { String(cString: $0) } ?? ""
          if !name.isEmpty { properties.deviceName = name }
        }
        return PulseStream(connection, stream, properties)
      } catch {
        destroy(stream)
        throw error
      }
    }
  }

  /// Connects the stream to the device and waits until it is ready.
  private static func connect(
    _ stream: OpaquePointer, _ request: Request, on device: PulseConnection.DeviceInfo, _ attributes: pa_buffer_attr,
    _ connection: PulseConnection, deadline: HostTime
  ) throws(PulseFailure) {
    var attributes = attributes
    var bits = PA_STREAM_START_CORKED.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
    if request.isBoundToDevice { bits |= PA_STREAM_DONT_MOVE.rawValue }
    let flags = pa_stream_flags_t(bits)
    pa_stream_set_state_callback(
      stream, { _, userdata in CallbackBox<PulseMainloop>.target(userdata)?.signal() }, connection.mainloop.userdata)
    defer { pa_stream_set_state_callback(stream, nil, nil) }
    let (call, status): (String, Int32) =
      switch request.direction {
      case .output:
        // Without a device name the server chooses the device, and the stream follows the server's choice.
        (
          "pa_stream_connect_playback",
          pa_stream_connect_playback(
            stream, request.deviceName == nil ? nil : device.name, &attributes, flags, nil, nil)
        )
      case .input:
        ("pa_stream_connect_record", pa_stream_connect_record(stream, device.name, &attributes, flags))
      }
    guard status == 0 else { throw PulseFailure(call, context: connection.context) }
    try connection.wait(until: deadline, for: call) {
      switch pa_stream_get_state(stream) {
      case PA_STREAM_READY: true
      case PA_STREAM_FAILED, PA_STREAM_TERMINATED: nil
      default: false
      }
    }
  }
}
