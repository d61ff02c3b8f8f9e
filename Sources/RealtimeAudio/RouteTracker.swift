/// Makes the current route, and why it changes, of what the sound server and the stream say. A pure value.
///
/// Facts go in: what devices there are (`devicesChanged`), on which of them the stream is (`playing`), that its device or the
/// server went away (`lost`) and that nothing takes their place (`nothingPlays`). A `RouteChange` comes out where the route is
/// another one. What was lost is told with what it was replaced by: the change comes with `playing` or `nothingPlays`.
public struct RouteTracker: Sendable {
  public private(set) var route = AudioRoute()
  /// What there is; nil while no server answers.
  public private(set) var devices: AudioDevices?
  /// The device that the stream is on.
  private var deviceName: String?
  /// Outputs, and ports of the stream's device, that appeared or were plugged in since the route last changed.
  private var arrivals: Set<String> = []
  /// Why the route that is about to end does, where that is known.
  private var pendingReason: RouteChange.Reason?
  /// Whether there has been a route yet: the first one is no change.
  private var hasBegun = false

  public init() {}

  /// The server has these devices now, or does not answer.
  ///
  /// A device of the stream that is not among them leaves the route as it is: the stream tells what becomes of it.
  public mutating func devicesChanged(_ new: AudioDevices?) -> RouteChange? {
    let old = devices
    devices = new
    guard let new else { return nil }
    if let old { arrivals.formUnion(arrivable(in: new).subtracting(arrivable(in: old))) }
    arrivals.formIntersection(arrivable(in: new))
    guard let device = new.output(deviceName) else { return turn(to: route.output, .unknown) }
    guard old != nil else {
      // The stream was there before it was known what there is: this is the same route, in more words.
      route = AudioRoute(output: AudioRoute.End(device), input: input)
      return nil
    }
    return turn(to: AudioRoute.End(device), reason(from: old?.output(deviceName), to: device))
  }

  /// The stream is on `name` now: it was opened there, or moved. `isChosen`: because somebody asked for that device here.
  public mutating func playing(on name: String, isChosen: Bool = false) -> RouteChange? {
    let previous = deviceName
    deviceName = name
    defer {
      pendingReason = nil
      hasBegun = true
    }
    let end =
      devices?.output(name).map { AudioRoute.End($0) }
      ?? (previous == name ? route.output : nil) ?? AudioRoute.End(deviceName: name, deviceDescription: name)
    guard hasBegun else {
      route = AudioRoute(output: end, input: input)
      arrivals = []
      return nil
    }
    if let pendingReason, route.output != nil {
      // What was lost is back before anything took its place.
      return turn(to: end, end.deviceName == route.output?.deviceName ? .routeConfigurationChange : pendingReason)
    }
    if isChosen { return turn(to: end, .override) }
    if route.output == nil { return turn(to: end, .newDeviceAvailable) }
    return turn(to: end, arrivals.contains(name) ? .newDeviceAvailable : .override)
  }

  /// The stream is gone: with its device (`oldDeviceUnavailable`), with the server (`noSuitableRoute`), or for another reason.
  public mutating func lost(_ reason: RouteChange.Reason) {
    if reason == .oldDeviceUnavailable, let deviceName { devices?.outputs.removeAll { $0.name == deviceName } }
    if reason == .noSuitableRoute { devices = nil }
    deviceName = nil
    pendingReason = reason
  }

  /// There is nothing to be heard on.
  public mutating func nothingPlays() -> RouteChange? {
    defer {
      pendingReason = nil
      hasBegun = true
    }
    deviceName = nil
    return turn(to: nil, pendingReason ?? .noSuitableRoute)
  }

  // MARK: - Reasons

  /// The default input; nil when that only repeats what an output plays.
  private var input: AudioRoute.End? {
    let device = devices?.inputs.first { $0.name == devices?.defaultInputName }
    return device.flatMap { $0.monitoredOutputName == nil ? AudioRoute.End($0) : nil }
  }

  private mutating func turn(to output: AudioRoute.End?, _ reason: RouteChange.Reason) -> RouteChange? {
    let previous = route
    route = AudioRoute(output: output, input: input)
    if previous.output != output {
      if previous.output?.label != output?.label { arrivals = [] }
      return RouteChange(reason: reason, previous: previous, current: route)
    }
    guard previous.input != route.input else { return nil }
    let isGone = route.input == nil || devices?.inputs.contains { $0.name == previous.input?.deviceName } == false
    let inputReason: RouteChange.Reason =
      previous.input == nil ? .newDeviceAvailable : isGone ? .oldDeviceUnavailable : .routeConfigurationChange
    return hasBegun ? RouteChange(reason: inputReason, previous: previous, current: route) : nil
  }

  /// Why a device's end of the route is another one than before.
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
    // First what was plugged in: speakers may count as unplugged for just as long.
    if arrivals.contains(AudioRoute.End(new).label) { return .newDeviceAvailable }
    guard let left = new.port(oldPort.name), left.availability != .unavailable else {
      // Where it was unplugged long ago nobody was listening there.
      return oldPort.availability == .unavailable ? .newDeviceAvailable : .oldDeviceUnavailable
    }
    return old.port(newPort.name) == nil ? .newDeviceAvailable : .override
  }

  /// What can appear: outputs, and of the stream's own the ports into which something is known to be plugged.
  private func arrivable(in devices: AudioDevices) -> Set<String> {
    let ports = devices.output(deviceName)?.ports.filter { $0.availability == .available } ?? []
    return Set(devices.outputs.map(\.name)).union(ports.map { "\(deviceName ?? "")/\($0.name)" })
  }
}
