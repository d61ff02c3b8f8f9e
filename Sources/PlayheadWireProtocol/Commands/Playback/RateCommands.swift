import PlayheadMediaCore

/// `rate`: sets or shows the rate.
package enum RateCommand: ImmediateCommand {
  package struct Parameters: PlayerSelectionParameters {
    /// Never 0. Nil: no change.
    package let rate: Parameter<Double?>
    package let player: Parameter<PlayerSelection>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.optional(.rate, .numberExceptZero(-32...32), "RATE", "the rate; 1 is as recorded")
      player = list.playerOrAll()
    }
  }

  package struct Reply: AllPlayersReply {
    /// While paused, the rate of the next `play`.
    package var rate: Double
    package var players: [String]?

    package init(rate: Double) { self.rate = rate }

    package static let fields: [Field<Self>] = [
      Field(.rate) { $0.rate }, Field(optional: .affectedPlayers) { $0.players },
    ]
  }

  package static let name: CommandName = "rate"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the rate, or show it.",
    details: """
      The rate is exact to a millionth. `pitch` selects how the pitch follows the rate. 0 is an error; use `pause`.

      - While playing, the rate changes without a gap or a click: 60 ms after the audio that is heard, or later if \
      decoding takes longer. The `timebaseRate` of `status` and its `changed` event report the change.
      - While paused, the rate applies to the next `play` only. Later ones use `default-rate`. The player does not \
      start.

      At a negative rate the current item plays in reverse, at -1 sample by sample. The queue is never followed in \
      reverse. At its start the item has `ended`. Then playback pauses, or continues as `repeat one`, `loop` or \
      `end-action none` specify. At time 0 nothing can be heard in reverse: `seek end` first.

      If the direction changes:

      - Shortly before the end of an item or loop, playback turns around at that end at the latest, and the item has \
      not ended.
      - Beyond the end time of the new direction (`item.end-time`), the item ends at once.

      A station or a pipe cannot play in reverse: the error is 2039 or 2049. A station or pipe that becomes current \
      at a negative rate ends at its start, and playback pauses. It fails if it must start at another position: \
      after a `seek` before it was open, or with `repeat one`.
      """,
    readsWithoutValue: true, errors: [.unsupportedRate, .noSuchPlayer] + CommandTable.streamErrors,
    example: ["> rate 1", "< ok rate=1"])
}

/// `default-rate`: sets or shows the rate that `play` uses.
package enum DefaultRateCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Never 0. Nil: no change.
    package let rate: Parameter<Double?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.optional(
        .rate, .numberExceptZero(-32...32), "RATE",
        "the rate, from 1/32 to 32, or -1/32 to -32 in reverse; default: 1")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// From 1/32 to 32, negative for reverse.
    package var defaultRate: Double

    package init(defaultRate: Double) { self.defaultRate = defaultRate }

    package static let fields: [Field<Self>] = [Field(.defaultRate) { $0.defaultRate }]
  }

  package static let name: CommandName = "default-rate"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the rate that `play` uses, or show it.",
    details: "The current rate does not change.",
    readsWithoutValue: true, errors: [.unsupportedRate, .noSuchPlayer],
    example: ["> default-rate 1.5", "< ok defaultRate=1.5"])
}

/// `rate-at`: sets the rate at an instant.
package enum RateAtCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// 0 pauses.
    package let rate: Parameter<Double>
    /// Never a frame.
    package let time: Parameter<RequestedMoment>
    /// The item time at that moment. Nil: the current position.
    package let from: Parameter<MediaTime?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.required(.rate, .number(-32...32), "RATE", "the rate; 0 pauses")
      time = list.required(
        .time, .startDate, "now|+TIME|DATE|TIME",
        "the instant: as soon as possible (`now`), after a duration (`+TIME`), at a date or time of day (`DATE`), or of"
          + " the monotonic clock (`TIME`)")
      from = list.option(.from, .time, "TIME", "the item time that is heard at the instant")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// From 1/32 to 32, negative for reverse.
    package var rate: Double

    package init(rate: Double) { self.rate = rate }

    package static let fields: [Field<Self>] = [Field(.rate) { $0.rate }]
  }

  package static let name: CommandName = "rate-at"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the rate, so that a given item time is heard at a given clock time.",
    details: """
      Corresponds to AVPlayer's `setRate(_:time:atHostTime:)`. To start several players together, use `play-at`.

      - Before the instant, the item is silent at `from`, and the player waits (`startTimeNotReached`).
      - If an instant of the monotonic clock is in the past, playback starts as soon as possible, at the position that \
      it would have reached. A date in the past is an error.
      - A start at a date or time of day follows the wall clock, as that of `play-at` does (*Dates*). Until 2 s before \
      the start, the player is paused at `from`. The `changed` event of `player.timebaseRate` reports the start.
      - With `now`, playback starts as soon as `from` is ready. Without `from`, it starts at the current position.
      - With the rate 0, the player pauses and seeks to `from` at once.

      While `auto-wait` is on, the command is an error, because a player that waits for samples cannot guarantee an \
      instant.
      """,
    errors: [
      .unsupportedRate, .invalidTime, .invalidState, .noCurrentItem, .noSuchPlayer, .outputUnavailable,
    ] + CommandTable.streamErrors + CommandTable.mediaErrors,
    example: [
      "> rate-at 1 +0.5 from=12", "< ok rate=1",
    ])
}

/// `pitch`: sets or shows how the pitch follows the rate.
package enum PitchCommand: ImmediateCommand {
  /// The values of AVPlayerItem's `audioTimePitchAlgorithm`.
  package enum Algorithm: String, Sendable, Hashable, CaseIterable {
    case timeDomain
    case spectral
    case varispeed
  }

  package struct Parameters: ParameterList {
    /// Nil: no change.
    package let algorithm: Parameter<Algorithm?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      algorithm = list.optional(
        .algorithm, .word, "timeDomain|spectral|varispeed", "the algorithm; default: `timeDomain`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var algorithm: Algorithm

    package init(algorithm: Algorithm) { self.algorithm = algorithm }

    package static let fields: [Field<Self>] = [Field(.audioTimePitchAlgorithm) { $0.algorithm }]
  }

  package static let name: CommandName = "pitch"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set how the pitch follows the rate, or show it.",
    details: """
      - `timeDomain` keeps the pitch at low cost. It is best for speech.
      - `spectral` keeps the pitch at about seven times the cost. It is best for music.
      - `varispeed` changes the pitch with the rate, as on a tape.

      The setting applies to all entries for which `item.pitch` sets nothing. Each algorithm plays from 1/32 to 32. \
      An algorithm that this build does not contain is an error.

      `time` advances by exactly the rate. The audio heard is within 20 ms (`timeDomain`), 50 ms (`spectral`) or one \
      sample (`varispeed`) of it. Rates are never rounded: there is no equivalent of AVFoundation's \
      `lowQualityZeroLatency`.
      """,
    readsWithoutValue: true, errors: [.unsupportedRate, .noSuchPlayer],
    example: ["> pitch spectral", "< ok audioTimePitchAlgorithm=spectral"])
}
