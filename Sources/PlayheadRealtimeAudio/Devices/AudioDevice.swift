/// A device of a sound server, as the server describes it: an output or an input.
public struct AudioDevice: Sendable, Hashable {
  /// The direction of the audio.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A playback device: PulseAudio's sink.
    case output
    /// A capture device: PulseAudio's source.
    case input
  }

  /// A plug or transducer of a device, such as speakers, headphones or HDMI. A device uses one port at a time.
  public struct Port: Sendable, Hashable {
    /// Whether something is plugged into the port, as far as the hardware reports it.
    public enum Availability: String, Sendable, Hashable, CaseIterable {
      /// The hardware does not report it.
      case unknown
      /// Something is plugged in.
      case available = "yes"
      /// Nothing is plugged in.
      case unavailable = "no"
    }

    /// What a port is; corresponds to AVAudioSession.Port. The cases are those of PulseAudio (`pa_device_port_type` in
    /// `pulse/def.h`).
    public enum PortType: String, Sendable, Hashable, CaseIterable {
      /// The sound server does not know it.
      case unknown
      /// The type of this name in PulseAudio.
      case aux, speaker, headphones, line, microphone, headset, handset, earpiece, spdif, hdmi, tv, radio, video, usb
      /// The type of this name in PulseAudio.
      case bluetooth, portable, handsfree, car, hifi, phone, network, analog
    }

    /// The identifier for programs, such as `analog-output-headphones`.
    public var name: String
    /// The display name, such as `Headphones`.
    public var description: String
    /// Whether something is plugged in.
    public var availability: Availability
    /// What the port is, as far as the sound server knows it.
    public var portType: PortType

    /// Creates a port.
    public init(
      name: String, description: String, availability: Availability = .unknown, portType: PortType = .unknown
    ) {
      self.name = name
      self.description = description
      self.availability = availability
      self.portType = portType
    }
  }

  /// The direction of the audio.
  public var kind: Kind
  /// The identifier for programs, unique among the devices of one kind.
  public var name: String
  /// The display name.
  public var description: String
  /// The sample rate, in Hz.
  public var sampleRateHz: Int
  /// The number of channels.
  public var channelCount: Int
  /// The ports in the server's order; empty for most virtual devices.
  public var ports: [Port]
  /// The name of the active port.
  public var activePortName: String?
  /// The output whose audio this input captures; nil for outputs and for inputs with a microphone or a plug.
  public var monitoredOutputName: String?

  /// Creates a device.
  public init(
    kind: Kind, name: String, description: String, sampleRateHz: Int = 48_000, channelCount: Int = 2,
    ports: [Port] = [],
    activePortName: String? = nil, monitoredOutputName: String? = nil
  ) {
    self.kind = kind
    self.name = name
    self.description = description
    self.sampleRateHz = sampleRateHz
    self.channelCount = channelCount
    self.ports = ports
    self.activePortName = activePortName
    self.monitoredOutputName = monitoredOutputName
  }

  /// Returns the port with the given name.
  public func port(_ name: String?) -> Port? { ports.first { $0.name == name } }

  /// The active port.
  public var activePort: Port? { port(activePortName) }

  /// Whether the device may be audible: its active port is not known to be unplugged.
  public var isUsable: Bool { activePort?.availability != .unavailable }

  /// Whether the device is `auto_null`: the placeholder that PulseAudio's `module-always-sink` and PipeWire's session
  /// manager create when no device exists. Audio played to it is inaudible.
  public var isPlaceholder: Bool { Self.isPlaceholder(name) }

  /// Returns whether `name` is the name of the server's placeholder device.
  public static func isPlaceholder(_ name: String?) -> Bool { name == "auto_null" }
}

/// The devices of a sound server at one moment.
public struct AudioDevices: Sendable, Hashable {
  /// The server's name for itself: `pulseaudio`, `PulseAudio (on PipeWire 0.3.65)`.
  public var serverName: String
  /// The outputs in the server's order.
  public var outputs: [AudioDevice]
  /// The inputs in the server's order, monitors included.
  public var inputs: [AudioDevice]
  /// The output of streams that request no device.
  public var defaultOutputName: String?
  /// The input of streams that request no device.
  public var defaultInputName: String?

  /// Creates a list of devices.
  public init(
    serverName: String = "", outputs: [AudioDevice] = [], inputs: [AudioDevice] = [], defaultOutputName: String? = nil,
    defaultInputName: String? = nil
  ) {
    self.serverName = serverName
    self.outputs = outputs
    self.inputs = inputs
    self.defaultOutputName = defaultOutputName
    self.defaultInputName = defaultInputName
  }

  /// Returns the output with the given name.
  public func output(_ name: String?) -> AudioDevice? { outputs.first { $0.name == name } }
}

/// Reports the devices of a sound server whenever they change.
///
/// Lifecycle: `start` once, then any number of `check`, then `cancel`.
public protocol AudioDeviceMonitor: AnyObject, Sendable {
  /// Starts the reports: the first one follows soon, the others after each change.
  ///
  /// - Parameter onReport: Receives the devices; nil when no server responds. The closure is called on any thread, one
  ///   call at a time, and possibly within `start` and `check`. The closure must neither block nor call the monitor.
  func start(_ onReport: @escaping @Sendable (AudioDevices?) -> Void)

  /// Reports once more as soon as the server responds, even if nothing has changed. Any thread, but not from a report;
  /// does not block.
  func check()

  /// Ends the reports: when `cancel` has returned, no report runs or follows. Not from a report. Idempotent.
  func cancel()
}
