import PlayheadMediaCore
import PlayheadRealtimeAudio
import Testing

@testable import PlayheadPlayback

@Suite struct DeviceChooserTests {
  private func chooser(_ selection: OutputSelection, _ names: [String]?, unplugged: Set<String> = []) -> DeviceChooser {
    var chooser = DeviceChooser(selection: selection)
    chooser.devices = names.map { names in
      AudioDevices(
        outputs: names.map { name in
          AudioDevice(
            kind: .output, name: name, description: name,
            ports: [
              .init(name: "p", description: "P", availability: unplugged.contains(name) ? .unavailable : .unknown)
            ],
            activePortName: "p")
        }, defaultOutputName: names.first)
    }
    return chooser
  }

  @Test func namedDeviceComesBeforePreferredDevicesAndTheDefault() {
    let selection = OutputSelection(.device("a"), preferred: ["b", "c"])
    #expect(chooser(selection, ["x", "c", "b", "a"]).choice == .device("a"))
    #expect(chooser(selection, ["x", "c", "b"]).choice == .device("b"))
    #expect(chooser(selection, ["x", "c", "b"], unplugged: ["b"]).choice == .device("c"))
    #expect(chooser(selection, ["x"]).choice == .device(nil))
    #expect(chooser(selection, []).choice == .nothing)
    #expect(chooser(selection, nil).choice == .nothing)
    #expect(chooser(OutputSelection(.silence, preferred: ["b"]), ["b"]).choice == .silence)
    #expect(chooser(OutputSelection(.silence), nil).choice == .silence)
  }

  @Test func deviceSelectedByNameIsChosenEvenIfUnplugged() {
    #expect(chooser(OutputSelection(.device("a")), ["x", "a"], unplugged: ["a"]).choice == .device("a"))
  }

  @Test func firstChoiceNeedsTheDeviceListOnlyForPreferredDevices() {
    #expect(chooser(OutputSelection(), nil).firstChoice == .device(nil))
    #expect(chooser(OutputSelection(.device("a"), preferred: ["b"]), nil).firstChoice == .device("a"))
    #expect(chooser(OutputSelection(.silence), nil).firstChoice == .silence)
    #expect(chooser(OutputSelection(preferred: ["b"]), nil).firstChoice == nil)
  }

  @Test(arguments: LostDevicePolicy.allCases) func onlyPoliciesHoldAndNullWaitForALostDevice(policy: LostDevicePolicy) {
    var chooser = chooser(OutputSelection(lostPolicy: policy), ["x", "a"])
    chooser.deviceWasLost("a")
    #expect(chooser.devices?.outputs.map(\.name) == ["x"])
    let waits = policy == .hold || policy == .null
    #expect(chooser.choice == (waits ? .nothing : .device(nil)))
    chooser.devices = self.chooser(OutputSelection(), ["x", "a"]).devices
    #expect(chooser.choice == (waits ? .device("a") : .device(nil)))
    chooser.deviceWasOpened("a")
    #expect(chooser.choice == .device(nil))
    #expect(!chooser.mustSwitch(from: .device("a")))
  }

  @Test func changedPolicyEndsTheWaitForALostDevice() {
    var chooser = chooser(OutputSelection(lostPolicy: .hold), ["x", "a"])
    chooser.deviceWasLost("a")
    chooser.select(OutputSelection(lostPolicy: .null))
    #expect(chooser.choice == .nothing)
    chooser.select(OutputSelection(lostPolicy: .move))
    #expect(chooser.choice == .device(nil))
  }

  @Test func preferredDeviceComesBeforeAnAwaitedDevice() {
    var chooser = chooser(OutputSelection(preferred: ["b"], lostPolicy: .hold), ["x", "a"])
    chooser.deviceWasLost("a")
    #expect(chooser.choice == .nothing)
    chooser.devices = self.chooser(OutputSelection(), ["x", "b"]).devices
    #expect(chooser.choice == .device("b"))
  }

  @Test func placeholderDeviceIsChosenOnlyUntilARealDeviceWasOpened() {
    var chooser = chooser(OutputSelection(lostPolicy: .pause), ["auto_null"])
    #expect(chooser.choice == .device(nil))
    chooser.deviceWasOpened("auto_null")
    chooser.serverWasLost()
    chooser.devices = self.chooser(OutputSelection(), ["auto_null"]).devices
    #expect(chooser.choice == .device(nil), "there was never anything else")
    chooser.devices = self.chooser(OutputSelection(), ["a", "auto_null"]).devices
    chooser.deviceWasLost("auto_null")
    #expect(chooser.choice == .device(nil))
    chooser.deviceWasOpened("a")
    for policy in LostDevicePolicy.allCases {
      var lost = chooser
      lost.select(OutputSelection(lostPolicy: policy))
      lost.serverWasLost()
      lost.devices = self.chooser(OutputSelection(), ["auto_null"]).devices
      #expect(lost.choice == .nothing, "\(policy): playback on the placeholder is inaudible")
      lost.devices = self.chooser(OutputSelection(), ["a"]).devices
      #expect(lost.choice == .device(nil))
    }
    // A placeholder that is selected by name is used.
    chooser.select(OutputSelection(.device("auto_null")))
    chooser.devices = self.chooser(OutputSelection(), ["auto_null"]).devices
    #expect(chooser.choice == .device("auto_null"))
  }

  @Test(arguments: LostDevicePolicy.allCases)
  func selectedDeviceIsChosenAgainAfterAServerRestart(policy: LostDevicePolicy) {
    var chooser = chooser(OutputSelection(.device("a"), lostPolicy: policy), ["x", "a"])
    chooser.deviceWasOpened("a")
    chooser.serverWasLost()
    #expect(chooser.choice == .nothing)
    chooser.devices = self.chooser(OutputSelection(), ["x"]).devices
    #expect(chooser.choice == (policy == .hold || policy == .null ? .nothing : .device(nil)))
    chooser.devices = self.chooser(OutputSelection(), ["x", "a"]).devices
    #expect(chooser.choice == .device("a"))
  }
}
