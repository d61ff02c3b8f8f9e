import PlayheadMediaCore

/// Commands that control the playback of one player, or of all players.
package typealias PlaybackCommands = CommandList<
  PlayCommand, PlayImmediatelyCommand, PauseCommand, ToggleCommand, StopCommand, PrerollCommand, PrerollCancelCommand,
  AutoWaitCommand, StatusCommand, SeekCommand, SeekCancelCommand, StepCommand, NextChapterCommand,
  PreviousChapterCommand, RateCommand, DefaultRateCommand, RateAtCommand, PitchCommand, VolumeCommand, FadeCommand,
  PanCommand, MuteCommand, ReplayGainCommand, EndActionCommand, RepeatCommand, LoopCommand, CrossfadeCommand,
  ChannelMixCommand, EqualizerCommand, CompressorCommand, LimiterCommand, MediaSelectionCommand, SilenceCommand
>

/// `play`: starts playback, or plays a range of the current item.
package enum PlayCommand: SometimesWaitingCommand {
  package struct Parameters: PlayerSelectionParameters {
    /// The start of the range. Nil: the time heard.
    package let from: Parameter<TimeExpression?>
    /// The end of the range. A relative time counts from the start. Nil: no range.
    package let to: Parameter<TimeExpression?>
    /// The entry that the current item must be. Nil: any.
    package let item: Parameter<EntryReference?>
    package let player: Parameter<PlayerSelection>

    package init(_ list: inout ParameterListBuilder) {
      from = list.option(.from, .timeExpression, "TIME", "the start of the range; default: the current time")
      to = list.option(.to, .timeExpression, "TIME", "the end of the range; a relative time counts from the start")
      item = list.option(.item, .entry, "ID", "the range is of this entry, which must be current")
      player = list.playerOrAll()
    }
  }

  package struct Reply: AllPlayersReply {
    /// The entry whose range was played, and the end of the range. Nil without a range.
    package var played: (item: UInt64, time: MediaTime)?
    package var players: [String]?

    package init(played: (item: UInt64, time: MediaTime)? = nil) { self.played = played }

    package static let fields: [Field<Self>] = [
      Field(optional: .item) { $0.played?.item }, Field(optional: .time) { $0.played?.time },
      Field(optional: .pts) { $0.played?.time }, Field(optional: .affectedPlayers) { $0.players },
    ]

    package var isEmpty: Bool { played == nil && players == nil }
  }

  package static let name: CommandName = "play"

  package static let definition = CommandDefinition<Self>(
    .playback, "Play at the rate that `rate` has set, or else at `default-rate`.",
    details: """
      The reply does not wait until audio is heard. `wait status=playing` waits for it. In an empty queue the player \
      waits for an entry.

      With `to`, the player plays a part of the current item: it seeks to `from`, plays, and pauses exactly at `to`. \
      The next `play` continues there. The request waits until the end of the range is heard, also while the player \
      is paused. While the range is played, it has priority over `loop`, `repeat` and `end-action`. The settings of \
      the entry do not change.

      - The request ends with `wait-ended` if a seek or another range replaces the range, if another item becomes \
      current, or if the item ends before `to`.
      - If the request is cancelled or its connection closes, playback continues past `to`.
      """,
    errors: [
      .noSuchPlayer, .noCurrentItem, .noSuchItem, .invalidTime, .unsupportedRate, .waitEnded,
    ] + CommandTable.streamErrors + CommandTable.mediaErrors,
    example: ["> play", "< ok", "> @6 play from=60 to=+2.5", "< @6 ok item=1 time=62.5 pts=2756250/44100"])

  package static let waiting = CommandSpec.Waiting.withRange

  package static func waits(_ arguments: Arguments<Self>) -> Bool { arguments.has(\.to) }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    if arguments.has(\.to) { return try arguments.requireOnePlayer("a range") }
    guard !arguments.has(\.from), !arguments.has(\.item) else { throw arguments.failure("from and item require to") }
  }
}

/// `play-immediately`: plays with the decoded audio.
package enum PlayImmediatelyCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Never 0. Nil: the current rate, or the rate that `play` would use.
    package let rate: Parameter<Double?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.optional(
        .rate, .numberExceptZero(-32...32), "RATE",
        "the rate; default: the current rate, or while paused the rate that `play` would use")
      player = list.player()
    }
  }

  package static let name: CommandName = "play-immediately"

  package static let definition = CommandDefinition<Self>(
    .playback, "Play at once with the decoded audio, however little there is.",
    details:
      "This also ends a stall before enough audio is decoded. If no audio is decoded, a player with `auto-wait`"
      + " waits. Without `auto-wait`, the player stays paused, and sends no `stalled` event.",
    errors: [.unsupportedRate, .noSuchPlayer] + CommandTable.streamErrors,
    example: ["> play-immediately", "< ok"])
}

/// `pause`: pauses playback.
package enum PauseCommand: ImmediateCommand {
  package typealias Parameters = PlayerOrAllParameters
  package typealias Reply = AffectedPlayersReply

  package static let name: CommandName = "pause"

  package static let definition = CommandDefinition<Self>(
    .playback, "Pause playback.", details: "The position (`time`) does not change.", errors: [.noSuchPlayer],
    example: ["> pause", "< ok"])
}

/// `toggle`: pauses or plays.
package enum ToggleCommand: ImmediateCommand {
  package typealias Parameters = PlayerParameters

  package static let name: CommandName = "toggle"

  package static let definition = CommandDefinition<Self>(
    .playback, "Pause if playing or waiting to play; otherwise play.",
    errors: [.noSuchPlayer] + CommandTable.streamErrors, example: ["> toggle", "< ok"])
}

/// `stop`: pauses, and returns to the start of the current item.
package enum StopCommand: ImmediateCommand {
  package typealias Parameters = PlayerOrAllParameters
  package typealias Reply = AffectedPlayersReply

  package static let name: CommandName = "stop"

  package static let definition = CommandDefinition<Self>(
    .playback, "Pause, and return to the start of the current item.", errors: [.noSuchPlayer],
    example: ["> stop", "< ok"])
}
