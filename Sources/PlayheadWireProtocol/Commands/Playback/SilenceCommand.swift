import PlayheadMediaCore

/// `silence`: sets or shows the detection of silence.
package enum SilenceCommand: ImmediateCommand {
  /// The range of durations of silence: 0.1 s to a day.
  static let shortestDuration = MediaTime(value: 1, timescale: 10)
  static let longestDuration = MediaTime(value: 86_400, timescale: 1)

  package struct Parameters: ParameterList {
    /// Not numeric: no silence is reported. Nil: no change.
    package let duration: Parameter<MediaTime?>
    /// In dBFS. Nil: no change.
    package let threshold: Parameter<Double?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      duration = list.optional(
        .duration, .timeOrNone, "TIME|none",
        "the duration after which silence is reported, from 0.1 s to a day; `none`: never (default)")
      threshold = list.option(
        "threshold", .number(-100...0), "DB", "the level in dBFS below which audio is silent; default: -60")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// Nil: no silence is reported.
    package var duration: MediaTime?
    /// In dBFS.
    package var threshold: Double

    package init(duration: MediaTime?, threshold: Double) { (self.duration, self.threshold) = (duration, threshold) }

    package static let fields: [Field<Self>] = [
      Field(nullable: .durationBeforeReport) { $0.duration }, Field(.silenceThreshold) { $0.threshold },
    ]
  }

  package static let name: CommandName = "silence"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set after which silence an event is sent, or show it.",
    details: """
      Detects dead air: a `silence` event (`observe player.events`) reports that nothing was heard of the player for \
      the duration. A second event reports that audio is heard again.

      - The level is the largest sample of all channels of this player, after volume, pan and mute. Other players do \
      not count.
      - A player is also silent while it is paused, waits, has no item, or has no output.
      - Silence before the command does not count. The end of silence that was reported before is not reported.
      - The detection costs nothing while it is off. While it is on, the daemon measures the player like `meter`, and \
      wakes at least every 2 s while the player plays.

      The setting is saved.
      """,
    readsWithoutValue: true, errors: [.invalidTime, .noSuchPlayer],
    example: ["> silence 10 threshold=-50", "< ok duration=10 threshold=-50"])
}

extension FieldKey<MediaTime> {
  fileprivate static var durationBeforeReport: Self {
    Self(time: "duration", "the duration after which silence is reported; `none`: never")
  }
}

extension FieldKey<Double> {
  fileprivate static var silenceThreshold: Self {
    Self("threshold", "the level in dBFS, from -100 to 0, below which audio is silent")
  }
}
