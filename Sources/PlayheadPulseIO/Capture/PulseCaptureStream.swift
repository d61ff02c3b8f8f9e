import CPlayheadPulse
import PlayheadMediaCore
import PlayheadRealtimeAudio

// Owner of one record stream and of its connection. Created on a thread that may block; afterwards the stream belongs
// to a PulseCaptureDriver, which uses it under the loop's lock.

/// A `pa_stream` for recording that is connected, ready and corked.
final class PulseCaptureStream: @unchecked Sendable {
  // `@unchecked Sendable`: only the target of `pointer` changes, which the loop's lock protects.
  let connection: PulseConnection
  let pointer: OpaquePointer
  let format: AudioFormat
  /// The device's name.
  let sourceName: String
  /// See `PulseConnection.DeviceInfo.isGraphNode`.
  let isGraphNode: Bool
  /// The capacity of the server's buffer, in frames.
  let serverBufferFrameCount: Int

  /// Connects, queries the device and creates the stream; see `PulseSource.open` for the errors.
  static func open(_ configuration: PulseSource.Configuration) throws(MediaError) -> PulseCaptureStream {
    let deadline = HostTime.now.advanced(
      byNanoseconds: Int64(max(1, configuration.timeoutMilliseconds)) * 1_000_000)
    let connection: PulseConnection
    do {
      connection = try PulseConnection(applicationName: configuration.applicationName)
      try connection.connect(server: configuration.server, deadline: deadline)
    } catch { throw error.mediaError(.sourceUnavailable, "no sound server is available") }
    let source: PulseConnection.DeviceInfo
    do { source = try connection.deviceInfo(.input, name: configuration.sourceName, deadline: deadline) } catch {
      let missingSource = configuration.sourceName.map { "no source called '\($0)'" } ?? "no source"
      throw error.mediaError(.sourceUnavailable, "the sound server has \(missingSource)")
    }
    let format = AudioFormat(
      sampleRateHz: configuration.sampleRateHz ?? source.sampleRateHz,
      channelCount: configuration.channelCount ?? source.channelCount)
    do {
      return try PulseCaptureStream(connection, source, format, configuration, deadline: deadline)
    } catch {
      if error.code == Int32(PA_ERR_INVALID.rawValue) {
        throw error.mediaError(
          .sourceConfiguration,
          "PulseAudio cannot record \(format.sampleRateHz) Hz with \(format.channelCount) channels")
      }
      throw error.mediaError(.sourceUnavailable, "the sound server cannot create a stream")
    }
  }

  private init(
    _ connection: PulseConnection, _ source: PulseConnection.DeviceInfo, _ format: AudioFormat,
    _ configuration: PulseSource.Configuration, deadline: HostTime
  ) throws(PulseFailure) {
    (self.connection, sourceName, self.format, isGraphNode) = (connection, source.name, format, source.isGraphNode)
    guard (1...Int(PA_RATE_MAX)).contains(format.sampleRateHz),
      let map = ChannelOrder.map(channelCount: format.channelCount)
    else { throw PulseFailure("pa_stream_new_with_proplist", code: PA_ERR_INVALID) }
    let specification = pa_sample_spec(
      format: shim_PA_SAMPLE_FLOAT32(), rate: UInt32(format.sampleRateHz), channels: UInt8(format.channelCount))
    let frames = max(1, format.sampleRateHz * min(max(5, configuration.fragmentMilliseconds), 1_000) / 1_000)
    // The server's buffer may be as large as the server allows.
    let attributes = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max,
      fragsize: UInt32(clamping: frames * format.bytesPerFrame))
    let isNamed = configuration.sourceName.map { !$0.hasPrefix("@DEFAULT_") } ?? false
    pointer = try connection.mainloop.withLock { () throws(PulseFailure) in
      let stream = try Self.make(connection.context, specification, map, configuration)
      do throws(PulseFailure) {
        try Self.connect(stream, source.name, attributes, connection, isNamed: isNamed, deadline: deadline)
      } catch {
        PulseConnection.destroy(stream)
        throw error
      }
      return stream
    }
    let stream = pointer
    serverBufferFrameCount = connection.mainloop.withLock {
      Int(pa_stream_get_buffer_attr(stream)?.pointee.maxlength ?? 0) / format.bytesPerFrame
    }
  }

  /// Closes the stream and the connection, and ends the loop's thread; afterwards no callback runs.
  func close() {
    connection.mainloop.withLock { PulseConnection.destroy(pointer) }
    connection.mainloop.stop()
  }

  // MARK: - Creation

  private static func make(
    _ context: OpaquePointer, _ specification: pa_sample_spec, _ map: pa_channel_map,
    _ configuration: PulseSource.Configuration
  ) throws(PulseFailure) -> OpaquePointer {
    let properties = pa_proplist_new()
    defer { if let properties { pa_proplist_free(properties) } }
    if let role = configuration.mediaRole { pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, role) }
    var (specification, map) = (specification, map)
    guard let stream = pa_stream_new_with_proplist(context, configuration.streamName, &specification, &map, properties)
    else { throw PulseFailure("pa_stream_new_with_proplist", context: context) }
    return stream
  }

  private static func connect(
    _ stream: OpaquePointer, _ sourceName: String, _ attributes: pa_buffer_attr, _ connection: PulseConnection,
    isNamed: Bool, deadline: HostTime
  ) throws(PulseFailure) {
    var attributes = attributes
    var bits = PA_STREAM_START_CORKED.rawValue | PA_STREAM_ADJUST_LATENCY.rawValue
    // A named source must not be replaced: if it disappears, the stream ends. Otherwise the server would move it,
    // possibly to a monitor.
    if isNamed { bits |= PA_STREAM_DONT_MOVE.rawValue }
    let flags = pa_stream_flags_t(bits)
    try connection.connect(stream, "pa_stream_connect_record", deadline: deadline) {
      pa_stream_connect_record(stream, sourceName, &attributes, flags)
    }
  }
}
