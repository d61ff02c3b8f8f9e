import PlayheadMediaCore

/// The reply of a command that subscribes.
package struct SubscriptionReply: ReplyFields {
  package var id: Int

  package init(id: Int) { self.id = id }

  package static let fields: [Field<Self>] = [Field(.id) { $0.id }]
}

/// The parameter of a command that ends a subscription.
package struct SubscriptionParameters: ParameterList {
  package let id: Parameter<Int>

  package init(_ list: inout ParameterListBuilder) {
    id = list.required(.id, .integer(1...Int.max), "ID", "the id of the subscription")
  }
}

extension ParameterListBuilder {
  /// Adds the option that limits a boundary observer to an entry. Default: any.
  fileprivate mutating func item() -> Parameter<EntryReference?> {
    option(.item, .entry, "ID", "only in this item; default: every item")
  }

  /// Adds the flag with which boundary events are sent for seeks, too.
  fileprivate mutating func seeks() -> Parameter<Bool> {
    flag(.seeks, "also send an event when a seek passes the time")
  }
}

/// `observe`: subscribes to the values of keys.
package enum ObserveCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// In the order of the table, without duplicates. At least one.
    package let keys: Parameter<[ObservableKey]>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      keys = list.keys(.list, "keys; a `*` matches any text")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var id: Int
    /// The number of the last event so far.
    package var lastEvent: UInt64

    package init(id: Int, lastEvent: UInt64) { (self.id, self.lastEvent) = (id, lastEvent) }

    package static let fields: [Field<Self>] = [Field(.id) { $0.id }, Field(.seqOfLastEvent) { $0.lastEvent }]
  }

  package static let name: CommandName = "observe"

  package static let definition = CommandDefinition<Self>(
    .watching, "Subscribe to the current values of keys and their changes.",
    details:
      "The first events, with `initial=true`, follow the reply; they describe the state after event `seq`. A slow"
      + " reader gets only the newest value of each key, and an `overflow` event.",
    right: .read, errors: [.noSuchProperty, .tooManySubscriptions, .noSuchPlayer],
    example: [
      "> observe player.timeControlStatus queue.version", "< ok id=1 seq=41",
      "< * changed id=1 player=main key=player.timeControlStatus new=paused cause=initial initial=true",
      "< * changed id=1 player=main key=queue.version new=0 cause=initial initial=true",
    ])
}

/// `unobserve`: ends an observation.
package enum UnobserveCommand: ImmediateCommand {
  package typealias Parameters = SubscriptionParameters

  package static let name: CommandName = "unobserve"

  package static let definition = CommandDefinition<Self>(
    .watching, "End an observation.", details: "No event with its id follows the reply.", right: .read,
    errors: [.noSuchObserver], example: ["> unobserve 1", "< ok"])
}

/// `tick`: subscribes to periodic times.
package enum TickCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// In item time. Positive.
    package let interval: Parameter<MediaTime>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      interval = list.required(.interval, .positiveDuration, "INTERVAL", "the item time between two ticks")
      player = list.player()
    }
  }

  package typealias Reply = SubscriptionReply

  package static let name: CommandName = "tick"

  package static let definition = CommandDefinition<Self>(
    .watching, "Subscribe to ticks at each multiple of an interval.",
    details: """
      The interval is in item time: at rate 2, ticks come twice as often. It is at least 1 ms. `late` is the delay \
      in seconds between the sample and the event. See *Ticks and cues*. `reason` is one of these:

      - `periodic`: a multiple of the interval was heard
      - `jump`: the time jumped
      - `start`: audio started
      - `stop`: audio stopped
      """,
    right: .read, errors: [.invalidTime, .tooManySubscriptions, .noSuchPlayer],
    example: [
      "> tick 0.5", "< ok id=2",
      "< * tick id=2 player=main item=1 time=84 pts=3704400/44100 rate=1 reason=periodic late=0.002"
        + " hostTime=5012.25",
    ])
}

