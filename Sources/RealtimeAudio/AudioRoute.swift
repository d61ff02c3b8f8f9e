/// The way that sound takes at the moment.
public struct AudioRoute: Sendable, Hashable {
  /// A device and which of its ports, at one end of a route.
  public struct End: Sendable, Hashable {
    /// `AudioDevice.name`.
    public var deviceName: String
    public var deviceDescription: String
    /// The port in use; nil for a device without ports.
    public var port: AudioDevice.Port?

    public init(deviceName: String, deviceDescription: String, port: AudioDevice.Port? = nil) {
      self.deviceName = deviceName
      self.deviceDescription = deviceDescription
      self.port = port
    }

    init(_ device: AudioDevice) {
      self.init(deviceName: device.name, deviceDescription: device.description, port: device.activePort)
    }

    /// Device and port in one word: `alsa_output.pci/analog-output-headphones`.
    public var label: String { port.map { "\(deviceName)/\($0.name)" } ?? deviceName }
  }

  /// Where the players are heard; nil: nowhere.
  public var output: End?
  /// The server's default input, where that is no output's monitor.
  public var input: End?

  public init(output: End? = nil, input: End? = nil) {
    self.output = output
    self.input = input
  }
}

/// Sound takes another way.
public struct RouteChange: Sendable, Hashable {
  /// AVFoundation's reasons (`AVAudioSession.RouteChangeReason`).
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    case unknown
    /// A device appeared, something was plugged in, or the sound server is back.
    case newDeviceAvailable
    /// The device went away, or was unplugged.
    case oldDeviceUnavailable
    /// The category of the session is another one.
    case categoryChange
    /// Somebody chose another device or port: here, or at the sound server.
    case override
    /// There is nothing to be heard on: no sound server answers, or it has no device.
    case noSuitableRoute
    /// The same device and port, which are something else now.
    case routeConfigurationChange
  }

  public var reason: Reason
  public var previous: AudioRoute
  public var current: AudioRoute

  public init(reason: Reason, previous: AudioRoute, current: AudioRoute) {
    self.reason = reason
    self.previous = previous
    self.current = current
  }

  /// Whether who listened there is not heard any more: what plays is to pause rather than to blare out of something else.
  public var isLossOfOutput: Bool {
    reason == .oldDeviceUnavailable && previous.output != nil && previous.output != current.output
  }
}
