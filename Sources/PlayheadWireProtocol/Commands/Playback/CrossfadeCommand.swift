import PlayheadMediaCore

/// `crossfade`: sets or shows the cross-fade between entries.
package enum CrossfadeCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Invalid: no cross-fade. Nil: the present duration.
    package let duration: Parameter<MediaTime?>
    package let curve: Parameter<FadeCommand.Curve?>
    package let fadeOut: Parameter<MediaTime?>
    package let fadeIn: Parameter<MediaTime?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      duration = list.optional(
        "duration", .timeOrNone, "DURATION|none", "how long both entries are heard, up to 30 s; default: `none`")
      curve = list.option(
        "curve", .word, "linear|equal-power|s-curve", "the curve of both fades; default: `equal-power`")
      fadeOut = list.option(
        "fade-out", .duration, "DURATION", "the length of the fade-out, which ends with the entry; default: all of it")
      fadeIn = list.option(
        "fade-in", .duration, "DURATION", "the length of the fade-in, from the start of the entry; default: all of it")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// Nil: no cross-fade.
    package var duration: MediaTime?
    package var curve: FadeCommand.Curve?
    package var fadeOut: MediaTime?
    package var fadeIn: MediaTime?

    package init(duration: MediaTime?, curve: FadeCommand.Curve?, fadeOut: MediaTime?, fadeIn: MediaTime?) {
      (self.duration, self.curve, self.fadeOut, self.fadeIn) = (duration, curve, fadeOut, fadeIn)
    }

    package static let fields: [Field<Self>] = [
      Field(nullable: .crossfade) { $0.duration }, Field(nullable: .crossfadeCurve) { $0.curve },
      Field(nullable: .fadeOut) { $0.fadeOut }, Field(nullable: .fadeIn) { $0.fadeIn },
    ]
  }

  package static let name: CommandName = "crossfade"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the cross-fade between entries, or show it.",
    details: """
      The end of an entry is then heard together with the beginning of the next one, or of its own repeat. The next \
      entry becomes current when it begins to be heard. Start and end of the overlap are exact to the sample, for \
      entries of any formats. The times count in the output: at rate 2, `crossfade 5` overlaps 10 s of each entry.

      - `equal-power` (default): a quarter of a sine; the power of two different entries stays constant
      - `linear`: the volumes change linearly
      - `s-curve`: half a cosine; the volumes change slowly at both ends

      The overlap is at most half of what is played of each entry. It is shorter if an entry is added when less of the \
      current one is left. Loops, seeks, `next`, `previous` and `jump` are not cross-faded, and neither are entries that \
      cannot seek, such as stations and pipes.

      A new duration replaces all values. Without a duration, an option changes the present cross-fade.
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer, .invalidTime, .invalidState],
    example: ["> crossfade 5", "< ok crossfade=5 curve=equal-power fadeOut=5 fadeIn=5"])
}
