import PlayheadMediaCore

/// Commands about the players of the daemon and their outputs.
package typealias PlayersCommands = CommandList<
  PlayerCreateCommand, PlayerCloseCommand, PlayerListCommand, OutputListCommand, OutputSetCommand, OutputStatusCommand
>

/// `player.create`: creates a player.
package enum PlayerCreateCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let name: Parameter<String>
    /// Whether an existing player is not an error.
    package let ifMissing: Parameter<Bool>
    /// Whether the player closes with the connection, and is not saved.
    package let temporary: Parameter<Bool>

    package init(_ list: inout ParameterListBuilder) {
      name = list.required("name", .playerName, "NAME", "the name of the player")
      ifMissing = list.flag("if-missing", "if the player exists, reply `ok` and change nothing")
      temporary = list.flag("temporary", "close the player with this connection, and do not save it")
    }
  }

  package struct Reply: ReplyFields {
    package var player: String

    package init(player: String) { self.player = player }

    package static let fields: [Field<Self>] = [Field(.player) { $0.player }]
  }

  package static let name: CommandName = "player.create"

  package static let definition = CommandDefinition<Self>(
    .players, "Create a player.",
    details: """
      It has an empty queue and shares the output with the others.

      A `temporary` player closes when the connection closes that created it. Its queue and its settings are not \
      saved. With `if-missing`, an existing player stays as it is.
      """,
    errors: [.playerExists, .tooManyPlayers], example: ["> player.create jingles", "< ok player=jingles"])
}

/// `player.close`: closes a player.
package enum PlayerCloseCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let name: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      name = list.required("name", .playerName, "NAME", "the name of the player")
    }
  }

  package static let name: CommandName = "player.close"

  package static let definition = CommandDefinition<Self>(
    .players, "Close a player, its queue and its subscriptions.",
    details: "`main` always exists and cannot be closed.", errors: [.noSuchPlayer, .invalidArgument],
    example: ["> player.close jingles", "< ok"])
}

/// `player.list`: lists the players.
package enum PlayerListCommand: ImmediateCommand {
  package struct Row: ReplyFields {
    package var player: String
    package var timeControlStatus: String
    /// The requested rate; 0 while paused.
    package var rate: Double
    package var item: UInt64?
    package var count: Int
    /// From 0 to 1.
    package var volume: Float
    package var isMuted: Bool
    package var isTemporary: Bool

    package init(
      player: String, timeControlStatus: String, rate: Double, item: UInt64?, count: Int, volume: Float, isMuted: Bool,
      isTemporary: Bool
    ) {
      (self.player, self.timeControlStatus, self.rate, self.item) = (player, timeControlStatus, rate, item)
      (self.count, self.volume, self.isMuted, self.isTemporary) = (count, volume, isMuted, isTemporary)
    }

    package static let fields: [Field<Self>] = [
      Field(.player) { $0.player }, Field(.timeControlStatus) { $0.timeControlStatus }, Field(.rate) { $0.rate },
      Field(nullable: .item) { $0.item }, Field(.countOfEntries) { $0.count }, Field(.volume) { $0.volume },
      Field(.isMuted) { $0.isMuted }, Field(.temporary) { $0.isTemporary },
    ]
  }

  package struct Reply: ReplyRows {
    package var rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    package static let fields: [Field<Self>] = [Field(.count) { $0.rows.count }]
  }

  package static let name: CommandName = "player.list"

  package static let definition = CommandDefinition<Self>(
    .players, "List the players.", right: .read,
    example: [
      "> player.list",
      "< | player=main timeControlStatus=paused rate=0 item=none count=0 volume=1 isMuted=false temporary=false",
      "< ok count=1",
    ])
}

