import PlayheadMediaCore

/// `item.pitch`: sets how the pitch of an entry follows the rate.
package enum ItemPitchCommand: ImmediateCommand {
  /// The pitch algorithm of an entry.
  package enum Setting: String, Sendable, Hashable, CaseIterable {
    case timeDomain, spectral, varispeed
    /// The algorithm of the player.
    case player

    /// Nil: that of the player.
    package var algorithm: PitchCommand.Algorithm? { .init(rawValue: rawValue) }
  }

  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// Nil: unchanged.
    package let algorithm: Parameter<Setting?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      algorithm = list.optional(
        .algorithm, .word, "timeDomain|spectral|varispeed|player", "the algorithm; default: `player`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var item: UInt64
    package var algorithm: PitchCommand.Algorithm

    package init(item: UInt64, algorithm: PitchCommand.Algorithm) {
      (self.item, self.algorithm) = (item, algorithm)
    }

    package static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(.audioTimePitchAlgorithm) { $0.algorithm },
    ]
  }

  package static let name: CommandName = "item.pitch"

  package static let definition = CommandDefinition<Self>(
    .items, "Set how the pitch of an entry follows the rate, or show it.",
    details: "Corresponds to `pitch`, for one entry. With `player`, the entry uses the setting of the player.",
    readsWithoutValue: true, errors: [.unsupportedRate, .noSuchItem, .noSuchPlayer],
    example: ["> item.pitch 2 varispeed", "< ok item=2 audioTimePitchAlgorithm=varispeed"])
}

/// `item.end-time`: sets where playback of an entry ends.
package enum ItemEndTimeCommand: ImmediateCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// An invalid time removes the end time. Nil: unchanged.
    package let forward: Parameter<MediaTime?>
    /// An invalid time removes the end time. Nil: unchanged.
    package let reverse: Parameter<MediaTime?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      forward = list.option("forward", .timeOrNone, "TIME", "the end of forward playback, or `none`")
      reverse = list.option("reverse", .timeOrNone, "TIME", "the end of reverse playback, or `none`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var item: UInt64
    /// Nil: the end of the item.
    package var forward: MediaTime?
    /// Nil: the start of the item.
    package var reverse: MediaTime?

    package init(item: UInt64, forward: MediaTime?, reverse: MediaTime?) {
      (self.item, self.forward, self.reverse) = (item, forward, reverse)
    }

    package static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(nullable: .forwardPlaybackEndTime) { $0.forward },
      Field(nullable: .reversePlaybackEndTime) { $0.reverse },
    ]
  }

  package static let name: CommandName = "item.end-time"

  package static let definition = CommandDefinition<Self>(
    .items, "Set where playback of an entry ends, or show it.",
    details: """
      Playback ends exactly at the end time, as at the end of the file: `played-to-end` is sent, and `end-action`, \
      `repeat` and the next entry apply. The duration does not change.

      - `forward` is the end of playback at positive rates.
      - `reverse` is the end of playback at negative rates.
      - `none` removes an end time.

      A seek can go past an end time. Playback from there ends at once.
      """,
    readsWithoutValue: true, errors: [.invalidTime, .noSuchItem, .noSuchPlayer],
    example: [
      "> item.end-time 2 forward=1:30", "< ok item=2 forwardPlaybackEndTime=90 reversePlaybackEndTime=none",
    ])
}

/// `item.buffer`: sets how far ahead an entry is decoded.
package enum ItemBufferCommand: ImmediateCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// 0: as far as memory allows. Nil: unchanged.
    package let duration: Parameter<MediaTime?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      duration = list.optional(
        .duration, .duration, "DURATION", "how far ahead the entry is decoded; 0: as far as memory allows")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var item: UInt64
    /// 0: as far as memory allows.
    package var duration: MediaTime

    package init(item: UInt64, duration: MediaTime) { (self.item, self.duration) = (item, duration) }

    package static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(.preferredForwardBufferDuration) { $0.duration },
    ]
  }

  package static let name: CommandName = "item.buffer"

  package static let definition = CommandDefinition<Self>(
    .items, "Set how far ahead an entry is decoded, or show it.",
    details: """
      The setting applies while the entry is current.

      - 0 fills the buffer. Its capacity is 4.5 s to 9 s, depending on the sample rate of the output.
      - 4.5 s or more counts as 0.
      - The effective minimum is half of the capacity plus 0.25 s, which is always more than 2 s.
      """,
    readsWithoutValue: true, errors: [.invalidTime, .noSuchItem, .noSuchPlayer],
    example: ["> item.buffer 2 3", "< ok item=2 preferredForwardBufferDuration=3"])
}
