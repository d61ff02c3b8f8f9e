import PlayheadMediaCore

/// `end-action`: sets or shows the action at the end of an item.
package enum EndActionCommand: ImmediateCommand {
  /// The values of AVPlayer's `actionAtItemEnd`, and `stop`.
  package enum Action: String, Sendable, Hashable, CaseIterable {
    case advance
    case stop
    case pause
    case none
  }

  package struct Parameters: ParameterList {
    /// Nil: no change.
    package let action: Parameter<Action?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      action = list.optional("action", .word, "advance|stop|pause|none", "the action; default: `advance`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var action: String

    package init(action: String) { self.action = action }

    package static let fields: [Field<Self>] = [Field(.actionAtItemEnd) { $0.action }]
  }

  package static let name: CommandName = "end-action"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the action at the end of an item, or show it.",
    details: """
      - `advance`: play the next item; after the last item the rate stays, and the player waits for another item
      - `stop`: play the next item; after the last item the rate becomes 0 (`status=paused`)
      - `pause`: pause at the end of the item
      - `none`: the time continues beyond the end, in silence
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> end-action pause", "< ok actionAtItemEnd=pause"])
}

/// `repeat`: sets or shows the repeat mode.
package enum RepeatCommand: ImmediateCommand {
  /// The repeat mode of the queue.
  package enum Mode: String, Sendable, Hashable, CaseIterable {
    case off
    case one
    case all
  }

  package struct Parameters: ParameterList {
    /// Nil: no change.
    package let mode: Parameter<Mode?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      mode = list.optional(.mode, .word, "off|one|all", "what repeats; default: `off`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var mode: String

    package init(mode: String) { self.mode = mode }

    package static let fields: [Field<Self>] = [Field(.repeat) { $0.mode }]
  }

  package static let name: CommandName = "repeat"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set what repeats, or show it.",
    details: """
      - `off`: nothing repeats
      - `one`: the current item repeats
      - `all`: the queue repeats: an entry that was heard to its end, or that `next` leaves, moves to the end of the \
      queue and keeps its id

      Repeats have no gap, and have priority over `end-action`. An item shorter than 10 ms plays once.
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: ["> repeat one", "< ok repeat=one"])
}

/// `loop`: sets, ends or shows the loop of the current item.
package enum LoopCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// In seconds.
    package let start: Parameter<TimeExpression?>
    /// In seconds.
    package let end: Parameter<TimeExpression?>
    /// The start and end as one value.
    package let range: Parameter<TimeRange?>
    package let off: Parameter<Bool>
    package let last: Parameter<Bool>
    /// The number of returns to the start. Nil: indefinitely.
    package let count: Parameter<Int?>
    /// The entry that the current item must be. Nil: any.
    package let item: Parameter<EntryReference?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      start = list.optional(.start, .timeExpression, "START", "the start of the range")
      end = list.optional(.end, .timeExpression, "END", "the end of the range")
      range = list.option(.range, .range, "START-END", "the range, instead of START and END")
      off = list.flag("off", "end the loop, and continue")
      last = list.flag("last", "make the current pass the last one")
      count = list.option(.count, .integer(1...1_000_000_000), "N", "the number of returns; default: indefinitely")
      item = list.option(.item, .entry, "ID", "fail with `no-such-item` unless this is the current item")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// The loop of an item.
    package struct Loop: Sendable {
      /// In seconds.
      package var start: MediaTime
      /// In seconds.
      package var end: MediaTime
      /// The number of remaining returns to the start. Nil: indefinitely.
      package var remainingCount: Int?
      /// The number of returns so far.
      package var passes: Int

      package init(start: MediaTime, end: MediaTime, remainingCount: Int?, passes: Int) {
        (self.start, self.end, self.remainingCount, self.passes) = (start, end, remainingCount, passes)
      }
    }

    package var item: UInt64?
    package var loop: Loop?

    package init(item: UInt64?, loop: Loop?) { (self.item, self.loop) = (item, loop) }

    package static let fields: [Field<Self>] = [
      Field(nullable: .item) { $0.item }, Field(nullable: .start) { $0.loop?.start },
      Field(nullable: .end) { $0.loop?.end }, Field(nullable: .countOfReturns) { $0.loop?.remainingCount },
      Field(nullable: .passes) { $0.loop?.passes },
    ]
  }

  package static let name: CommandName = "loop"

  package static let definition = CommandDefinition<Self>(
    .playback, "Loop a part of the current item, end the loop, or show it.",
    details: """
      Playback that reaches END returns to START without a gap. The range is exact: from frame `floor(START * \
      sampleRate)` to frame `floor(END * sampleRate)`. It must be at least 10 ms long. The request waits until the \
      item is ready.

      - Playback that is after END, when the loop is set or after a seek, continues to the end of the item.
      - `loop off` ends the loop, and playback continues from the current position.
      - `loop last` finishes the current pass. Playback then continues as at the end of the item: with the next \
      entry, or as `end-action` specifies.

      Each return to START is a `transition` event, not `time-jumped`. Ticks and boundaries are sent in each pass. \
      `range` accepts the `loop` of `status`. In the reply, `count` is the number of remaining returns (`none`: indefinitely), and `passes` is the number of \
      returns so far.
      """,
    readsWithoutValue: true,
    errors: [.invalidTime, .invalidState, .noCurrentItem, .noSuchItem, .waitEnded, .noSuchPlayer]
      + CommandTable.streamErrors + CommandTable.mediaErrors,
    example: [
      "> @7 loop 1:10 1:23.5", "< @7 ok item=1 start=70 end=83.5 count=none passes=0", "> loop off",
      "< ok item=1 start=none end=none count=none passes=none",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.loop() }
}