/// `output.list`: lists the devices of the sound server.
package enum OutputListCommand: ImmediateCommand {
  /// A device, or a port of the device before it.
  package struct Row: ReplyFields {
    package var kind: String
    package var device: String
    package var description: String
    package var isDefault: Bool?
    package var isCurrent: Bool?
    package var preferred: Int?
    /// In hertz. Nil: unknown, or not a device.
    package var sampleRate: Int?
    /// The number of channels. Nil: unknown, or not a device.
    package var channels: Int?
    /// The output whose audio this input captures. Nil: not a monitor.
    package var monitorOf: String?
    /// The name of the port. Nil: not a port.
    package var port: String?
    /// `yes`, `no` or `unknown`. Nil: not a port.
    package var available: String?
    /// What the port is, such as `headphones`. Nil: not a port.
    package var portType: String?
    package var isActive: Bool?

    /// Creates the row of a device.
    package init(
      kind: String, device: String, description: String, isDefault: Bool, isCurrent: Bool, preferred: Int?,
      sampleRate: Int, channels: Int, monitorOf: String?
    ) {
      (self.kind, self.device, self.description) = (kind, device, description)
      (self.isDefault, self.isCurrent, self.preferred) = (isDefault, isCurrent, preferred)
      (self.sampleRate, self.channels, self.monitorOf) = (sampleRate, channels, monitorOf)
    }

    /// Creates the row of a port.
    package init(
      device: String, description: String, port: String, available: String, portType: String, isActive: Bool
    ) {
      (kind, self.device, self.description) = ("port", device, description)
      (self.port, self.available, self.portType, self.isActive) = (port, available, portType, isActive)
    }

    package static let fields: [Field<Self>] = [
      Field(.kindOfDevice) { $0.kind }, Field(.deviceName) { $0.device }, Field(.description) { $0.description },
      Field(optional: .default) { $0.isDefault }, Field(optional: .current) { $0.isCurrent },
      Field(optional: .preferredRank) { $0.preferred }, Field(optional: .sampleRate) { $0.sampleRate },
      Field(optional: .channels) { $0.channels }, Field(optional: .monitorOf) { $0.monitorOf },
      Field(optional: .port) { $0.port }, Field(optional: .available) { $0.available },
      Field(optional: .portType) { $0.portType }, Field(optional: .active) { $0.isActive },
    ]
  }

  package struct Reply: ReplyRows {
    /// The number of devices.
    package var count: Int
    /// Nil while no sound server replies.
    package var server: String?
    package var rows: [Row]

    package init(count: Int, server: String?, rows: [Row]) {
      (self.count, self.server, self.rows) = (count, server, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.countOfDevices) { $0.count }, Field(nullable: .server) { $0.server },
    ]
  }

  package static let name: CommandName = "output.list"

  package static let definition = CommandDefinition<Self>(
    .players, "List the devices of the sound server and their ports.",
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
      - `portType`: what the port is, such as `headphones`, `speaker`, `hdmi`, `usb` or `bluetooth`

      `server` is the name of the sound server. It is `none` while no server replies, and for outputs without \
      devices.
      """,
    right: .read,
    example: [
      "> output.list",
      "< | kind=output device=speakers description=\"Built-in Audio\" default=true current=true sampleRate=48000 channels=2",
      "< | kind=port device=speakers description=Headphones port=analog-output-headphones available=no active=false",
      "< ok count=1 server=pulseaudio",
    ])
}

/// `output.set`: sets the output device and the action at its loss.
package enum OutputSetCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let device: Parameter<String?>
    package let preferred: Parameter<[String]?>
    package let lost: Parameter<LostDevicePolicy?>

    package init(_ list: inout ParameterListBuilder) {
      device = list.optional(
        "device", .text(maximumByteCount: 256), "DEVICE",
        "the name of a device, `default` for the default device of the sound server, or `null` for silence")
      preferred = list.option(
        "preferred", .texts(maximumByteCount: 4_096), "DEVICES",
        "device names in order of preference; an empty text: none")
      lost = list.option(
        "lost", .word, "POLICY",
        "the action when the device disappears: `pause`, `hold`, `move` or `null`; default: `pause`")
    }
  }

  package typealias Reply = OutputFields

  package static let name: CommandName = "output.set"

  package static let definition = CommandDefinition<Self>(
    .players, "Set the output device and the action at its loss, or show them.",
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
    readsWithoutValue: true,
    errors: [.noSuchDevice, .outputUnavailable, .outputConfiguration, .invalidArgument],
    example: [
      "> output.set default preferred=headset,speakers lost=hold",
      "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0 selected=default preferred=headset,speakers lost=hold"
        + " route=speakers/analog-output-speaker",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    let count = arguments.preferred?.count ?? 0
    guard count <= 64 else { throw arguments.failure("preferred must have at most 64 devices (got \(count))") }
  }
}

/// `output.status`: shows the output of a player.
package enum OutputStatusCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) { player = list.player() }
  }

  package typealias Reply = OutputFields

  package static let name: CommandName = "output.status"

  package static let definition = CommandDefinition<Self>(
    .players, "Show the output of a player.",
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
    right: .read, errors: [.noSuchPlayer],
    example: [
      "> output.status",
      "< ok output=pulse:speakers state=ready sampleRate=48000 channels=2 clipped=0 selected=default preferred=none lost=pause"
        + " route=speakers/analog-output-speaker",
    ])
}

/// The requested output: the value of `output.selection`.
package struct OutputSelectionFields: Sendable, Hashable {
  /// The name of the device, `default` or `null`.
  package var selected: String
  /// Empty: none.
  package var preferred: [String]
  package var lost: LostDevicePolicy

  package init(selected: String, preferred: [String], lost: LostDevicePolicy) {
    (self.selected, self.preferred, self.lost) = (selected, preferred, lost)
  }

  /// The options of `output.set` that request this output.
  var options: [StructuredValue.Option] {
    [
      .init(name: "selected", value: .string(selected)),
      .init(name: "preferred", value: preferred.isEmpty ? .none : .strings(preferred)),
      .init(name: "lost", value: .string(lost.rawValue)),
    ]
  }
}

/// The state of the output, and its settings.
package struct OutputFields: ReplyFields {
  /// Nil while none is open.
  package var output: String?
  package var state: String
  /// In hertz. Nil: unknown, or not a device.
  package var sampleRate: Int?
  /// The number of channels. Nil: unknown, or not a device.
  package var channels: Int?
  /// The number of samples above full scale.
  package var clipped: Int
  /// The name of the device, `default` or `null`.
  package var selected: String
  /// Nil: none.
  package var preferred: [String]?
  package var lost: LostDevicePolicy
  /// The device and, after a `/`, its port. Nil: no output.
  package var route: String?
  /// The name of the error of the output.
  package var error: String?

  package init(
    output: String?, state: String, sampleRate: Int?, channels: Int?, clipped: Int, selected: String,
    preferred: [String]?, lost: LostDevicePolicy, route: String?, error: String?
  ) {
    (self.output, self.state, self.sampleRate, self.channels) = (output, state, sampleRate, channels)
    (self.clipped, self.selected, self.preferred) = (clipped, selected, preferred)
    (self.lost, self.route, self.error) = (lost, route, error)
  }

  package static let fields: [Field<Self>] = [
    Field(nullable: .output) { $0.output }, Field(.stateOfOutput) { $0.state },
    Field(nullable: .sampleRate) { $0.sampleRate }, Field(nullable: .channels) { $0.channels },
    Field(.clipped) { $0.clipped }, Field(.selectedDevice) { $0.selected },
    Field(nullable: .preferredDevices) { $0.preferred }, Field(.lostPolicy) { $0.lost },
    Field(nullable: .route) { $0.route }, Field(optional: .error) { $0.error },
  ]
}
