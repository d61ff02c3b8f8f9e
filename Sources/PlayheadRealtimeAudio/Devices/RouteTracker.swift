/// Derives the current route, and the reasons of its changes, from the reports of the sound server and the stream. A
/// value type without side effects.
///
/// The inputs:
/// - the available devices (`devicesChanged`),
/// - the device of the stream (`playing`),
/// - the loss of the device or the server (`lost`),
/// - the absence of a replacement (`noOutputAvailable`).
///
/// A `RouteChange` is returned when the route changed. A loss is reported together with its replacement: the change
/// comes with `playing` or `noOutputAvailable`.
package struct RouteTracker: Sendable {
  /// The current route.
  package private(set) var route = AudioRoute()
  /// The available devices; nil while no server responds.
  package private(set) var devices: AudioDevices?
  /// The stream's device.
  private var deviceName: String?
  /// The outputs, and ports of the stream's device, that appeared or were plugged in since the route last changed.
  private var newlyAvailable: Set<String> = []
  /// The reason of the next route change, if it is known already.
  private var pendingReason: RouteChange.Reason?
  /// Whether a route has been established. The first route is not a change.
  private var isEstablished = false

  /// Creates a tracker without a route.
  package init() {}

  /// Sets the available devices; nil means that the server does not respond.
  ///
  /// If the stream's device is missing, the route stays: the stream reports the outcome.
  package mutating func devicesChanged(_ new: AudioDevices?) -> RouteChange? {
    let old = devices
    devices = new
    guard let new else { return nil }
    if let old { newlyAvailable.formUnion(availableNames(in: new).subtracting(availableNames(in: old))) }
    newlyAvailable.formIntersection(availableNames(in: new))
    guard let device = new.output(deviceName) else { return changeRoute(to: route.output, .unknown) }
    guard old != nil else {
      // The stream existed before the devices were known: this is the same route with a full description.
      route = AudioRoute(output: AudioRoute.Endpoint(device), input: input)
      return nil
    }
    return changeRoute(to: AudioRoute.Endpoint(device), reason(from: old?.output(deviceName), to: device))
  }

  /// Sets the device of the stream after the stream was opened or moved.
  ///
  /// - Parameters:
  ///   - name: The name of the device.
  ///   - isChosen: Whether the user requested that device in Playhead.
  package mutating func playing(on name: String, isChosen: Bool = false) -> RouteChange? {
    let previous = deviceName
    deviceName = name
    defer {
      pendingReason = nil
      isEstablished = true
    }
    let endpoint =
      devices?.output(name).map { AudioRoute.Endpoint($0) }
      ?? (previous == name ? route.output : nil) ?? AudioRoute.Endpoint(deviceName: name, deviceDescription: name)
    guard isEstablished else {
      route = AudioRoute(output: endpoint, input: input)
      newlyAvailable = []
      return nil
    }
    if let pendingReason, route.output != nil {
      // The lost device returned before another one replaced it.
      let isSameDevice = endpoint.deviceName == route.output?.deviceName
      return changeRoute(to: endpoint, isSameDevice ? .routeConfigurationChange : pendingReason)
    }
    if isChosen { return changeRoute(to: endpoint, .override) }
    if route.output == nil { return changeRoute(to: endpoint, .newDeviceAvailable) }
    return changeRoute(to: endpoint, newlyAvailable.contains(name) ? .newDeviceAvailable : .override)
  }

  /// Records the loss of the stream: with its device (`oldDeviceUnavailable`), with the server (`noSuitableRoute`), or
  /// for another reason.
  package mutating func lost(_ reason: RouteChange.Reason) {
    if reason == .oldDeviceUnavailable, let deviceName { devices?.outputs.removeAll { $0.name == deviceName } }
    if reason == .noSuitableRoute { devices = nil }
    deviceName = nil
    pendingReason = reason
  }

  /// Ends the route: no output exists.
  package mutating func noOutputAvailable() -> RouteChange? {
    defer {
      pendingReason = nil
      isEstablished = true
    }
    deviceName = nil
    return changeRoute(to: nil, pendingReason ?? .noSuitableRoute)
  }

  // MARK: - Reasons

  /// The default input; nil when it is the monitor of an output.
  private var input: AudioRoute.Endpoint? {
    let device = devices?.inputs.first { $0.name == devices?.defaultInputName }
    return device.flatMap { $0.monitoredOutputName == nil ? AudioRoute.Endpoint($0) : nil }
  }

  private mutating func changeRoute(to output: AudioRoute.Endpoint?, _ reason: RouteChange.Reason) -> RouteChange? {
    let previous = route
    route = AudioRoute(output: output, input: input)
    if previous.output != output {
      if previous.output?.label != output?.label { newlyAvailable = [] }
      return RouteChange(reason: reason, previous: previous, current: route)
    }
    guard previous.input != route.input else { return nil }
    let isUnavailable =
      route.input == nil || devices?.inputs.contains { $0.name == previous.input?.deviceName } == false
    let inputReason: RouteChange.Reason =
      previous.input == nil ? .newDeviceAvailable : isUnavailable ? .oldDeviceUnavailable : .routeConfigurationChange
    return isEstablished ? RouteChange(reason: inputReason, previous: previous, current: route) : nil
  }

  /// Returns the reason for the change from `old` to `new`, two states of the stream's device.
  private func reason(from old: AudioDevice?, to new: AudioDevice) -> RouteChange.Reason {
    guard let old else { return .routeConfigurationChange }
    guard let oldPort = old.activePort, let newPort = new.activePort else { return .routeConfigurationChange }
    if oldPort.name == newPort.name {
      switch (oldPort.availability, newPort.availability) {
      case (.available, .unavailable), (.unknown, .unavailable): return .oldDeviceUnavailable
      case (.unavailable, .available), (.unavailable, .unknown): return .newDeviceAvailable
      default: return .routeConfigurationChange
      }
    }
    // Check the new port first: while headphones are plugged in, the server may report the speakers as unplugged.
    if newlyAvailable.contains(AudioRoute.Endpoint(new).label) { return .newDeviceAvailable }
    guard let oldPortNow = new.port(oldPort.name), oldPortNow.availability != .unavailable else {
      // If the old port was unplugged before, its loss did not cause the change.
      return oldPort.availability == .unavailable ? .newDeviceAvailable : .oldDeviceUnavailable
    }
    return old.port(newPort.name) == nil ? .newDeviceAvailable : .override
  }

  /// Returns the names that can appear: the outputs, and the ports of the stream's device that are known to be plugged
  /// in.
  private func availableNames(in devices: AudioDevices) -> Set<String> {
    let ports = devices.output(deviceName)?.ports.filter { $0.availability == .available } ?? []
    return Set(devices.outputs.map(\.name)).union(ports.map { "\(deviceName ?? "")/\($0.name)" })
  }
}
