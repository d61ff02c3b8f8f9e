import MediaCore
import Playback
import RealtimeAudio
import WireProtocol

/// The commands `output.list`, `output.set` and `output.status`.
extension Connection {
  /// The state of the output, the output selection, and the route.
  var outputFields: Fields {
    let engine = server.engine
    let (state, selection) = (engine.outputState, engine.outputSelection)
    var fields: Fields = [
      "output": state.label.isEmpty ? FieldValue.none : .string(state.label), "state": .string(state.status.rawValue),
      "sampleRate": state.format.map { .int($0.sampleRateHz) } ?? FieldValue.none,
      "channels": state.format.map { .int($0.channelCount) } ?? FieldValue.none,
      "clipped": .int(engine.clippedSampleCount), "selected": .string(selection.target.wireText),
      "preferred": selection.preferred.isEmpty ? FieldValue.none : .strings(selection.preferred),
      "lost": .string(selection.lostPolicy.rawValue),
      "route": engine.route.output.map { .string($0.label) } ?? FieldValue.none,
    ]
    fields.append("error", ifPresent: state.error.map { .string($0.code.name) })
    return fields
  }

  /// The output and input devices, each followed by its ports.
  var outputList: Reply {
    let devices = server.engine.devices
    let rows = ((devices?.outputs ?? []) + (devices?.inputs ?? [])).flatMap { device in
      [row(device, of: devices)] + device.ports.map { Self.row($0, of: device) }
    }
    return .ok(
      [
        "count": .int((devices?.outputs.count ?? 0) + (devices?.inputs.count ?? 0)),
        "server": devices.map { .string($0.serverName) } ?? FieldValue.none,
      ], rows: rows)
  }

  private func row(_ device: AudioDevice, of devices: AudioDevices?) -> Fields {
    let (route, preferred) = (server.engine.route, server.engine.outputSelection.preferred)
    let isOutput = device.kind == .output
    var row: Fields = [
      "kind": .string(device.kind.rawValue), "device": .string(device.name), "description": .string(device.description),
      "default": .bool(device.name == (isOutput ? devices?.defaultOutputName : devices?.defaultInputName)),
      "current": .bool(device.name == (isOutput ? route.output : route.input)?.deviceName),
    ]
    if isOutput {
      row.append("preferred", ifPresent: preferred.firstIndex(of: device.name).map { .int($0 + 1) })
    }
    row.append("sampleRate", .int(device.sampleRateHz))
    row.append("channels", .int(device.channelCount))
    row.append("monitorOf", ifPresent: device.monitoredOutputName.map { .string($0) })
    return row
  }

  private static func row(_ port: AudioDevice.Port, of device: AudioDevice) -> Fields {
    [
      "kind": .string("port"), "device": .string(device.name), "description": .string(port.description),
      "port": .string(port.name), "available": .string(port.availability.rawValue),
      "active": .bool(port.name == device.activePortName),
    ]
  }

  /// Changes the output selection. Nil leaves a setting unchanged.
  ///
  /// - Throws: The errors of `PlaybackEngine.selectOutput`.
  func setOutput(device: String?, preferred: [String]?, lost: LostDevicePolicy?) throws(MediaError) {
    var selection = server.engine.outputSelection
    if let device { selection.target = try OutputSelection.Target(wireText: device) }
    if let preferred { selection.preferred = preferred }
    if let lost { selection.lostPolicy = lost }
    try server.engine.selectOutput(selection)
  }
}

extension OutputSelection {
  /// The selection in the form of `output.selection`.
  var wireText: String {
    "selected=\(target.wireText) preferred=\(preferred.isEmpty ? "none" : preferred.joined(separator: ","))"
      + " lost=\(lostPolicy.rawValue)"
  }
}

extension OutputSelection.Target {
  /// The target in the form of `output.set`.
  var wireText: String {
    switch self {
    case .serverDefault: "default"
    case .silence: "null"
    // The prefix `pulse:` distinguishes a device name from the keyword.
    case .device("default"), .device("null"): "pulse:\(name ?? "")"
    case .device(let name): name
    }
  }

  private var name: String? { if case .device(let name) = self { name } else { nil } }

  /// Parses the form of `output.set`.
  ///
  /// - Throws: `invalid-argument` for an empty device name.
  init(wireText text: String) throws(MediaError) {
    let prefix = "pulse:"
    let name = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    guard !name.isEmpty else {
      throw MediaError(.invalidArgument, "the device name must not be empty", operation: "output.set")
    }
    switch text {
    case "default": self = .serverDefault
    case "null": self = .silence
    default: self = .device(name)
    }
  }
}
