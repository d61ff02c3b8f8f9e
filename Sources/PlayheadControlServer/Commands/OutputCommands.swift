import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadWireProtocol

extension OutputListCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let engine = context.server.engine
    guard let devices = engine.devices else { return Reply(count: 0, server: nil, rows: []) }
    let rows = (devices.outputs + devices.inputs).flatMap { device in
      [row(device, of: devices, in: engine)] + device.ports.map { row($0, of: device) }
    }
    return Reply(count: devices.outputs.count + devices.inputs.count, server: devices.serverName, rows: rows)
  }

  private static func row(_ device: AudioDevice, of devices: AudioDevices, in engine: EngineCore) -> Row {
    let (route, preferred) = (engine.route, engine.outputSelection.preferred)
    let isOutput = device.kind == .output
    return Row(
      kind: device.kind.rawValue, device: device.name, description: device.description,
      isDefault: device.name == (isOutput ? devices.defaultOutputName : devices.defaultInputName),
      isCurrent: device.name == (isOutput ? route.output : route.input)?.deviceName,
      preferred: isOutput ? preferred.firstIndex(of: device.name).map { $0 + 1 } : nil,
      sampleRate: device.sampleRateHz, channels: device.channelCount, monitorOf: device.monitoredOutputName)
  }

  private static func row(_ port: AudioDevice.Port, of device: AudioDevice) -> Row {
    Row(
      device: device.name, description: port.description, port: port.name, available: port.availability.rawValue,
      portType: port.portType.rawValue,
      isActive: port.name == device.activePortName)
  }
}

extension OutputSetCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let engine = context.server.engine
    let (device, preferred, lost) = (arguments.device, arguments.preferred, arguments.lost)
    if device != nil || preferred != nil || lost != nil {
      var selection = engine.outputSelection
      if let device { selection.target = try OutputSelection.Target(wireText: device) }
      if let preferred { selection.preferred = preferred }
      if let lost { selection.lostPolicy = lost }
      try engine.selectOutput(selection)
    }
    return OutputFields(of: engine)
  }
}

extension OutputStatusCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    // All players share one output, but the name must be valid.
    _ = try context.server.registry.player(arguments.player)
    return OutputFields(of: context.server.engine)
  }
}

extension OutputFields {
  /// The state of the output, the output selection, and the route.
  fileprivate init(of engine: EngineCore) {
    let (state, selection) = (engine.outputState, engine.outputSelection)
    self.init(
      output: state.label.isEmpty ? nil : state.label, state: state.status.rawValue,
      sampleRate: state.format?.sampleRateHz, channels: state.format?.channelCount,
      clipped: engine.clippedSampleCount, selected: selection.target.wireText,
      preferred: selection.preferred.isEmpty ? nil : selection.preferred, lost: selection.lostPolicy,
      route: engine.route.output?.label, error: state.error?.code.name)
  }
}

extension OutputSelection {
  /// The value of `output.selection`.
  var fields: OutputSelectionFields {
    OutputSelectionFields(selected: target.wireText, preferred: preferred, lost: lostPolicy)
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
