import PlayheadMediaCore

/// Commands that observe events or wait for them.
package typealias WatchingCommands = CommandList<
  ObserveCommand, UnobserveCommand, EventsCommand, TickCommand, AtCommand, AtChaptersCommand, UntickCommand,
  MeterCommand, UnmeterCommand, WaitCommand, ClockAdvanceCommand, ExplainCommand
>

/// `wait`: waits until conditions hold.
package enum WaitCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// At least one.
    package let conditions: Parameter<WireList<WaitCondition>>
    /// In seconds. Nil: no limit.
    package let timeout: Parameter<MediaTime?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      conditions = list.list(
        .conditions, .condition, "CONDITION",
        "`time>=TIME`, `time>TIME`, `time<=TIME`, `time<TIME`, `status=playing`, `status=paused`, `status=waiting`,"
          + " `item=ID`, `ended`, `ready`, `silence>=TIME`")
      timeout = list.option(
        .timeout, .duration, "TIME", "how long to wait on the daemon's clock, real or virtual; default: no limit")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    /// Nil: there is no current item.
    package var item: UInt64?
    package var time: MediaTime
    package var timeControlStatus: String
    /// Nil while the time does not advance.
    package var hostTime: HostTime?

    package init(item: UInt64?, time: MediaTime, timeControlStatus: String, hostTime: HostTime?) {
      (self.item, self.time) = (item, time)
      (self.timeControlStatus, self.hostTime) = (timeControlStatus, hostTime)
    }

    package static let fields: [Field<Self>] = [
      Field(nullable: .item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
      Field(.timeControlStatus) { $0.timeControlStatus }, Field(nullable: .hostTime) { $0.hostTime },
    ]
  }

  package static let name: CommandName = "wait"

  package static let definition = CommandDefinition<Self>(
    .watching, "Wait until all conditions hold.",
    details: """
      If all conditions are already true, the reply comes at once. The conditions are:

      - `time>=TIME`, `time<=TIME`: the time heard, in either direction of playback. Both together mean a time \
      between the two.
      - `time>TIME`, `time<TIME`: the same without TIME itself
      - `status=playing`, `status=paused`: the `timeControlStatus`
      - `status=waiting`: the `timeControlStatus` is `waitingToPlayAtSpecifiedRate`
      - `item=ID`: this entry is current. `item=next`, `item=+2` and the other positions mean the entry that has this \
      position when the wait starts.
      - `ready`: the current item is ready to play
      - `ended`: there is no current item, or the player is paused at the end of the current item. The end is the \
      end time, if one is set. In reverse, it is the start of the item.
      - `silence>=TIME`: nothing was heard of the player for TIME, from 0.1 s to a day. Silence before the request does \
      not count. The threshold is that of `silence`, which may be off. A paused player is silent, too.

      A condition that cannot become true any more fails with `wait-ended`:

      - `time>=` and `time<=`, if the current item changes, or playback ends before it reaches TIME
      - a condition that needs playback, if an error stops the player (`player.error`)
      """,
    right: .read,
    errors: [.invalidTime, .timedOut, .waitEnded, .noSuchItem, .noSuchPlayer] + CommandTable.streamErrors
      + CommandTable.mediaErrors,
    example: [
      "> @w wait time>=90 timeout=5",
      "< @w error code=6011 name=timed-out message=\"not within 5 seconds\" operation=wait",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    var (least, most): (MediaTime?, MediaTime?)
    for condition in arguments.conditions {
      switch condition {
      case .timeAtLeast(let time): least = max(least ?? time, time)
      case .timeAtMost(let time): most = min(most ?? time, time)
      default: break
      }
    }
    if let least, let most, least > most {
      throw arguments.failure(
        "time>=\(least.decimalDescription) and time<=\(most.decimalDescription) cannot both hold")
    }
  }
}

