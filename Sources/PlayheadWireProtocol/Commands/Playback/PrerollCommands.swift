import PlayheadMediaCore

/// `preroll`: prepares audio, so that `play` starts without delay.
package enum PrerollCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// Never 0. Nil: the rate that `play` would use.
    package let rate: Parameter<Double?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.optional(.rate, .numberExceptZero(-32...32), "RATE", "the rate; default: that of `play`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var isReady: Bool

    package init(isReady: Bool) { self.isReady = isReady }

    package static let fields: [Field<Self>] = [Field(.ready) { $0.isReady }]
  }

  package static let name: CommandName = "preroll"

  package static let definition = CommandDefinition<Self>(
    .playback, "Prepare to play without delay.",
    details: """
      The player must be paused. The request waits, and its reply has one of these values:

      - `ready=true`: the output has the first samples, so `play` is heard as soon as the device can play them.
      - `ready=false`: the position, the item or the rate changed before, another preroll started, or the item \
      failed.

      The audio is prepared for one rate. Playback at another rate decodes the audio again.
      """,
    errors: [.invalidState, .unsupportedRate, .noCurrentItem, .noSuchPlayer] + CommandTable.streamErrors
      + CommandTable.mediaErrors,
    example: ["> @8 preroll", "< @8 ok ready=true"])
}

/// `preroll.cancel`: ends the pending prerolls.
package enum PrerollCancelCommand: ImmediateCommand {
  package typealias Parameters = PlayerParameters

  package static let name: CommandName = "preroll.cancel"

  package static let definition = CommandDefinition<Self>(
    .playback, "End every pending `preroll` with `ready=false`.",
    details: "Audio that is already prepared stays prepared. Corresponds to AVPlayer's `cancelPendingPrerolls`.",
    errors: [.noSuchPlayer], example: ["> preroll.cancel", "< ok"])
}

/// `auto-wait`: sets or shows whether playback resumes by itself after an underrun.
package enum AutoWaitCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: no change.
    package let state: Parameter<SwitchSetting?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      state = list.optional("state", .toggle, "on|off|toggle", "the new state")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var automaticallyWaits: Bool

    package init(automaticallyWaits: Bool) { self.automaticallyWaits = automaticallyWaits }

    package static let fields: [Field<Self>] = [
      Field(.automaticallyWaitsToMinimizeStalling) { $0.automaticallyWaits }
    ]
  }

  package static let name: CommandName = "auto-wait"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set whether playback resumes by itself after an underrun, or show it.",
    details: """
      - `on` (default): after an underrun the player waits (`toMinimizeStalls`) until half a second is decoded, and \
      then resumes.
      - `off`: after an underrun the player pauses.

      In both cases one `stalled` event is sent. If `off` is set while the player waits, it resumes at once with the \
      decoded audio.
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> auto-wait off", "< ok automaticallyWaitsToMinimizeStalling=false"])
}
