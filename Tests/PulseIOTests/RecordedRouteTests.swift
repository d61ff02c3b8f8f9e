import CPlayheadPulse
import Glibc
import PlayheadRealtimeAudio
import Testing

@testable import PlayheadPulseIO

/// Routes from libpulse's descriptions of sinks with ports, recorded from a laptop. They pass through libpulse's
/// structures, because no sink in the test rig has ports.
@Suite("Routes of recorded sink information")
struct RecordedRouteTests {
  /// `pactl list sinks` of a laptop's built-in sound card: speakers, and a headphone socket.
  private static func laptop(
    active: String, headphones: pa_port_available, speakers: pa_port_available = PA_PORT_AVAILABLE_UNKNOWN
  ) throws -> AudioDevice {
    try sink(
      "alsa_output.pci-0000_00_1f.3.analog-stereo", "Built-in Audio Analog Stereo", active: active,
      ports: [
        ("analog-output-speaker", "Speakers", speakers), ("analog-output-headphones", "Headphones", headphones),
      ])
  }

  private static func sink(
    _ name: String, _ description: String, active: String? = nil, ports: [(String, String, pa_port_available)] = [],
    rate: UInt32 = 44_100
  ) throws -> AudioDevice {
    // libpulse's structures are valid during its callback only; these are, too.
    var strings = [name, description]
    for port in ports { strings += [port.0, port.1] }
    let cStrings = strings.map { strdup($0) }
    defer { for text in cStrings { free(text) } }
    let infos = UnsafeMutablePointer<pa_sink_port_info>.allocate(capacity: max(1, ports.count))
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<pa_sink_port_info>?>.allocate(capacity: ports.count + 1)
    defer {
      infos.deallocate()
      pointers.deallocate()
    }
    var info = pa_sink_info()
    info.name = UnsafePointer(cStrings[0])
    info.description = UnsafePointer(cStrings[1])
    info.sample_spec = pa_sample_spec(format: PA_SAMPLE_S16LE, rate: rate, channels: 2)
    for (index, port) in ports.enumerated() {
      var value = pa_sink_port_info()
      value.name = UnsafePointer(cStrings[2 + index * 2])
      value.description = UnsafePointer(cStrings[3 + index * 2])
      value.available = Int32(port.2.rawValue)
      value.type =
        (port.0.contains("headphones") ? PA_DEVICE_PORT_TYPE_HEADPHONES : PA_DEVICE_PORT_TYPE_SPEAKER).rawValue
      infos.advanced(by: index).initialize(to: value)
      pointers[index] = infos.advanced(by: index)
      if port.0 == active { info.active_port = infos.advanced(by: index) }
    }
    pointers[ports.count] = nil
    info.ports = pointers
    info.n_ports = UInt32(ports.count)
    return try #require(AudioDevice(info))
  }

  private static func devices(_ outputs: AudioDevice..., input: String? = nil) -> AudioDevices {
    var devices = AudioDevices(serverName: "pulseaudio", outputs: outputs, defaultOutputName: outputs.first?.name)
    if let input {
      devices.inputs = [AudioDevice(kind: .input, name: input, description: input)]
      devices.defaultInputName = input
    }
    return devices
  }

  private static let laptopName = "alsa_output.pci-0000_00_1f.3.analog-stereo"

  /// Creates a tracker of a stream that plays on `device`.
  private func tracker(on device: AudioDevice, others: AudioDevice...) -> RouteTracker {
    var tracker = RouteTracker()
    var all = Self.devices(device)
    all.outputs += others
    #expect(tracker.devicesChanged(all) == nil)
    // The first route is not a change.
    #expect(tracker.playing(on: device.name) == nil)
    return tracker
  }

