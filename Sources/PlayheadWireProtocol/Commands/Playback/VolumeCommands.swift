import PlayheadMediaCore

/// `volume`: sets or shows the volume.
package enum VolumeCommand: ImmediateCommand {
  package struct Parameters: PlayerSelectionParameters {
    /// Nil: no change.
    package let volume: Parameter<VolumeSetting?>
    package let player: Parameter<PlayerSelection>

    package init(_ list: inout ParameterListBuilder) {
      volume = list.optional(
        .volume, .volume, "VOLUME",
        "0 is silence, 1 (or 100%) leaves the samples unchanged; +5%, -0.1 and -6dB change it")
      player = list.playerOrAll()
    }
  }

  package struct Reply: AllPlayersReply {
    /// 0 to 1.
    package var volume: Float
    package var players: [String]?

    package init(volume: Float) { self.volume = volume }

    package static let fields: [Field<Self>] = [
      Field(.volume) { $0.volume }, Field(optional: .affectedPlayers) { $0.players },
    ]
  }

  package static let name: CommandName = "volume"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the volume, or show it.",
    details: "With a sign, the volume changes: by a number, a percentage of the full volume, or decibels. It stays"
      + " within 0 and 1. During a fade the change starts from the final volume.",
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> volume 0.5", "< ok volume=0.5"])
}

/// `fade`: fades to a volume.
package enum FadeCommand: SometimesWaitingCommand {
  /// The shape of a volume fade.
  package enum Curve: String, Sendable, Hashable, CaseIterable {
    case linear
    case equalPower = "equal-power"
    case sCurve = "s-curve"
  }

  /// The action at the end of a fade.
  package enum EndAction: String, Sendable, Hashable, CaseIterable {
    case none
    case pause
    case stop
  }

  package struct Parameters: PlayerSelectionParameters {
    package let volume: Parameter<VolumeSetting>
    /// Not negative.
    package let duration: Parameter<MediaTime>
    package let curve: Parameter<Curve>
    package let then: Parameter<EndAction>
    /// Whether the reply comes at the end of the fade.
    package let wait: Parameter<Bool>
    package let player: Parameter<PlayerSelection>

    package init(_ list: inout ParameterListBuilder) {
      volume = list.required(.volume, .volume, "VOLUME", "the final volume, as for `volume`")
      duration = list.required(.duration, .duration, "DURATION", "the duration; at most a day")
      curve = list.optional(
        "curve", .word, "linear|equal-power|s-curve", default: .linear, "the curve of the volume; default: `linear`")
      then = list.option(
        "then", .word, "none|pause|stop", default: .none, "the action at the end of the fade; default: `none`")
      wait = list.flag(.wait, "reply at the end of the fade")
      player = list.playerOrAll()
    }
  }

  package struct Reply: AllPlayersReply {
    /// Whether the end of the fade was heard. Nil without `wait`.
    package var isFinished: Bool?
    /// Why the reply came before the end of the fade.
    package var reason: String?
    package var players: [String]?

    package init(isFinished: Bool? = nil, reason: String? = nil) {
      (self.isFinished, self.reason) = (isFinished, reason)
    }

    package static let fields: [Field<Self>] = [
      Field(optional: .fadeFinished) { $0.isFinished }, Field(optional: .fadeReason) { $0.reason },
      Field(optional: .affectedPlayers) { $0.players },
    ]

    package var isEmpty: Bool { isFinished == nil && players == nil }
  }

  package static let name: CommandName = "fade"

  package static let definition = CommandDefinition<Self>(
    .playback, "Fade the volume to another one.",
    details: """
      `volume` shows the final volume at once. The fade follows the time of the output, which stops while nothing \
      plays. Another `fade` or `volume` starts from the volume that the fade has reached.

      - `linear` (default) changes the volume linearly.
      - `equal-power` is a quarter of a sine between silence and full volume. A crossfade of two players then keeps its \
      loudness.
      - `s-curve` changes the volume slowly at both ends.

      With `then`, the player pauses or stops at the exact frame at which the fade ends. The volume keeps its final \
      value. Another `fade` or `volume` cancels this action. If the player is paused at the end of the fade, the \
      action has no effect. If the output is lost or changed, the fade ends at once, with its action.

      With `wait`, the reply comes when the end of the fade is heard (`finished=true`). It comes earlier, with \
      `finished=false`, for one of these reasons:

      - `replaced`: another `fade` or `volume` replaced the fade
      - `notPlaying`: the player is paused, or waits for an entry, the output or the session; the fade remains, and \
      continues with the time of the output
      """,
    errors: [.invalidTime, .noSuchPlayer, .waitEnded],
    example: ["> fade 0 2.5", "< ok", "> @4 fade 0 2.5 then=pause wait", "< @4 ok finished=true"])

  package static let waiting = CommandSpec.Waiting.ifRequested

  package static func waits(_ arguments: Arguments<Self>) -> Bool { arguments.wait }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    if arguments.wait { try arguments.requireOnePlayer("wait") }
  }
}

/// `pan`: sets or shows the pan.
package enum PanCommand: ImmediateCommand {
  package struct Parameters: PlayerSelectionParameters {
    /// Nil: no change.
    package let pan: Parameter<Double?>
    package let player: Parameter<PlayerSelection>

    package init(_ list: inout ParameterListBuilder) {
      pan = list.optional("pan", .number(-1...1), "PAN", "-1 is left, 0 leaves the samples unchanged, 1 is right")
      player = list.playerOrAll()
    }
  }

  package struct Reply: AllPlayersReply {
    /// -1 to 1.
    package var pan: Float
    package var players: [String]?

    package init(pan: Float) { self.pan = pan }

    package static let fields: [Field<Self>] = [
      Field(.pan) { $0.pan }, Field(optional: .affectedPlayers) { $0.players },
    ]
  }

  package static let name: CommandName = "pan"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the pan, or show it.",
    details:
      "The channel on the side of the pan is unchanged. The other one is multiplied by cos(|PAN| × 90°). The"
      + " change takes 5 ms.",
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> pan -0.5", "< ok pan=-0.5"])
}

/// `mute`: mutes or unmutes the player, or shows whether it is muted.
package enum MuteCommand: ImmediateCommand {
  package struct Parameters: PlayerSelectionParameters {
    /// Nil: no change.
    package let state: Parameter<SwitchSetting?>
    package let player: Parameter<PlayerSelection>

    package init(_ list: inout ParameterListBuilder) {
      state = list.optional("state", .toggle, "on|off|toggle", "the new state")
      player = list.playerOrAll()
    }
  }

  package struct Reply: AllPlayersReply {
    package var isMuted: Bool
    package var players: [String]?

    package init(isMuted: Bool) { self.isMuted = isMuted }

    package static let fields: [Field<Self>] = [
      Field(.isMuted) { $0.isMuted }, Field(optional: .affectedPlayers) { $0.players },
    ]
  }

  package static let name: CommandName = "mute"

  package static let definition = CommandDefinition<Self>(
    .playback, "Mute or unmute the player, or show whether it is muted.",
    details: "The volume stays.",
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> mute on", "< ok isMuted=true"])
}
