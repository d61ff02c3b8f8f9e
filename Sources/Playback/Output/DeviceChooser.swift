import RealtimeAudio

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
  /// Whether there has been a device. A device that was never available is awaited, whatever the policy.
  var hasHadDevice = false
  /// Whether a real device has played. From then on a placeholder does not count as a device.
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

  /// Whether the server's default device is a placeholder. A restarting server exposes it first, and playback to it
  /// would be inaudible.
  func refusesDefault(_ name: String?) -> Bool { hasPlayedRealDevice && AudioDevice.isPlaceholder(name) }

  /// The first choice, before the available devices are known; nil if they must be known first.
  var firstChoice: Choice? {
    switch selection.target {
    case .silence: .silence
    case .device(let name): .device(name)
    case .serverDefault: selection.preferred.isEmpty ? .device(nil) : nil
    }
  }

  /// Whether an output that was opened for `opened` must switch devices. For the server's default it stays: the server
  /// itself moves the streams that follow its default.
  func mustSwitch(from opened: Choice) -> Bool {
    switch (choice, opened) {
    case (.nothing, _): false
    case (.device(nil), .device(let name?)):
      selection.preferred.contains(name) && devices?.output(name)?.isUsable == false
    default: choice != opened
    }
  }

  /// Handles the loss of the device with this name. A placeholder disappears when a real device appears; nothing is
  /// lost then.
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
