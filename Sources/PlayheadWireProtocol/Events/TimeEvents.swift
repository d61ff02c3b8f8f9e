import PlayheadMediaCore

/// A position of a player: its time heard at the moment of an event, or the time that the event is about.
package struct PlayerPosition: Sendable, Hashable {
  package var player: String
  /// The id of the entry. Nil without a current item.
  package var item: UInt64?
  package var time: MediaTime

  package init(player: String, item: UInt64?, time: MediaTime) {
    (self.player, self.item, self.time) = (player, item, time)
  }

  static let fields: [Field<Self>] = [
    Field(.player) { $0.player }, Field(nullable: .item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
  ]
}

/// A position within an item.
package struct ItemPosition: Sendable, Hashable {
  package var player: String
  /// The id of the entry.
  package var item: UInt64
  package var time: MediaTime

  package init(player: String, item: UInt64, time: MediaTime) {
    (self.player, self.item, self.time) = (player, item, time)
  }

  static let fields: [Field<Self>] = [
    Field(.player) { $0.player }, Field(.item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
  ]
}

/// `tick`: a periodic observer fired.
package struct TickEvent: Event {
  /// The reason for the tick.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    case periodic
    case jump
    case start
    case stop
  }

  package var subscription: Int
  package var position: PlayerPosition
  /// The rate of the heard time. 0 while paused or waiting.
  package var rate: Double
  package var reason: Reason
  /// The delay in nanoseconds from the moment that the sample was heard to the creation of the event. 0 for a jump.
  package var lateNanoseconds: Int64
  /// The instant at which the position is heard. Nil while the time does not advance.
  package var hostTime: HostTime?

  package init(
    subscription: Int, position: PlayerPosition, rate: Double, reason: Reason, lateNanoseconds: Int64,
    hostTime: HostTime? = nil
  ) {
    (self.subscription, self.position, self.rate) = (subscription, position, rate)
    (self.reason, self.lateNanoseconds, self.hostTime) = (reason, lateNanoseconds, hostTime)
  }

  package static let definition = EventDefinition(
    .tick,
    "`tick`: a multiple of the interval was heard (`periodic`), the time jumped (`jump`), or audio started or stopped"
      + " (`start`, `stop`). `rate` is 0 while the time does not advance.")

  package static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }] + PlayerPosition.fields.map { $0.within(\.position) } + [
      Field(.tickRate) { $0.rate }, Field(.tickReason) { $0.reason }, Field(.late) { $0.lateNanoseconds },
      Field(nullable: .hostTime) { $0.hostTime },
    ]
}

/// `at`: a boundary observer fired. The position is the boundary itself.
package struct BoundaryEvent: Event {
  /// How playback passed the boundary.
  package enum Kind: Sendable, Hashable {
    /// During playback.
    case crossed
    /// By a seek over the boundary, in this direction.
    case skipped(isBackward: Bool)
  }

  /// A chapter of the item.
  package struct Chapter: Sendable, Hashable {
    /// Counts from 1.
    package var number: Int
    package var title: String?

    package init(number: Int, title: String?) { (self.number, self.title) = (number, title) }
  }

  package var subscription: Int
  package var position: ItemPosition
  package var kind: Kind
  /// The chapter that begins at the boundary, if the observer is for chapters.
  package var chapter: Chapter?
  /// The delay in nanoseconds from the moment that the sample was heard to the creation of the event. 0 for a skipped
  /// boundary.
  package var lateNanoseconds: Int64

  package init(
    subscription: Int, position: ItemPosition, kind: Kind, chapter: Chapter? = nil, lateNanoseconds: Int64
  ) {
    (self.subscription, self.position, self.kind) = (subscription, position, kind)
    (self.chapter, self.lateNanoseconds) = (chapter, lateNanoseconds)
  }

  package static let definition = EventDefinition(
    .at,
    """
    `at` and `at-chapters`: playback reached one of the times, or a seek passed it. `time` is that time. `at-chapters` \
    adds the chapter that starts there. `kind` is one of these:

    - `crossed`: playback reached the time
    - `skipped`: a seek passed the time, in the `direction` `forward` or `backward`
    """)

  package static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }] + ItemPosition.fields.map { $0.within(\.position) } + [
      Field(.kindOfBoundary) { $0.kind == .crossed ? "crossed" : "skipped" },
      Field(optional: .direction) {
        if case .skipped(let isBackward) = $0.kind { isBackward ? "backward" : "forward" } else { nil }
      },
      Field(optional: .chapter) { $0.chapter?.number }, Field(optional: .title) { $0.chapter?.title },
      Field(.late) { $0.lateNanoseconds },
    ]
}
