import CPlayheadPulse
import PlayheadRealtimeAudio

/// Conversions of libpulse's sink and source descriptions.
extension AudioDevice {
  /// Converts a sink; nil when it has no name. `info` is valid during the call only.
  init?(_ info: pa_sink_info) {
    guard let name = info.name.map({ String(cString: $0) }) else { return nil }
    let ports = (0..<Int(info.n_ports)).compactMap { index in
      info.ports?[index].map { Port($0.pointee.name, $0.pointee.description, $0.pointee.available) }
    }
    self.init(
      kind: .output, name: name, description: info.description.map { String(cString: $0) } ?? name,
      sampleRateHz: Int(info.sample_spec.rate), channelCount: Int(info.sample_spec.channels), ports: ports,
      activePortName: info.active_port?.pointee.name.map { String(cString: $0) })
  }

  /// Converts a source; nil when it has no name. `info` is valid during the call only.
  init?(_ info: pa_source_info) {
    guard let name = info.name.map({ String(cString: $0) }) else { return nil }
    let ports = (0..<Int(info.n_ports)).compactMap { index in
      info.ports?[index].map { Port($0.pointee.name, $0.pointee.description, $0.pointee.available) }
    }
    self.init(
      kind: .input, name: name, description: info.description.map { String(cString: $0) } ?? name,
      sampleRateHz: Int(info.sample_spec.rate), channelCount: Int(info.sample_spec.channels), ports: ports,
      activePortName: info.active_port?.pointee.name.map { String(cString: $0) },
      monitoredOutputName: info.monitor_of_sink_name.map { String(cString: $0) })
  }
}

extension AudioDevice.Port {
  fileprivate init(_ name: UnsafePointer<CChar>?, _ description: UnsafePointer<CChar>?, _ available: Int32) {
    let name = name.map { String(cString: $0) } ?? ""
    let availability: Availability =
      switch UInt32(bitPattern: available) {
      case PA_PORT_AVAILABLE_YES.rawValue: .available
      case PA_PORT_AVAILABLE_NO.rawValue: .unavailable
      default: .unknown
      }
    self.init(name: name, description: description.map { String(cString: $0) } ?? name, availability: availability)
  }
}
