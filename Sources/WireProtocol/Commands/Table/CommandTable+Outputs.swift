import MediaCore

extension CommandTable {
  /// Commands about output devices.
  static let outputs: [CommandSpec] = [
    CommandSpec(
      .outputList, .players, "List the devices of the sound server and their ports.",
      details: """
        The rows of ports follow the row of their device. Most virtual devices have no ports. The rows have these \
        fields:

        - `kind`: `output` and `input` are devices, `port` is a port of the device before it
        - `current`: true for the device that plays
        - `default`: true for the default device of the sound server
        - `preferred`: the position among the preferred devices, from 1
        - `monitorOf`: the name of the output whose audio this input captures
        - `active`: true for the port in use
        - `available`: whether something is plugged in to the port: `yes`, `no` or `unknown`

        `server` is the name of the sound server. It is `none` while no server replies, and for outputs without \
        devices.
        """,
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
      .outputSet, .players, "Set the output device and the action at its loss, or show them.",
      details: """
        Omitted settings keep their values. The settings are valid until the daemon ends.

        The daemon opens the new device while the old one plays. Then the players switch to it without losing a \
        sample. The reply does not wait for the device: the keys `output.state` and `output.route` report the switch. \
        They do not change if the device cannot be opened.

        Playback uses the first of the `preferred` devices that is available and plugged in, and returns to it when it \
        reappears. `DEVICE` has priority over them.

        `lost` selects the action when the device disappears:

        - `pause` (default, as in AVFoundation): the players pause, and the next device is used
        - `hold`: the players wait for the same device, and resume when it reappears
        - `move`: the players continue on the next device
        - `null`: the players continue in silence, in real time, until the same device reappears

        When headphones are unplugged, the players pause, except with `move`. When the sound server ends, the players \
        wait for it, except with `null`.
        """,
      parameters: [
        ParameterSpec(
          .device, .text(maximumByteCount: 256), .optional, "DEVICE",
          "the name of a device, `default` for the default device of the sound server, or `null` for silence"),
        ParameterSpec(
          .preferred, .texts(maximumByteCount: 4_096, separator: .comma), .option, "DEVICES",
          "device names in order of preference; an empty text: none"),
        ParameterSpec(
          .lost, .word(LostDevicePolicy.allCases.map(\.rawValue)), .option, "POLICY",
          "the action when the device disappears: `pause`, `hold`, `move` or `null`; default: `pause`"),
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
        throw arguments.failure("preferred must have at most 64 devices (got \(preferred?.count ?? 0))")
      }
      return .players(
        .outputSet(
          device: arguments.text(.device), preferred: preferred.map { WireList($0) },
          lost: arguments.text(.lost).flatMap { LostDevicePolicy(rawValue: $0) }))
    },
    CommandSpec(
      .outputStatus, .players, "Show the output of a player.",
      details: """
        - `clipped` is the number of heard samples that were outside full scale. The sum of all players is not \
        limited.
        - `selected`, `preferred` and `lost` are the settings of `output.set`, or of the daemon's options.
        - `route` is the device and, after a `/`, its port.

        `state` is one of these:

        - `opening`: the device is being opened
        - `ready`: the device plays
        - `unresponsive`: the device accepts no audio: its server hangs or requests no samples, or the device is \
        suspended
        - `fallback`: silence replaces the device until one is available
        - `lost`: nothing plays, and the players wait for a device
        - `closed`: the output was closed
        """,
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
