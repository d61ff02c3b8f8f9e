/// A device of a sound server, as the server describes it: what sound comes out of, or goes into.
public struct AudioDevice: Sendable, Hashable {
  /// Which way the sound goes.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Sound comes out of it: PulseAudio's sink.
    case output
    /// Sound goes into it: PulseAudio's source.
    case input
  }

  /// One of a device's plugs or transducers, only one of which is in use: speakers, headphones, HDMI.
  public struct Port: Sendable, Hashable {
    /// Whether something is plugged in, as far as the hardware tells.
    public enum Availability: String, Sendable, Hashable, CaseIterable {
      case unknown
      case available = "yes"
      case unavailable = "no"
    }

    /// For programs: `analog-output-headphones`.
    public var name: String
    /// For people: `Headphones`.
    public var description: String
    public var availability: Availability

    public init(name: String, description: String, availability: Availability = .unknown) {
      self.name = name
      self.description = description
      self.availability = availability
    }
  }

  public var kind: Kind
  /// For programs: unique among those of its kind.
  public var name: String
  /// For people.
  public var description: String
  /// Frames a second, in Hz.
  public var sampleRateHz: Int
  public var channelCount: Int
  /// In the server's order; most virtual devices have none.
  public var ports: [Port]
  /// The name of the port in use.
  public var activePortName: String?
  /// The output whose sound this input takes; nil for outputs and for what has a microphone or a plug.
  public var monitoredOutputName: String?

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

  /// The port of that name.
  public func port(_ name: String?) -> Port? { ports.first { $0.name == name } }

  /// The port in use.
  public var activePort: Port? { port(activePortName) }

  /// Whether anybody could hear it: nothing is known to be unplugged.
  public var isUsable: Bool { activePort?.availability != .unavailable }

  /// Whether it stands in where the server has no device: nobody hears what is played on it. PulseAudio's `module-always-sink` and
  /// PipeWire's session manager give it this name.
  public var isStandIn: Bool { Self.isStandIn(name) }

  /// Whether an output of that name stands in where the server has no device.
  public static func isStandIn(_ name: String?) -> Bool { name == "auto_null" }
}

/// What a sound server has, at one moment.
public struct AudioDevices: Sendable, Hashable {
  /// What the server calls itself: `pulseaudio`, `PulseAudio (on PipeWire 0.3.65)`.
  public var serverName: String
  /// In the server's order.
  public var outputs: [AudioDevice]
  public var inputs: [AudioDevice]
  /// What sounds where nothing else is asked for.
  public var defaultOutputName: String?
  public var defaultInputName: String?

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

  /// The output of that name.
  public func output(_ name: String?) -> AudioDevice? { outputs.first { $0.name == name } }
}

/// Knows what a sound server has, and says so whenever that changes.
///
/// Life: `start` once, then any number of `check`, then `cancel`.
public protocol AudioDeviceMonitor: AnyObject, Sendable {
  /// Begins to report what there is: soon, and then after each change; nil when no server answers. Reports come one at
  /// a time, from any thread and also within `start` and `check`; they must neither block nor call the monitor.
  func start(_ onReport: @escaping @Sendable (AudioDevices?) -> Void)

  /// Reports once more as soon as the server answers, also when nothing has changed. Any thread, but not from a report;
  /// does not wait.
  func check()

  /// Ends the reports: when it returns none runs and none comes. Not from a report. Idempotent.
  func cancel()
}
