import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

// Owner of one playback stream and of its connection. Created on a thread that may block; afterwards the stream belongs
// to a PulseStreamDriver, which uses it under the loop's lock.

/// A `pa_stream` that is connected, ready and corked.
final class PulseStream: @unchecked Sendable {
  // `@unchecked Sendable`: only the target of `pointer` changes, which the loop's lock protects.
  let connection: PulseConnection
  let pointer: OpaquePointer
  let format: AudioFormat
  /// The name of the device on which the stream was created.
  let sinkName: String
  /// The size of the server's buffer for the stream, in frames.
  let bufferFrameCount: Int
  /// Whether the server muted the stream from the beginning.
  let isMuted: Bool
  /// See `PulseConnection.DeviceInfo.isGraphNode`.
  let isGraphNode: Bool

  /// Connects, queries the device and creates the stream; see `PulseSink.open` for the errors.
  static func open(_ configuration: PulseSink.Configuration) throws(MediaError) -> PulseStream {
    let deadline = HostTime.now.advanced(
      byNanoseconds: Int64(max(1, configuration.timeoutMilliseconds)) * 1_000_000)
    let connection: PulseConnection
    do {
      connection = try PulseConnection(applicationName: configuration.applicationName)
      try connection.connect(server: configuration.server, deadline: deadline)
    } catch {
      throw error.mediaError(.outputUnavailable, "no sound server is available")
    }
    let sink: PulseConnection.DeviceInfo
    do { sink = try connection.deviceInfo(.output, name: configuration.sinkName, deadline: deadline) } catch {
      let missingDevice =
        configuration.sinkName.map { "no output device called '\($0)'" } ?? "no output device"
      throw error.mediaError(.outputUnavailable, "the sound server has \(missingDevice)")
    }
    let format = AudioFormat(
      sampleRateHz: configuration.sampleRateHz ?? sink.sampleRateHz,
      channelCount: configuration.channelCount ?? sink.channelCount)
    do {
      return try PulseStream(
        connection: connection, sink: sink, format: format, configuration: configuration, deadline: deadline)
    } catch {
      if error.code == Int32(PA_ERR_INVALID.rawValue) {
        throw error.mediaError(
          .outputConfiguration,
          "PulseAudio cannot play \(format.sampleRateHz) Hz with \(format.channelCount) channels")
      }
      throw error.mediaError(.outputUnavailable, "the sound server cannot create a stream")
    }
  }

  private init(
    connection: PulseConnection, sink: PulseConnection.DeviceInfo, format: AudioFormat,
    configuration: PulseSink.Configuration, deadline: HostTime
  ) throws(PulseFailure) {
    self.connection = connection
    self.format = format
    isGraphNode = sink.isGraphNode
    guard (1...Int(PA_RATE_MAX)).contains(format.sampleRateHz),
      let map = ChannelOrder.map(channelCount: format.channelCount)
    else { throw PulseFailure("pa_stream_new_with_proplist", code: PA_ERR_INVALID) }
    let specification = pa_sample_spec(
      format: shim_PA_SAMPLE_FLOAT32(), rate: UInt32(format.sampleRateHz),
      channels: UInt8(format.channelCount))
    let attributes = Self.bufferAttributes(
      format: format, latencyMilliseconds: configuration.latencyMilliseconds)
    // Without a device name the server chooses the device, and the stream follows the server's choice.
    let requestedName = configuration.sinkName == nil ? nil : sink.name
    (pointer, bufferFrameCount, self.sinkName, isMuted) = try connection.mainloop.withLock { () throws(PulseFailure) in
      let stream = try Self.make(
        connection.context, specification: specification, map: map, configuration: configuration)
      let isMuted: Bool
      do throws(PulseFailure) {
        try Self.connect(
          stream, sinkName: requestedName, attributes: attributes, connection: connection,
          deadline: deadline)
        isMuted = try connection.isMuted(stream: pa_stream_get_index(stream), deadline: deadline)
      } catch {
        PulseConnection.destroy(stream)
        throw error
      }
      let granted = pa_stream_get_buffer_attr(stream)?.pointee.tlength ?? attributes.tlength
      let device = pa_stream_get_device_name(stream).map { String(cString: $0) } ?? ""
      return (stream, Int(granted) / format.bytesPerFrame, device.isEmpty ? sink.name : device, isMuted)
    }
  }

  /// Closes the stream and the connection, and ends the loop's thread; afterwards no callback runs.
  func close() {
    connection.mainloop.withLock { PulseConnection.destroy(pointer) }
    connection.mainloop.stop()
  }

  // MARK: - Creation

  /// Returns the buffer attributes to request. The whole path must buffer the requested latency; the server divides it
  /// equally between the device and the stream's buffer (PA_STREAM_ADJUST_LATENCY).
  ///
  /// After an underrun the stream continues as soon as a small amount has arrived, but never with an empty buffer. With
  /// a `prebuf` of 0 the read position would run ahead, and late audio would be dropped.
  private static func bufferAttributes(format: AudioFormat, latencyMilliseconds: Int)
    -> pa_buffer_attr
  {
    func bytes(_ milliseconds: Int) -> UInt32 {
      let frames = max(1, format.sampleRateHz * milliseconds / 1_000)
      return UInt32(clamping: frames * format.bytesPerFrame)
    }
    let latency = min(max(10, latencyMilliseconds), 2_000)
    return pa_buffer_attr(
      maxlength: .max, tlength: bytes(latency), prebuf: bytes(min(10, latency / 4)),
      minreq: bytes(min(10, latency / 4)),
      fragsize: .max)
  }

  private static func make(
    _ context: OpaquePointer, specification: pa_sample_spec, map: pa_channel_map, configuration: PulseSink.Configuration
  ) throws(PulseFailure) -> OpaquePointer {
    let properties = pa_proplist_new()
    defer { if let properties { pa_proplist_free(properties) } }
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, configuration.role.rawValue)
    var specification = specification
    var map = map
    let stream = pa_stream_new_with_proplist(
      context, configuration.streamName, &specification, &map, properties)
    guard let stream else {
      throw PulseFailure("pa_stream_new_with_proplist", context: context)
    }
    return stream
  }

  private static func connect(
    _ stream: OpaquePointer, sinkName: String?, attributes: pa_buffer_attr,
    connection: PulseConnection,
    deadline: HostTime
  ) throws(PulseFailure) {
    var attributes = attributes
    var bits = PA_STREAM_START_CORKED.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
    // A named device must not be replaced: if it disappears, the stream ends. Otherwise the server would move it, and a
    // block would be heard on another device.
    if sinkName != nil { bits |= PA_STREAM_DONT_MOVE.rawValue }
    let flags = pa_stream_flags_t(bits)
    try connection.connect(stream, "pa_stream_connect_playback", deadline: deadline) {
      pa_stream_connect_playback(stream, sinkName, &attributes, flags, nil, nil)
    }
  }
}
