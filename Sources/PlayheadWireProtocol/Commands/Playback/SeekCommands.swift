import PlayheadMediaCore

/// `seek`: seeks in the current item.
package enum SeekCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let time: Parameter<TimeExpression?>
    /// The date in ISO 8601. Nil: the target is a time.
    package let date: Parameter<String?>
    /// Whether any tolerance is allowed.
    package let fast: Parameter<Bool>
    package let chase: Parameter<Bool>
    /// Not negative. May be positive infinity. Nil: zero.
    package let before: Parameter<MediaTime?>
    /// Not negative. May be positive infinity. Nil: zero.
    package let after: Parameter<MediaTime?>
    /// The entry that the current item must be. Nil: any.
    package let item: Parameter<EntryReference?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      time = list.optional(.time, .timeExpression, "TIME", "the target")
      date = list.option(
        "date", .text(maximumByteCount: 64), "DATE",
        "instead of TIME: a date and time in the stream (EXT-X-PROGRAM-DATE-TIME), such as `2026-11-22T09:30:00Z`")
      fast = list.flag(.fast, "allow any tolerance: seek to the position that is reached fastest")
      chase = list.flag("chase", "start when the pending seek has completed")
      before = list.option(.before, .tolerance, "TIME", "how much earlier the reached position may be; default: 0")
      after = list.option(.after, .tolerance, "TIME", "how much later the reached position may be; default: 0")
      item = list.option(.item, .entry, "ID", "fail with `no-such-item` unless this is the current item")
      player = list.player()
    }
  }

  package typealias Reply = SeekReply

  package static let name: CommandName = "seek"

  package static let definition = CommandDefinition<Self>(
    .playback, "Seek to a time in the current item.",
    details: """
      Exactly one of TIME and `date` is required. Unless a tolerance is given, playback continues with the sample \
      that contains the requested time. A relative time counts from the target of the newest pending seek, or else \
      from the current time. In a live stream, `end` and `live` are three target durations before the end of the \
      last segment.

      The request waits: its reply comes when the device has the audio from the new position. A new seek replaces a \
      pending one. With `chase`, the new seek starts when the pending seek has completed; of several waiting seeks, \
      only the newest is carried out. A seek that is not carried out replies at once with `finished=false`, the \
      current position in `time`, and a `reason`.

      - `time`: the reached position; `exact`: whether `time` is the start of the requested sample
      - `requested`: the requested time; if it is outside the item, the nearer end is used and `clamped=true`
      - `before`, `after`: the tolerances
      - `us`: the duration of the seek in microseconds

      `reason` of a seek that is not carried out:

      - `superseded`: a newer seek replaced it
      - `itemChanged`: another item became current, or no item is current
      - `itemEnded`: the item ended before the new position was heard
      - `itemFailed`: the item could not be opened, read or decoded
      - `cancelled`: the pending seeks were cancelled (`seek.cancel`)
      - `outputLost`: the output was lost; playback continues from the requested position when an output is available
      - `closed`: the player was closed

      `reason` of a finished seek that is not exact:

      - `tolerance`: the reached position is another one within the tolerances
      - `estimated`: the position is calculated from the bit rate, from the durations in a playlist, or from the
        timestamps of a Matroska file that is remote or too long to check
      - `irregularTimestamps`: the timestamps contradict the frame counts, and the file is remote or too long to count
      - `coarseTimestamps`: the timestamps are rounded to more than a frame
      - `decoderState`: the decoder needs all audio before the position, and the file is too long for that
      - `damage`: packets before the position are missing, damaged, or have wrong timestamps
      """,
    errors: [.invalidTime, .noCurrentItem, .noSuchItem, .noSuchPlayer, .noSuchDate] + CommandTable.streamErrors
      + CommandTable.mediaErrors,
    example: [
      "> @5 seek 1:23.5",
      "< @5 ok finished=true item=1 time=83.5 pts=3682350/44100 requested=83.5 before=0 after=0 exact=true"
        + " clamped=false us=2950 hostTime=5012.25",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.seek() }
}

/// `seek.cancel`: cancels the pending seeks and steps.
package enum SeekCancelCommand: ImmediateCommand {
  package typealias Parameters = PlayerParameters

  package static let name: CommandName = "seek.cancel"

  package static let definition = CommandDefinition<Self>(
    .playback, "Cancel every pending `seek` and `step`.",
    details:
      "The position is then the old one or the target. `status` shows which. Corresponds to AVPlayerItem's"
      + " `cancelPendingSeeks`.",
    errors: [.noSuchPlayer], example: ["> seek.cancel", "< ok"])
}

/// `step`: steps while paused.
package enum StepCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// The number of steps. Negative: backward.
    package let count: Parameter<Int>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      count = list.required(
        .count, .integer(-1_000_000...1_000_000), "COUNT", "the number of steps; negative: backward")
      player = list.player()
    }
  }

  package typealias Reply = SeekReply

  package static let name: CommandName = "step"

  package static let definition = CommandDefinition<Self>(
    .playback, "Step forward or back while paused.",
    details:
      "A step is exactly 0.01 s of the item. Steps count from the target of the newest step or seek. A step does"
      + " not go beyond the start or the end of the item (`clamped`). The reply has the fields of `seek`. The event"
      + " is `time-jumped` with `cause=step`.",
    errors: [.invalidState, .noCurrentItem, .noSuchPlayer] + CommandTable.streamErrors + CommandTable.mediaErrors,
    example: [
      "> @9 step -5",
      "< @9 ok finished=true item=1 time=12.2 pts=538020/44100 requested=12.2 before=0 after=0 exact=true"
        + " clamped=false us=2950 hostTime=5012.25",
    ])
}

/// `next-chapter`: seeks to the next chapter.
package enum NextChapterCommand: WaitingCommand {
  package typealias Parameters = PlayerParameters
  package typealias Reply = SeekReply

  package static let name: CommandName = "next-chapter"

  package static let definition = CommandDefinition<Self>(
    .playback, "Seek to the start of the next chapter of the current item.",
    details:
      "The position is the target of the newest seek, or the time heard. The seek is exact, and the reply is that of"
      + " `seek`.",
    errors: [.noSuchChapter, .invalidState, .noCurrentItem, .noSuchPlayer] + CommandTable.streamErrors
      + CommandTable.mediaErrors,
    example: [
      "> @3 next-chapter",
      "< @3 ok finished=true item=1 time=83.5 pts=4008000/48000 requested=83.5 before=0 after=0 exact=true"
        + " clamped=false us=2950 hostTime=5012.25",
    ])
}

/// `previous-chapter`: seeks to the start of the current or the previous chapter.
package enum PreviousChapterCommand: WaitingCommand {
  package typealias Parameters = PlayerParameters
  package typealias Reply = SeekReply

  package static let name: CommandName = "previous-chapter"

  package static let definition = CommandDefinition<Self>(
    .playback, "Seek to the start of the current or the previous chapter.",
    details:
      "In the first 3 s of a chapter, the target is the start of the previous chapter. Otherwise, and in the first"
      + " chapter, it is the start of the current chapter. The position is the target of the newest seek, or the time"
      + " heard. The seek is exact, and the reply is that of `seek`.",
    errors: [.noSuchChapter, .invalidState, .noCurrentItem, .noSuchPlayer] + CommandTable.streamErrors
      + CommandTable.mediaErrors,
    example: [
      "> @3 previous-chapter",
      "< @3 ok finished=true item=1 time=0 pts=0/48000 requested=0 before=0 after=0 exact=true clamped=false us=2950"
        + " hostTime=5012.25",
    ])
}
