import RealtimeAudio

/// Which device to play on, of those that there are. A pure value.
struct DeviceChooser {
  /// What is to be played on now.
  enum Choice: Sendable, Hashable {
    /// The device of this name; nil: the server's default.
    case device(String?)
    case silence
    /// There is nothing: what comes is waited for.
    case nothing
  }

  var selection: OutputSelection
  /// What there is; nil while no server answers.
  var devices: AudioDevices?
  /// The device that went away and that the policy waits for.
  private(set) var awaitedName: String?
  /// Whether there has been a device: one that was never there is waited for, whatever the policy.
  var hasHadDevice = false
  /// Whether something could be heard before: what stands in for a device is then no device any more.
  private var hasBeenHeard = false

  init(selection: OutputSelection) { self.selection = selection }

  /// What is best.
  var choice: Choice {
    if selection.target == .silence { return .silence }
    guard let devices else { return .nothing }
    if case .device(let name) = selection.target, devices.output(name) != nil { return .device(name) }
    if let name = selection.preferred.first(where: { devices.output($0)?.isUsable == true }) { return .device(name) }
    if let awaitedName { return devices.output(awaitedName) != nil ? .device(awaitedName) : .nothing }
    if case .device = selection.target, !hasHadDevice, selection.preferred.isEmpty { return .nothing }
    return devices.outputs.isEmpty || refusesDefault(devices.defaultOutputName) ? .nothing : .device(nil)
  }

  /// Whether the server's default device is none: a server that comes back has what stands in for one first, and what is played
  /// on that nobody hears.
  func refusesDefault(_ name: String?) -> Bool { hasBeenHeard && AudioDevice.isStandIn(name) }

  /// What to try before it is known what there is; nil: that has to be known first.
  var firstChoice: Choice? {
    switch selection.target {
    case .silence: .silence
    case .device(let name): .device(name)
    case .serverDefault: selection.preferred.isEmpty ? .device(nil) : nil
    }
  }

  /// Whether who plays on what `opened` says has to leave it. The server's default is anything that was not left: it is the
  /// server that moves who follows it.
  func mustLeave(_ opened: Choice) -> Bool {
    switch (choice, opened) {
    case (.nothing, _): false
    case (.device(nil), .device(let name?)):
      selection.preferred.contains(name) && devices?.output(name)?.isUsable == false
    default: choice != opened
    }
  }

  /// The device of this name went away. What stood in for one goes when one comes: nothing is lost by it.
  mutating func deviceWasLost(_ name: String?) {
    hasHadDevice = true
    devices?.outputs.removeAll { $0.name == name }
    guard !AudioDevice.isStandIn(name) else { return }
    switch selection.lostPolicy {
    case .hold, .null: awaitedName = name
    case .pause, .move: awaitedName = nil
    }
  }

  /// The server went away, and the device with it: which comes back when it does, if not at once.
  mutating func serverWasLost() {
    hasHadDevice = true
    devices = nil
    if case .device(let name) = selection.target, [.hold, .null].contains(selection.lostPolicy) { awaitedName = name }
  }

  /// The device of this name is played on: nothing is waited for any more.
  mutating func deviceWasOpened(_ name: String) {
    hasHadDevice = true
    if !AudioDevice.isStandIn(name) { hasBeenHeard = true }
    awaitedName = nil
  }

  /// Something else is wanted. What was waited for is not, unless the policy still says so.
  mutating func select(_ selection: OutputSelection) {
    if selection.target != self.selection.target || [.pause, .move].contains(selection.lostPolicy) {
      awaitedName = nil
    }
    self.selection = selection
  }
}