/// `at`: subscribes to boundary times.
package enum AtCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Not negative. At least one.
    package let times: Parameter<WireList<MediaTime>>
    /// Nil: any.
    package let item: Parameter<EntryReference?>
    package let seeks: Parameter<Bool>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      times = list.list(.times, .time, "TIME", "times from the start of the item")
      item = list.item()
      seeks = list.seeks()
      player = list.player()
    }
  }

  package typealias Reply = SubscriptionReply

  package static let name: CommandName = "at"

  package static let definition = CommandDefinition<Self>(
    .watching, "Subscribe to boundary events at given times.",
    details: """
      Times include the start and the end of the item. A time after the end of the item is never reached. See *Ticks \
      and cues*. `kind` is one of these:

      - `crossed`: playback reached the time
      - `skipped`: a seek passed the time; only with `seeks`
      """,
    right: .read, errors: [.invalidTime, .noSuchItem, .tooManySubscriptions, .noSuchPlayer],
    example: [
      "> at 90 95.25", "< ok id=3", "< * at id=3 player=main item=1 time=90 pts=90/1 kind=crossed late=0.001",
    ])
}

/// `at-chapters`: subscribes to the starts of chapters.
package enum AtChaptersCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: any.
    package let item: Parameter<EntryReference?>
    package let seeks: Parameter<Bool>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      item = list.item()
      seeks = list.seeks()
      player = list.player()
    }
  }

  package typealias Reply = SubscriptionReply

  package static let name: CommandName = "at-chapters"

  package static let definition = CommandDefinition<Self>(
    .watching, "Subscribe to the starts of chapters.",
    details: """
      Each `at` event has the number and title of the chapter. The chapters are those of `item.chapters`, of any \
      current item. An item without chapters sends nothing. `kind` is one of these:

      - `crossed`: playback reached the start of the chapter. For a chapter at time 0: the item begins to be heard.
      - `skipped`: a seek passed the start of the chapter; only with `seeks`
      """,
    right: .read, errors: [.noSuchItem, .tooManySubscriptions, .noSuchPlayer],
    example: [
      "> at-chapters seeks", "< ok id=3",
      "< * at id=3 player=main item=1 time=83.5 pts=167/2 kind=crossed chapter=2 title=Fugue late=0.001",
    ])
}

/// `untick`: ends a subscription to times.
package enum UntickCommand: ImmediateCommand {
  package typealias Parameters = SubscriptionParameters

  package static let name: CommandName = "untick"

  package static let definition = CommandDefinition<Self>(
    .watching, "End a `tick`, an `at` or an `at-chapters`.", details: "No event with its id follows the reply.",
    right: .read, errors: [.noSuchObserver], example: ["> untick 2", "< ok"])
}

/// `meter`: subscribes to levels.
package enum MeterCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// In events per second.
    package let rate: Parameter<Double>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      rate = list.optional(.rate, .number(1...100), "RATE", default: 20, "events per second; default: 20")
      player = list.player()
    }
  }

  package typealias Reply = SubscriptionReply

  package static let name: CommandName = "meter"

  package static let definition = CommandDefinition<Self>(
    .watching, "Subscribe to the levels of the player.",
    details:
      "While the player is audible, `meter` events come at this rate, each when the measured audio has been"
      + " heard. When the player stops, one event reports silence (-160). The levels are those of the player's audio"
      + " after volume and pan, since the previous event. Nothing is measured without a subscription.",
    right: .read, errors: [.tooManySubscriptions, .noSuchPlayer],
    example: [
      "> meter", "< ok id=4",
      "< * meter id=4 player=main item=1 time=84.05 pts=4034400/48000 average=-20.05,-19.8 peak=-9.54,-8.2"
        + " averageScale=0.3139,0.3185 peakScale=0.577,0.6229 late=0.001",
    ])
}

/// `unmeter`: ends a subscription to levels.
package enum UnmeterCommand: ImmediateCommand {
  package typealias Parameters = SubscriptionParameters

  package static let name: CommandName = "unmeter"

  package static let definition = CommandDefinition<Self>(
    .watching, "End a `meter`.", details: "No event with its id follows the reply.", right: .read,
    errors: [.noSuchObserver], example: ["> unmeter 4", "< ok"])
}