  @Test("libpulse's sink information becomes a device with its ports")
  func sinkInformationBecomesADeviceWithItsPorts() throws {
    let device = try Self.laptop(active: "analog-output-headphones", headphones: PA_PORT_AVAILABLE_YES)
    #expect(device.name == Self.laptopName && device.description == "Built-in Audio Analog Stereo")
    #expect(device.kind == .output && device.sampleRateHz == 44_100 && device.channelCount == 2)
    #expect(device.ports.map(\.name) == ["analog-output-speaker", "analog-output-headphones"])
    #expect(device.ports.map(\.availability) == [.unknown, .available])
    #expect(device.ports.map(\.portType) == [.speaker, .headphones])
    #expect(device.activePort?.description == "Headphones" && device.isUsable)
    let unplugged = try Self.sink(
      "hdmi", "HDMI", active: "hdmi-output-0", ports: [("hdmi-output-0", "HDMI / DisplayPort", PA_PORT_AVAILABLE_NO)])
    #expect(!unplugged.isUsable && unplugged.activePort?.availability == .unavailable)
  }

  @Test("unplugged headphones: the port becomes unavailable, then the server switches to the speakers")
  func unpluggedHeadphonesAreALossAndThenANewRoute() throws {
    var tracker = tracker(on: try Self.laptop(active: "analog-output-headphones", headphones: PA_PORT_AVAILABLE_YES))
    #expect(tracker.route.output?.label == "\(Self.laptopName)/analog-output-headphones")
    let first = tracker.devicesChanged(
      Self.devices(try Self.laptop(active: "analog-output-headphones", headphones: PA_PORT_AVAILABLE_NO)))
    #expect(first?.reason == .oldDeviceUnavailable && first?.isLossOfOutput == true)
    #expect(first?.previous.output?.port?.availability == .available)
    let second = tracker.devicesChanged(
      Self.devices(try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO)))
    // The loss was reported before; this is only the new route.
    #expect(second?.reason == .newDeviceAvailable && second?.isLossOfOutput == false)
    #expect(second?.current.output?.port?.description == "Speakers")
  }

  @Test("unplugged headphones, when the server reports both changes at once")
  func unpluggedHeadphonesReportedTogetherWithTheSpeakersAreOneLoss() throws {
    var tracker = tracker(on: try Self.laptop(active: "analog-output-headphones", headphones: PA_PORT_AVAILABLE_YES))
    let change = tracker.devicesChanged(
      Self.devices(try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO)))
    #expect(change?.reason == .oldDeviceUnavailable && change?.isLossOfOutput == true)
    #expect(change?.previous.output?.port?.name == "analog-output-headphones")
    #expect(change?.current.output?.port?.name == "analog-output-speaker")
  }

  @Test("plugged-in headphones are a new device without a loss of output")
  func pluggedInHeadphonesAreANewDeviceWithoutALoss() throws {
    var tracker = tracker(on: try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO))
    #expect(
      tracker.devicesChanged(
        Self.devices(try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_YES))) == nil)
    let change = tracker.devicesChanged(
      Self.devices(
        try Self.laptop(
          active: "analog-output-headphones", headphones: PA_PORT_AVAILABLE_YES, speakers: PA_PORT_AVAILABLE_NO)))
    // This laptop reports its speakers as unavailable while headphones are plugged in: they were not unplugged.
    #expect(change?.current.output?.port?.name == "analog-output-headphones")
    #expect(change?.reason == .newDeviceAvailable && change?.isLossOfOutput == false)
  }

  @Test("a switch to a port that was available before is an override")
  func switchToAnAvailablePortIsAnOverride() throws {
    var tracker = tracker(on: try Self.laptop(active: "analog-output-headphones", headphones: PA_PORT_AVAILABLE_YES))
    let change = tracker.devicesChanged(
      Self.devices(try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_YES)))
    #expect(change?.reason == .override && change?.isLossOfOutput == false)
  }

  @Test("a new device changes no route; a stream that moves to it has a new device")
  func newDeviceChangesTheRouteOnlyWhenTheStreamMovesToIt() throws {
    let laptop = try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO)
    let headset = try Self.sink("bluez_output.headset", "Headset")
    var tracker = tracker(on: laptop)
    #expect(tracker.devicesChanged(Self.devices(laptop, headset)) == nil)
    let change = tracker.playing(on: headset.name)
    #expect(change?.reason == .newDeviceAvailable && change?.current.output?.deviceDescription == "Headset")
    #expect(change?.previous.output?.deviceName == laptop.name)
    // A return: the device was available all the time.
    #expect(tracker.playing(on: laptop.name)?.reason == .override)
    #expect(tracker.playing(on: headset.name)?.reason == .override)
  }

  @Test("a removed device is reported with the device that replaces it")
  func removedDeviceIsReportedWithItsReplacement() throws {
    let laptop = try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO)
    let headset = try Self.sink("bluez_output.headset", "Headset")
    var tracker = tracker(on: headset, others: laptop)
    tracker.lost(.oldDeviceUnavailable)
    #expect(tracker.route.output?.deviceName == headset.name)
    let change = tracker.playing(on: laptop.name)
    #expect(change?.reason == .oldDeviceUnavailable && change?.isLossOfOutput == true)
    #expect(change?.previous.output?.deviceName == headset.name && change?.current.output?.deviceName == laptop.name)
  }

  @Test("a removed device without a replacement leaves no route until it returns")
  func removedDeviceWithoutAReplacementLeavesNoRoute() throws {
    let headset = try Self.sink("bluez_output.headset", "Headset")
    var tracker = tracker(on: headset)
    tracker.lost(.oldDeviceUnavailable)
    let change = tracker.noOutputAvailable()
    #expect(change?.reason == .oldDeviceUnavailable && change?.current.output == nil)
    #expect(tracker.noOutputAvailable() == nil)
    #expect(tracker.devicesChanged(Self.devices(headset)) == nil)
    #expect(tracker.playing(on: headset.name)?.reason == .newDeviceAvailable)
  }

  @Test("a lost server leaves no suitable route")
  func lostServerLeavesNoSuitableRoute() throws {
    let headset = try Self.sink("bluez_output.headset", "Headset")
    var tracker = tracker(on: headset)
    tracker.lost(.noSuitableRoute)
    #expect(tracker.noOutputAvailable()?.reason == .noSuitableRoute)
    #expect(tracker.devices == nil)
    #expect(tracker.devicesChanged(Self.devices(headset)) == nil)
    let change = tracker.playing(on: headset.name)
    #expect(change?.reason == .newDeviceAvailable && change?.previous.output == nil)
  }

  @Test("a device that the client chose is an override, also if it is new")
  func chosenDeviceIsAnOverrideEvenIfItIsNew() throws {
    let laptop = try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO)
    let headset = try Self.sink("bluez_output.headset", "Headset")
    var tracker = tracker(on: laptop)
    #expect(tracker.devicesChanged(Self.devices(laptop, headset)) == nil)
    #expect(tracker.playing(on: headset.name, isChosen: true)?.reason == .override)
  }

  @Test("a new description is a configuration change; a new rate is not a route change")
  func newDescriptionIsAConfigurationChangeButANewRateIsNot() throws {
    var tracker = tracker(on: try Self.sink("usb", "USB Audio"))
    #expect(tracker.devicesChanged(Self.devices(try Self.sink("usb", "USB Audio", rate: 96_000))) == nil)
    let change = tracker.devicesChanged(Self.devices(try Self.sink("usb", "DAC")))
    #expect(change?.reason == .routeConfigurationChange && change?.isLossOfOutput == false)
  }

  @Test("a microphone that appears and disappears changes the route without a loss of output")
  func microphoneChangesTheRouteWithoutALossOfOutput() throws {
    let laptop = try Self.laptop(active: "analog-output-speaker", headphones: PA_PORT_AVAILABLE_NO)
    var tracker = tracker(on: laptop)
    let appeared = tracker.devicesChanged(Self.devices(laptop, input: "mic"))
    #expect(appeared?.reason == .newDeviceAvailable && appeared?.current.input?.deviceName == "mic")
    let removed = tracker.devicesChanged(Self.devices(laptop))
    #expect(removed?.reason == .oldDeviceUnavailable)
    #expect(removed?.isLossOfOutput == false && removed?.current.input == nil)
  }
}
