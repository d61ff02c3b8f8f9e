import PlayheadMediaCore

/// `events`: lists logged events.
package enum EventsCommand: SometimesWaitingCommand {
  package struct Parameters: ParameterList {
    /// In the order of the table, without duplicates. Empty: all.
    package let keys: Parameter<[ObservableKey]>
    package let since: Parameter<Int?>
    package let instance: Parameter<String?>
    package let limit: Parameter<Int>
    package let wait: Parameter<Bool>
    /// In seconds. Nil: the default.
    package let timeout: Parameter<MediaTime?>
    /// Nil: all players.
    package let player: Parameter<String?>

    package init(_ list: inout ParameterListBuilder) {
      keys = list.keys(.optionalList, "keys, as for `observe`; default: all")
      since = list.option(.since, .integer(0...Int.max), "SEQ", "the number of the last known event")
      instance = list.option(
        .instance, .text(maximumByteCount: 64), "INSTANCE",
        "the instance of the daemon to which the number belongs")
      let count = WireLimits.standard.listCount
      limit = list.option(
        .limit, .integer(1...count), "N", default: count, "the maximum number of events; default: \(count)")
      wait = list.flag(.wait, "wait for an event if there is none")
      timeout = list.option(
        .timeout, .duration, "TIME", "how long to wait on the daemon's clock, real or virtual; default: no limit")
      player = list.option(.player, .playerName, "NAME", "which player; default: all")
    }
  }

  package struct Reply: ReplyFields {
    package var instance: String
    /// The number for the next request.
    package var lastEvent: UInt64
    /// The number of older events that the log no longer has.
    package var missed: UInt64
    package var hasMore: Bool
    /// The events with their numbers.
    package var events: [(number: UInt64, event: any NumberedEvent)]

    package init(
      instance: String, lastEvent: UInt64, missed: UInt64, hasMore: Bool,
      events: [(number: UInt64, event: any NumberedEvent)]
    ) {
      (self.instance, self.lastEvent, self.missed) = (instance, lastEvent, missed)
      (self.hasMore, self.events) = (hasMore, events)
    }

    package static let fields: [Field<Self>] = [
      Field(.instance) { $0.instance }, Field(.seqOfLastEvent) { $0.lastEvent },
      Field(.countOfRows) { $0.events.count }, Field(.missed) { $0.missed }, Field(.more) { $0.hasMore },
    ]

    /// A row has the fields of its event.
    package static let rowFields: [FieldSpec]? = [.seq, .event] + EventTable.loggedFields

    package var encodedRows: [Fields]? {
      events.map { number, event in
        var row: Fields = ["seq": .int(number)]
        row.append(contentsOf: event.loggedFields)
        return row
      }
    }
  }

  package static let name: CommandName = "events"
  package static let waiting = CommandSpec.Waiting.ifRequested

  package static let definition = CommandDefinition<Self>(
    .watching, "List the events since a known number.",
    details: """
      For clients that reconnect, and for clients without a permanent connection (*Numbers*). The reply has a row \
      for each event that `observe` with these keys would send. Initial values, ticks, meters and the progress of \
      scans have no numbers, and are not included.

      - `since`: the last known number. Without it, the list begins with the next event.
      - `wait`: the reply comes when there is an event, or after `timeout`.

      Fields of the reply:

      - `seq`: the number for the next request
      - `missed`: the number of older events, of any key, that the log no longer has
      - `more`: whether the log has further events
      - `instance`: the instance of the daemon, as in the greeting. Numbers belong to one instance.
      """,
    right: .read, errors: [.noSuchProperty, .otherInstance, .noSuchEvent, .invalidTime, .noSuchPlayer],
    example: [
      "> events player.* since=41 instance=9f86d081884c7d65",
      "< | seq=43 event=changed player=main key=player.rate old=0 new=1 cause=request",
      "< ok instance=9f86d081884c7d65 seq=44 count=1 missed=0 more=false",
    ])

  package static func waits(_ arguments: Arguments<Self>) -> Bool { arguments.wait }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard arguments.wait || !arguments.has(\.timeout) else { throw arguments.failure("timeout needs wait") }
  }
}

extension Arguments<EventsCommand> {
  /// The events to read.
  package var query: EventQuery {
    EventQuery(
      keys: self.keys.isEmpty ? ObservableKey.allCases : self.keys, player: self.player, since: self.since,
      instance: self.instance, limit: self.limit, timeout: self.timeout)
  }
}

/// The events to read from the event log.
package struct EventQuery: Sendable, Hashable {
  /// The keys that the events belong to, in the order of the table.
  package var keys: [ObservableKey]
  /// The player. Nil: all players.
  package var player: String?
  /// The last sequence number that the client knows. Nil: start with the next event.
  package var since: Int?
  /// The instance of the daemon that `since` belongs to. Nil: not compared.
  package var instance: String?
  /// The maximum number of events.
  package var limit: Int
  /// The longest wait. Nil: no limit.
  package var timeout: MediaTime?
}
