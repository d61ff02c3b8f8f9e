/// The current output and input of audio.
public struct AudioRoute: Sendable, Hashable {
  /// A device and its active port, at one end of a route.
  public struct Endpoint: Sendable, Hashable {
    /// `AudioDevice.name`.
    public var deviceName: String
    /// The display name of the device.
    public var deviceDescription: String
    /// The active port; nil for a device without ports.
    public var port: AudioDevice.Port?

    /// Creates an endpoint.
    public init(deviceName: String, deviceDescription: String, port: AudioDevice.Port? = nil) {
      self.deviceName = deviceName
      self.deviceDescription = deviceDescription
      self.port = port
    }

    init(_ device: AudioDevice) {
      self.init(deviceName: device.name, deviceDescription: device.description, port: device.activePort)
    }

    /// The device and port in text form: `alsa_output.pci/analog-output-headphones`.
    public var label: String { port.map { "\(deviceName)/\($0.name)" } ?? deviceName }
  }

  /// The output that the players use; nil when no output exists.
  public var output: Endpoint?
  /// The server's default input; nil when the default input is the monitor of an output.
  public var input: Endpoint?

  /// Creates a route.
  public init(output: Endpoint? = nil, input: Endpoint? = nil) {
    self.output = output
    self.input = input
  }
}

/// A change of the current route.
public struct RouteChange: Sendable, Hashable {
  /// AVFoundation's reasons (`AVAudioSession.RouteChangeReason`).
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Another reason.
    case unknown
    /// A device appeared, something was plugged in, or the sound server returned.
    case newDeviceAvailable
    /// The device disappeared, or was unplugged.
    case oldDeviceUnavailable
    /// The category of the session changed.
    case categoryChange
    /// The user chose another device or port, in Playhead or at the sound server.
    case override
    /// No output exists: no sound server responds, or it has no device.
    case noSuitableRoute
    /// The device and port are the same, but their properties changed.
    case routeConfigurationChange
  }

  /// Why the route changed.
  public var reason: Reason
  /// The route before the change.
  public var previous: AudioRoute
  /// The route after the change.
  public var current: AudioRoute

  /// Creates a change.
  public init(reason: Reason, previous: AudioRoute, current: AudioRoute) {
    self.reason = reason
    self.previous = previous
    self.current = current
  }

  /// Whether the previous output became unavailable. Playback then pauses, so that it does not continue on an
  /// unexpected output.
  public var isLossOfOutput: Bool {
    reason == .oldDeviceUnavailable && previous.output != nil && previous.output != current.output
  }
}
