import PlayheadMediaCore

/// The fields of the replies of the commands about players and outputs, which other replies also have.
extension FieldKey<String> {
  static var player: Self {
    Self("player", "the name of the player")
  }
  static var timeControlStatus: Self {
    Self(
      "timeControlStatus", words: ["paused", "waitingToPlayAtSpecifiedRate", "playing"],
      "whether the player is paused, waits to play, or plays")
  }
  static var output: Self {
    Self("output", "the open output, such as `pulse:NAME`, `null` or `wav:PATH`; `none` while none is open")
  }
  static var stateOfOutput: Self {
    Self(
      "state", words: ["opening", "ready", "unresponsive", "fallback", "lost", "closed"],
      "the state of the output (`output.status`)")
  }
  static var selectedDevice: Self {
    Self("selected", "the selected device; `default` is that of the sound server, `null` is silence")
  }
  static var route: Self {
    Self("route", "the output device and, after a `/`, its port; `none` without an output")
  }
  static var error: Self {
    Self(error: "error", "the name of the error")
  }
  static var server: Self {
    Self("server", "the name of the sound server; `none` while none replies")
  }
  static var kindOfDevice: Self {
    Self("kind", words: ["output", "input", "port"], "whether the row is a device or a port of the device before it")
  }
  static var deviceName: Self {
    Self("device", "the name of the device in the sound server")
  }
  static var description: Self {
    Self("description", "the name of the device or port for users")
  }
  static var monitorOf: Self {
    Self("monitorOf", "the name of the output device that this input captures")
  }
  static var port: Self {
    Self("port", "the name of the port for programs")
  }
  static var portType: Self {
    Self(
      "portType",
      words: [
        "unknown", "aux", "speaker", "headphones", "line", "microphone", "headset", "handset", "earpiece", "spdif",
        "hdmi", "tv", "radio", "video", "usb", "bluetooth", "portable", "handsfree", "car", "hifi", "phone", "network",
        "analog",
      ], "what the port is, as far as the sound server knows it")
  }
  static var available: Self {
    Self("available", words: ["yes", "no", "unknown"], "whether something is plugged in to the port")
  }
}

extension FieldKey<Double> {
  static var rate: Self {
    Self("rate", "the requested rate: 1 is as recorded, negative values are reverse, 0 is paused")
  }
}

extension FieldKey<Float> {
  static var volume: Self {
    Self("volume", "the volume, from 0 (silence) to 1 (unchanged samples)")
  }
}

extension FieldKey<UInt64> {
  static var item: Self {
    Self("item", "the id of the entry")
  }
}

extension FieldKey<Int> {
  static var countOfEntries: Self {
    Self("count", "the number of entries in the queue")
  }
  static var count: Self {
    Self("count", "the number of elements in the whole list, of which the rows may be a part")
  }
  static var sampleRate: Self {
    Self("sampleRate", "the sample rate in Hz; 0 before the source of a recorder is open")
  }
  static var channels: Self {
    Self("channels", "the number of audio channels; 0 if a recorder does not know it yet")
  }
  static var clipped: Self {
    Self("clipped", "the number of samples beyond full scale that were heard")
  }
  static var countOfDevices: Self {
    Self("count", "the number of devices, without their ports")
  }
  static var preferredRank: Self {
    Self("preferred", "the position among the preferred devices, from 1")
  }
}

extension FieldKey<Bool> {
  static var temporary: Self {
    Self("temporary", "whether the player closes with the connection that created it, and is not saved")
  }
  static var isMuted: Self {
    Self("isMuted", "whether the player is muted")
  }
  static var `default`: Self {
    Self("default", "whether the track is presented by default, or the device is the default of the sound server")
  }
  static var current: Self {
    Self("current", "whether the entry is current, or the device is in use")
  }
  static var active: Self {
    Self("active", "whether the port is in use")
  }
}

extension FieldKey<[String]> {
  static var preferredDevices: Self {
    Self("preferred", "the names of the preferred output devices, in order; `none` if there are none")
  }
}

extension FieldKey<LostDevicePolicy> {
  static var lostPolicy: Self {
    Self("lost", "the action of the players when the output device disappears (`output.set`)")
  }
}