/// `clock.advance`: advances the virtual clock.
package enum ClockAdvanceCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let duration: Parameter<MediaTime>

    package init(_ list: inout ParameterListBuilder) {
      duration = list.required(.duration, .duration, "DURATION", "the time to advance by")
    }
  }

  package struct Reply: ReplyFields {
    package var now: HostTime

    package init(now: HostTime) { self.now = now }

    package static let fields: [Field<Self>] = [Field(.now) { $0.now }]
  }

  package static let name: CommandName = "clock.advance"

  package static let definition = CommandDefinition<Self>(
    .watching, "Advance the virtual clock.",
    details: """
      Available only with `--clock virtual`. `now` is the time of the virtual clock, which starts at 0. The instants \
      of `play-at` and `rate-at`, `hostTime` and timeouts use the same clock.

      The reply comes when the whole time has been rendered, and every event of it for this connection has been \
      written. These events may come later:

      - An event at exactly the end of the time, such as a `stop` tick, may come with the next `clock.advance`.
      - If a loop was set during playback, the first tick after its start may come at the end of the time, with the \
      delay in `late`.
      """,
    errors: [.invalidTime, .notVirtualClock], example: ["> clock.advance 2.5", "< ok now=2.5"])
}

/// `explain`: shows the durations of the phases of the last start or seek.
package enum ExplainCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) { player = list.player() }
  }

  /// Durations are in microseconds.
  package struct Reply: ReplyFields {
    package var player: String
    package var kind: String
    package var item: UInt64
    package var requested: MediaTime
    package var reached: MediaTime
    package var wait: Int64
    package var open: Int64
    package var index: Int64
    package var demux: Int64
    package var decode: Int64
    package var resample: Int64
    package var commit: Int64
    /// Nil before audio was heard.
    package var device: Int64?
    package var total: Int64

    package init(
      player: String, kind: String, item: UInt64, requested: MediaTime, reached: MediaTime, wait: Int64, open: Int64,
      index: Int64, demux: Int64, decode: Int64, resample: Int64, commit: Int64, device: Int64?, total: Int64
    ) {
      (self.player, self.kind, self.item) = (player, kind, item)
      (self.requested, self.reached) = (requested, reached)
      (self.wait, self.open, self.index, self.demux) = (wait, open, index, demux)
      (self.decode, self.resample, self.commit) = (decode, resample, commit)
      (self.device, self.total) = (device, total)
    }

    package static let fields: [Field<Self>] = [
      Field(.player) { $0.player }, Field(.kindOfTiming) { $0.kind }, Field(.item) { $0.item },
      Field(.requested) { $0.requested }, Field(.reached) { $0.reached }, Field(.waitMicroseconds) { $0.wait },
      Field(.open) { $0.open }, Field(.indexMicroseconds) { $0.index }, Field(.demux) { $0.demux },
      Field(.decode) { $0.decode }, Field(.resample) { $0.resample }, Field(.commit) { $0.commit },
      Field(nullable: .device) { $0.device }, Field(.totalMicroseconds) { $0.total },
    ]
  }

  package static let name: CommandName = "explain"

  package static let definition = CommandDefinition<Self>(
    .watching, "Show the durations of the steps of the last start or seek.",
    details: """
      All values are in microseconds. They begin with the request (`load`, `next`, `play`, `seek`, an edit of the \
      queue), and end with the first sample heard. On the virtual clock decoding takes no time.

      - `wait`: until the decode thread began, including the delay by `chase`
      - `open`: to open the file
      - `index`: to find the position in the file
      - `demux`: to read packets from there
      - `decode`, `resample`: to process the audio up to the first sample, and the further samples that playback \
      needs to start
      - `commit`: to give the audio to the device
      - `device`: until the audio was heard; `none` before, as in a paused player
      - `total`: the sum

      `kind` is one of these:

      - `start`: the start of playback or of an item
      - `seek`: a seek
      - `splice`: a change of the queue after the current item
      """,
    right: .read, errors: [.invalidState, .noSuchPlayer],
    example: [
      "> explain",
      "< ok player=main kind=seek item=1 requested=83.5 reached=83.5 wait=40 open=0 index=35 demux=60 decode=620 resample=0"
        + " commit=1180 device=9800 total=11735",
    ])
}
