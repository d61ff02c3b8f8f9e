import MediaCore

extension CommandTable {
  /// Commands that play one player's queue.
  static let playback: [CommandSpec] = [
    simple(
      .play, .play, "Plays, with the rate that was last set.",
      "Answers when the request is taken, not when sound is heard (`wait status=playing` does). With nothing to play the"
        + " player waits for an item."),
    simple(.pause, .pause, "Pauses.", "Nothing more is heard, and `time` stands still."),
    simple(.toggle, .toggle, "Pauses what plays or waits to play, and plays what is paused.", ""),
    simple(.stop, .stop, "Pauses, and goes back to the beginning of the current item.", ""),
    CommandSpec(
      .seek, .playback, "Goes to a time of the current item.",
      details:
        "Exact unless said otherwise: the first sample heard is that of the time asked for. A waiting request: it answers"
        + " when the seek is done, with where it landed. `finished=false` says that another seek took its place. A time outside"
        + " the item is moved to its nearest end. `item` guards against a change of item in between.",
      parameters: [
        ParameterSpec(.time, .timeExpression, .required, "TIME", "where to go"),
        ParameterSpec(.fast, .flag, .option, "fast", "any tolerance will do: land where it costs least"),
        ParameterSpec(.before, .tolerance, .option, "TIME", "how much earlier it may land; 0 unless said"),
        ParameterSpec(.after, .tolerance, .option, "TIME", "how much later it may land; 0 unless said"),
        ParameterSpec(.item, item, .option, "ID", "the item that must be the current one"),
        player,
      ],
      waiting: .always, reply: ["finished", "item", "time", "pts", "requested"],
      errors: [.invalidTime, .noCurrentItem, .noSuchItem, .noSuchPlayer, .damagedFile, .decodeFailed],
      example: ["> @5 seek 1:23.5", "< @5 ok finished=true item=1 time=83.5 pts=3682350/44100 requested=83.5"]
    ) { arguments throws(MediaError) in
      let isFast = arguments.flag(.fast)
      let before = arguments.time(.before)
      let after = arguments.time(.after)
      guard !isFast || (before == nil && after == nil) else {
        throw arguments.failure("fast allows any tolerance: it stands without before and after")
      }
      let target = try arguments.required(.time, arguments.expression(.time))
      let seek = PlaybackCommand.Seek(
        target: target, toleranceBefore: before ?? (isFast ? .positiveInfinity : .zero),
        toleranceAfter: after ?? (isFast ? .positiveInfinity : .zero), item: arguments.integer(.item))
      return .playback(.seek(seek), player: arguments.player)
    },
    CommandSpec(
      .rate, .playback, "Sets the rate to play with, or gives it.",
      details: "While paused it starts nothing: the next `play` uses it. 0 is not a rate; `pause` is.",
      parameters: [
        ParameterSpec(.rate, .number(-32...32, exceptZero: true), .optional, "RATE", "1 is as recorded"), player,
      ],
      reply: ["rate"], errors: [.unsupportedRate, .noSuchPlayer], example: ["> rate 1", "< ok rate=1"]
    ) { arguments throws(MediaError) in .playback(.rate(arguments.number(.rate)), player: arguments.player) },
    CommandSpec(
      .volume, .playback, "Sets the player's volume, or gives it.",
      parameters: [
        ParameterSpec(
          .volume, .number(0...1, exceptZero: false), .optional, "VOLUME", "0 is silence, 1 the samples as they are"),
        player,
      ],
      reply: ["volume"], errors: [.noSuchPlayer], example: ["> volume 0.5", "< ok volume=0.5"]
    ) { arguments throws(MediaError) in .playback(.volume(arguments.number(.volume)), player: arguments.player) },
    CommandSpec(
      .mute, .playback, "Mutes the player or lets it be heard, or says which it is.",
      details: "The volume stays what it is.",
      parameters: [ParameterSpec(.state, .toggle, .optional, "on|off|toggle", "what to do"), player],
      reply: ["muted"], errors: [.noSuchPlayer], example: ["> mute on", "< ok muted=true"]
    ) { arguments throws(MediaError) in
      .playback(.mute(arguments.text(.state).flatMap(PlaybackCommand.Switch.init)), player: arguments.player)
    },
    CommandSpec(
      .endAction, .playback, "Sets what happens at the end of an item, or gives it.",
      details: "`advance` goes on to the next item, `pause` pauses at the end, `none` lets the time run on.",
      parameters: [
        ParameterSpec(
          .action, .word(PlaybackCommand.ItemEndAction.allCases.map(\.rawValue)), .optional, "advance|pause|none",
          "what to do; `advance` from the start"),
        player,
      ],
      reply: ["actionAtItemEnd"], errors: [.noSuchPlayer],
      example: ["> end-action pause", "< ok actionAtItemEnd=pause"]
    ) { arguments throws(MediaError) in
      .playback(
        .endAction(arguments.text(.action).flatMap(PlaybackCommand.ItemEndAction.init)), player: arguments.player)
    },
    CommandSpec(
      .status, .playback, "Gives the player's state on one line.",
      details:
        "`time` is the time heard. Fields of a current item that is not there, or not ready, are `none` or `indefinite`.",
      parameters: [player],
      reply: [
        "player", "timeControlStatus", "reasonForWaitingToPlay", "rate", "item", "index", "count", "time", "pts",
        "duration", "providesPreciseDuration", "volume", "muted", "actionAtItemEnd", "itemStatus", "version",
      ],
      errors: [.noSuchPlayer],
      example: [
        "> status",
        "< ok player=main timeControlStatus=playing reasonForWaitingToPlay=none rate=1 item=1 index=0 count=2 time=12.25"
          + " pts=540225/44100 duration=183.2 providesPreciseDuration=true volume=1 muted=false actionAtItemEnd=advance"
          + " itemStatus=readyToPlay version=2",
      ]
    ) { arguments throws(MediaError) in .playback(.status, player: arguments.player) },
  ]

  /// An item's id: ids begin at 1.
  static let item = ParameterSpec.Kind.integer(1...Int.max)

  /// A command that takes a player and answers ok.
  private static func simple(
    _ name: CommandName, _ command: PlaybackCommand, _ summary: String, _ details: String
  ) -> CommandSpec {
    CommandSpec(
      name, .playback, summary, details: details, parameters: [player], errors: [.noSuchPlayer],
      example: ["> \(name.rawValue)", "< ok"]
    ) { arguments throws(MediaError) in .playback(command, player: arguments.player) }
  }
}
