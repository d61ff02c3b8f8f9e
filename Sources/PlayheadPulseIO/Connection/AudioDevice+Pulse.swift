import CPlayheadPulse
import PlayheadRealtimeAudio

/// Conversions of libpulse's sink and source descriptions.
extension AudioDevice {
  /// Converts a sink; nil when it has no name. `info` is valid during the call only.
  init?(_ info: pa_sink_info) {
    guard let name = info.name.map({ String(cString: $0) }) else { return nil }
    let ports = (0..<Int(info.n_ports)).compactMap { index in
      info.ports?[index].map { Port($0.pointee.name, $0.pointee.description, $0.pointee.available, $0.pointee.type) }
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
      info.ports?[index].map { Port($0.pointee.name, $0.pointee.description, $0.pointee.available, $0.pointee.type) }
    }
    self.init(
      kind: .input, name: name, description: info.description.map { String(cString: $0) } ?? name,
      sampleRateHz: Int(info.sample_spec.rate), channelCount: Int(info.sample_spec.channels), ports: ports,
      activePortName: info.active_port?.pointee.name.map { String(cString: $0) },
      monitoredOutputName: info.monitor_of_sink_name.map { String(cString: $0) })
  }
}

extension AudioDevice.Port {
  fileprivate init(
    _ name: UnsafePointer<CChar>?, _ description: UnsafePointer<CChar>?, _ available: Int32, _ type: UInt32
  ) {
    let name = name.map { String(cString: $0) } ?? ""
    let availability: Availability =
      switch UInt32(bitPattern: available) {
      case PA_PORT_AVAILABLE_YES.rawValue: .available
      case PA_PORT_AVAILABLE_NO.rawValue: .unavailable
      default: .unknown
      }
    self.init(
      name: name, description: description.map { String(cString: $0) } ?? name, availability: availability,
      portType: PortType(pa_device_port_type(rawValue: type)))
  }
}

extension AudioDevice.Port.PortType {
  init(_ type: pa_device_port_type) {
    self =
      switch type {
      case PA_DEVICE_PORT_TYPE_AUX: .aux
      case PA_DEVICE_PORT_TYPE_SPEAKER: .speaker
      case PA_DEVICE_PORT_TYPE_HEADPHONES: .headphones
      case PA_DEVICE_PORT_TYPE_LINE: .line
      case PA_DEVICE_PORT_TYPE_MIC: .microphone
      case PA_DEVICE_PORT_TYPE_HEADSET: .headset
      case PA_DEVICE_PORT_TYPE_HANDSET: .handset
      case PA_DEVICE_PORT_TYPE_EARPIECE: .earpiece
      case PA_DEVICE_PORT_TYPE_SPDIF: .spdif
      case PA_DEVICE_PORT_TYPE_HDMI: .hdmi
      case PA_DEVICE_PORT_TYPE_TV: .tv
      case PA_DEVICE_PORT_TYPE_RADIO: .radio
      case PA_DEVICE_PORT_TYPE_VIDEO: .video
      case PA_DEVICE_PORT_TYPE_USB: .usb
      case PA_DEVICE_PORT_TYPE_BLUETOOTH: .bluetooth
      case PA_DEVICE_PORT_TYPE_PORTABLE: .portable
      case PA_DEVICE_PORT_TYPE_HANDSFREE: .handsfree
      case PA_DEVICE_PORT_TYPE_CAR: .car
      case PA_DEVICE_PORT_TYPE_HIFI: .hifi
      case PA_DEVICE_PORT_TYPE_PHONE: .phone
      case PA_DEVICE_PORT_TYPE_NETWORK: .network
      case PA_DEVICE_PORT_TYPE_ANALOG: .analog
      default: .unknown
      }
  }
}
