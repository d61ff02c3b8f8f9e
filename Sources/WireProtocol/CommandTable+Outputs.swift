import MediaCore

extension CommandTable {
  /// Commands about output devices.
  static let outputs: [CommandSpec] = [
    CommandSpec(
      .outputList, .players, "Lists the devices of the sound server, a row for each and for each of its ports.",
      details:
        "`kind` is `output`, `input` or `port`; a port's row stands behind its device's. `current` is where the players are heard, `default`"
        + " what the server gives who asks for nothing, `preferred` the device's place among the preferred ones (from 1). `monitorOf` names the"
        + " output whose sound an input takes. `active` is the port in use, `available` whether something is plugged in: `yes`, `no` or"
        + " `unknown`. `server` is what the server calls itself: `none` while none answers, and for outputs of another kind, which have no"
        + " devices. Most virtual devices have no ports.",
      right: .read, reply: ["count", "server?"],
      rows: [
        "kind", "device", "description", "[default]", "[current]", "[preferred]", "[sampleRate]", "[channels]",
        "[monitorOf]", "[port]",
        "[available]", "[active]",
      ],
      example: [
        "> output.list",
        "< | kind=output device=speakers description=\"Built-in Audio\" default=true current=true sampleRate=48000 channels=2",
        "< | kind=port device=speakers description=Headphones port=analog-output-headphones available=no active=false",
        "< ok count=1 server=pulseaudio",
      ]
    ) { _ throws(MediaError) in .players(.outputList) },
    CommandSpec(
      .outputSet, .players, "Chooses the device that the players are heard on, and what happens when it goes away.",
      details:
        "What is not said stays as it is. The device is opened while the old one plays on; then the players go over to it, and no sample is"
        + " lost by that. Answers when the request is taken: `output.state` and `output.route` say when the device is there, and stay as they are"
        + " where it cannot be opened. Of the `preferred` devices the first that is there, and not unplugged, is played on, and taken again when it"
        + " returns; `DEVICE` comes before them. `lost` is for a device that goes away: with `pause` the players pause and the next device is"
        + " taken (as AVFoundation does, and as it is at first), with `hold` they wait until the very same device is back and go on by themselves,"
        + " with `move` they go on with the next device, with `null` they go on in silence, at real speed, until it is back. Headphones that are pulled"
        + " out pause them, too, but for `move`. A sound server that goes away is waited for in any case, but for `null`. It holds until the daemon"
        + " ends.",
      parameters: [
        ParameterSpec(
          .device, .text(maximumByteCount: 256), .optional, "DEVICE",
          "a device's name; default is what the sound server has for those who ask for nothing, null is silence"),
        ParameterSpec(
          .preferred, .texts(maximumByteCount: 4_096, separator: .comma), .option, "DEVICES",
          "device names in order of preference; an empty text is none"),
        ParameterSpec(
          .lost, .word(LostDevicePolicy.allCases.map(\.rawValue)), .option, "POLICY",
          "what happens when the device goes away"),
      ],
      asks: true, reply: outputFields,
      errors: [.noSuchDevice, .outputUnavailable, .outputConfiguration, .invalidArgument],
      example: [
        "> output.set default preferred=headset,speakers lost=hold",
        "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0 selected=default preferred=headset,speakers lost=hold"
          + " route=speakers/analog-output-speaker",
      ]
    ) { arguments throws(MediaError) in
      let preferred = arguments.text(.preferred)?.split(separator: ",").map(String.init)
      guard preferred.map({ $0.count <= 64 }) ?? true else {
        throw arguments.failure("at most 64 devices are preferred")
      }
      return .players(
        .outputSet(
          device: arguments.text(.device), preferred: preferred.map { WireList($0) },
          lost: arguments.text(.lost).flatMap { LostDevicePolicy(rawValue: $0) }))
    },
    CommandSpec(
      .outputStatus, .players, "Gives the state of the output that a player is heard through.",
      details:
        "`clipped` counts the samples beyond full scale that were heard: nothing limits what the players add up to. `selected`, `preferred` and"
        + " `lost` are what `output.set` or the daemon's options say, `route` is the device and, behind a `/`, its port.",
      parameters: [player], right: .read, reply: outputFields, errors: [.noSuchPlayer],
      example: [
        "> output.status",
        "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0 selected=default preferred=none lost=pause"
          + " route=speakers/analog-output-speaker",
      ]
    ) { arguments throws(MediaError) in .players(.outputStatus(player: arguments.player)) },
  ]

  private static let outputFields: [FieldSpec] = [
    "output?", "state", "sampleRate?", "channels?", "clipped", "selected", "preferred?", "lost", "route?", "[error]",
  ]
}
