import MediaCore

extension CommandTable {
  /// Commands about output devices.
  static let outputs: [CommandSpec] = [
    CommandSpec(
      .outputList, .players, "List the devices of the sound server and their ports.",
      details:
        "`kind` is `output`, `input` or `port`; the rows of ports follow their device. `current` marks the device"
        + " that plays, `default` the default device of the server, and `preferred` is the position among the"
        + " preferred devices, from 1. `monitorOf` names the output that an input captures. `active` marks the port"
        + " in use, and `available` states whether something is plugged in: `yes`, `no` or `unknown`. `server` is"
        + " the name of the server: `none` while none replies, and for outputs without devices. Most virtual"
        + " devices have no ports.",
      right: .read, reply: [.countOfDevices, .server.nullable],
      rows: [
        .kind, .deviceName, .description, .default.optional, .current.optional, .preferredRank.optional,
        .sampleRate.optional, .channels.optional,
        .monitorOf.optional, .port.optional,
        .available.optional, .active.optional,
      ],
      example: [
        "> output.list",
        "< | kind=output device=speakers description=\"Built-in Audio\" default=true current=true sampleRate=48000 channels=2",
        "< | kind=port device=speakers description=Headphones port=analog-output-headphones available=no active=false",
        "< ok count=1 server=pulseaudio",
      ]
    ) { _ throws(MediaError) in .players(.outputList) },
    CommandSpec(
      .outputSet, .players, "Set the output device and the reaction to its loss, or show them.",
      details:
        "Omitted settings keep their values. The new device is opened while the old one plays; then the players"
        + " switch to it without losing a sample. The reply does not wait for the device: `output.state` and"
        + " `output.route` report the switch, and do not change if the device cannot be opened. Playback uses the"
        + " first of the `preferred` devices that is available and plugged in, and returns to it when it reappears;"
        + " `DEVICE` has priority over them. `lost` applies when the device goes away. With `pause` (the default, as"
        + " in AVFoundation) the players pause, and the next device is used. With `hold` they wait for the same"
        + " device and resume when it is back. With `move` they continue on the next device. With `null` they"
        + " continue in silence, in real time, until it is back. Unplugged headphones pause the players, too, except"
        + " with `move`. If the sound server itself ends, the players wait for it, except with `null`. The settings"
        + " are valid until the daemon ends.",
      parameters: [
        ParameterSpec(
          .device, .text(maximumByteCount: 256), .optional, "DEVICE",
          "the name of a device; default is the default device of the sound server, null is silence"),
        ParameterSpec(
          .preferred, .texts(maximumByteCount: 4_096, separator: .comma), .option, "DEVICES",
          "device names in order of preference; an empty text: none"),
        ParameterSpec(
          .lost, .word(LostDevicePolicy.allCases.map(\.rawValue)), .option, "POLICY",
          "what players do when the device goes away"),
      ],
      readsWithoutValue: true, reply: outputFields,
      errors: [.noSuchDevice, .outputUnavailable, .outputConfiguration, .invalidArgument],
      example: [
        "> output.set default preferred=headset,speakers lost=hold",
        "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0 selected=default preferred=headset,speakers lost=hold"
          + " route=speakers/analog-output-speaker",
      ]
    ) { arguments throws(MediaError) in
      let preferred = arguments.text(.preferred)?.split(separator: ",").map(String.init)
      guard preferred.map({ $0.count <= 64 }) ?? true else {
        throw arguments.failure("at most 64 devices can be preferred")
      }
      return .players(
        .outputSet(
          device: arguments.text(.device), preferred: preferred.map { WireList($0) },
          lost: arguments.text(.lost).flatMap { LostDevicePolicy(rawValue: $0) }))
    },
    CommandSpec(
      .outputStatus, .players, "Show the output of a player.",
      details:
        "`clipped` counts the samples beyond full scale that were heard: the sum of all players is not limited."
        + " `selected`, `preferred` and `lost` are the settings of `output.set` or of the daemon's options. `route`"
        + " is the device and, after a `/`, its port.",
      parameters: [player], right: .read, reply: outputFields, errors: [.noSuchPlayer],
      example: [
        "> output.status",
        "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0 selected=default preferred=none lost=pause"
          + " route=speakers/analog-output-speaker",
      ]
    ) { arguments throws(MediaError) in .players(.outputStatus(player: arguments.player)) },
  ]

  private static let outputFields: [FieldSpec] = [
    .output.nullable, .stateOfOutput, .sampleRate.nullable, .channels.nullable, .clipped, .selectedDevice,
    .preferredDevices.nullable, .lostPolicy, .route.nullable, .error.optional,
  ]
}
