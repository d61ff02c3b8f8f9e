import PlayheadRealtimeAudio

/// Chooses the output device among the available ones. A pure value.
struct DeviceChooser {
  /// The device to play on now.
  enum Choice: Sendable, Hashable {
    /// The device with this name; nil: the server's default.
    case device(String?)
    case silence
    /// No device is available; the output waits for one.
    case nothing
  }

  var selection: OutputSelection
  /// The available devices; nil while no server is available.
  var devices: AudioDevices?
  /// The lost device for which the policy waits.
  private(set) var awaitedName: String?
  /// Whether a device has been open. Before that, the output waits for the selected device, independent of the policy.
  var hasHadDevice = false
  /// Whether a real device has been open. From then on a placeholder is not chosen.
  private var hasPlayedRealDevice = false

  init(selection: OutputSelection) { self.selection = selection }

  /// The best choice.
  var choice: Choice {
    if selection.target == .silence { return .silence }
    guard let devices else { return .nothing }
    if case .device(let name) = selection.target, devices.output(name) != nil { return .device(name) }
    if let name = selection.preferred.first(where: { devices.output($0)?.isUsable == true }) { return .device(name) }
    if let awaitedName { return devices.output(awaitedName) != nil ? .device(awaitedName) : .nothing }
    if case .device = selection.target, !hasHadDevice, selection.preferred.isEmpty { return .nothing }
    return devices.outputs.isEmpty || refusesDefault(devices.defaultOutputName) ? .nothing : .device(nil)
  }

  /// Whether the server's default device must not be used, because it is a placeholder. A restarting server exposes a
  /// placeholder before the real devices, and playback on it would be inaudible.
  func refusesDefault(_ name: String?) -> Bool { hasPlayedRealDevice && AudioDevice.isPlaceholder(name) }

  /// The first choice, before the available devices are known; nil if they must be known first.
  var firstChoice: Choice? {
    switch selection.target {
    case .silence: .silence
    case .device(let name): .device(name)
    case .serverDefault: selection.preferred.isEmpty ? .device(nil) : nil
    }
  }

  /// Whether an output that was opened for `opened` must switch devices. No switch is needed to the server's default
  /// device: the server itself moves streams that follow its default.
  func mustSwitch(from opened: Choice) -> Bool {
    switch (choice, opened) {
    case (.nothing, _): false
    case (.device(nil), .device(let name?)):
      selection.preferred.contains(name) && devices?.output(name)?.isUsable == false
    default: choice != opened
    }
  }

  /// Handles the loss of the device with this name. The disappearance of a placeholder is not a loss: it disappears
  /// when a real device appears.
  mutating func deviceWasLost(_ name: String?) {
    hasHadDevice = true
    devices?.outputs.removeAll { $0.name == name }
    guard !AudioDevice.isPlaceholder(name) else { return }
    switch selection.lostPolicy {
    case .hold, .null: awaitedName = name
    case .pause, .move: awaitedName = nil
    }
  }

  /// Handles the loss of the server and its device. The device may return later than the server.
  mutating func serverWasLost() {
    hasHadDevice = true
    devices = nil
    if case .device(let name) = selection.target, [.hold, .null].contains(selection.lostPolicy) { awaitedName = name }
  }

  /// Handles the opening of a device: no device is awaited any more.
  mutating func deviceWasOpened(_ name: String) {
    hasHadDevice = true
    if !AudioDevice.isPlaceholder(name) { hasPlayedRealDevice = true }
    awaitedName = nil
  }

  /// Sets the selection. An awaited device is still awaited only if the target stays and the policy requires it.
  mutating func select(_ selection: OutputSelection) {
    if selection.target != self.selection.target || [.pause, .move].contains(selection.lostPolicy) {
      awaitedName = nil
    }
    self.selection = selection
  }
}
