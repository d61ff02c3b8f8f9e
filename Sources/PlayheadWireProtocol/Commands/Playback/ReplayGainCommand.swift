import PlayheadMediaCore

/// `replay-gain`: sets or shows loudness normalization by tags.
package enum ReplayGainCommand: ImmediateCommand {
  /// The gain that ReplayGain applies: that of the track or that of its album.
  package enum Mode: String, Sendable, Hashable, CaseIterable {
    case off, track, album, auto
  }

  /// Nil leaves an option unchanged.
  package struct Parameters: ParameterList {
    /// `off`, `track`, `album` or `auto`.
    package let mode: Parameter<Mode?>
    /// In dB, -15 to 15.
    package let preAmp: Parameter<Double?>
    /// In dB, -60 to 15.
    package let fallback: Parameter<Double?>
    /// Whether peaks limit the gain.
    package let protect: Parameter<Bool?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      mode = list.optional(.mode, .word, "off|track|album|auto", "the gain to use; default: `off`")
      preAmp = list.option(
        "pre-amp", .number(-15...15), "DB", "the gain that is added to that of tags; default: 0")
      fallback = list.option("fallback", .number(-60...15), "DB", "the gain of entries without tags; default: 0")
      protect = list.option("protect", .onOff, "on|off", "whether peaks limit the gain; default: `on`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// The gain that is applied to the current item.
    package struct Gain: Sendable {
      /// From -60 to 30.
      package var decibels: Double
      /// Nil if ReplayGain is off.
      package var source: String?
      package var isLimited: Bool

      package init(decibels: Double, source: String?, isLimited: Bool) {
        (self.decibels, self.source, self.isLimited) = (decibels, source, isLimited)
      }
    }

    /// `off`, `track`, `album` or `auto`.
    package var mode: String
    /// The gain added to that of the tags, in dB.
    package var preampDecibels: Double
    /// The gain of entries without tags, from -60 to 15 dB.
    package var fallbackDecibels: Double
    package var preventsClipping: Bool
    package var item: UInt64?
    /// Nil until the tags are known, and without an item.
    package var gain: Gain?

    package init(
      mode: String, preampDecibels: Double, fallbackDecibels: Double, preventsClipping: Bool, item: UInt64?, gain: Gain?
    ) {
      (self.mode, self.preampDecibels, self.fallbackDecibels) = (mode, preampDecibels, fallbackDecibels)
      (self.preventsClipping, self.item, self.gain) = (preventsClipping, item, gain)
    }

    package static let fields: [Field<Self>] = [
      Field(.modeOfReplayGain) { $0.mode }, Field(.preAmp) { $0.preampDecibels },
      Field(.fallback) { $0.fallbackDecibels },
      Field(.protect) { $0.preventsClipping }, Field(nullable: .item) { $0.item },
      Field(nullable: .gain) { $0.gain?.decibels }, Field(nullable: .replayGainSource) { $0.gain?.source },
      Field(nullable: .limited) { $0.gain?.isLimited },
    ]
  }

  package static let name: CommandName = "replay-gain"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set loudness normalization by tags (ReplayGain), or show it.",
    details: """
      The mode selects the gain:

      - `off`: no gain; the settings stay
      - `track`: the gain of the track
      - `album`: the gain of the album, so that its tracks keep their relative loudness
      - `auto`: the gain of the album if the entry before or after is the adjacent track of the same album, or the \
      adjacent part of the same file. Otherwise the gain of the track. Adjacent entries are considered as soon as \
      their tags are known.

      If one of both gains is missing, the other one is used. The supported tags are:

      - ReplayGain 1 and 2, for -18 LUFS
      - `R128_TRACK_GAIN` and `R128_ALBUM_GAIN` of Opus, for -23 LUFS. 5 dB are added. These gains are relative to the \
      gain of the header, which the decoder applies.

      The settings change the gain:

      - `pre-amp` is added to the gain of tags.
      - `fallback` is the gain of entries without tags.
      - `protect` limits a gain so that the peak in the tags stays within full scale.
      - The result is from -60 to 30 dB.

      The gain applies from the first sample of an entry to its last, also across gapless transitions. Samples are \
      multiplied by the gain, by `item.volume` and by `volume`. A change is heard at once, over 5 ms.
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: [
      "> replay-gain auto pre-amp=3",
      "< ok mode=auto preAmp=3 fallback=0 protect=true item=1 gain=-4.25 source=album limited=false",
    ])
}
