import PlayheadMediaCore

/// A position of a player: its time heard at the moment of an event, or the time that the event is about.
public struct PlayerPosition: Sendable, Hashable {
  public var player: String
  /// The id of the entry. Nil without a current item.
  public var item: UInt64?
  public var time: MediaTime

  public init(player: String, item: UInt64?, time: MediaTime) {
    (self.player, self.item, self.time) = (player, item, time)
  }

  static let fields: [Field<Self>] = [
    Field(.player) { $0.player }, Field(nullable: .item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
  ]
}

/// A position within an item.
public struct ItemPosition: Sendable, Hashable {
  public var player: String
  /// The id of the entry.
  public var item: UInt64
  public var time: MediaTime

  public init(player: String, item: UInt64, time: MediaTime) {
    (self.player, self.item, self.time) = (player, item, time)
  }

  static let fields: [Field<Self>] = [
    Field(.player) { $0.player }, Field(.item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
  ]
}

/// `tick`: a periodic observer fired.
public struct TickEvent: Event {
  /// The reason for the tick.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    case periodic
    case jump
    case start
    case stop
  }

  public var subscription: Int
  public var position: PlayerPosition
  /// The rate of the heard time. 0 while paused or waiting.
  public var rate: Double
  public var reason: Reason
  /// The delay in nanoseconds from the moment that the sample was heard to the creation of the event. 0 for a jump.
  public var lateNanoseconds: Int64
  /// The instant at which the position is heard. Nil while the time does not advance.
  public var hostTime: HostTime?

  public init(
    subscription: Int, position: PlayerPosition, rate: Double, reason: Reason, lateNanoseconds: Int64,
    hostTime: HostTime? = nil
  ) {
    (self.subscription, self.position, self.rate) = (subscription, position, rate)
    (self.reason, self.lateNanoseconds, self.hostTime) = (reason, lateNanoseconds, hostTime)
  }

  public static let definition = EventDefinition(
    .tick,
    "`tick`: a multiple of the interval was heard (`periodic`), the time jumped (`jump`), or audio started or stopped"
      + " (`start`, `stop`). `rate` is 0 while the time does not advance.")

  public static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }] + PlayerPosition.fields.map { $0.within(\.position) } + [
      Field(.tickRate) { $0.rate }, Field(.tickReason) { $0.reason }, Field(.late) { $0.lateNanoseconds },
      Field(nullable: .hostTime) { $0.hostTime },
    ]
}

/// `at`: a boundary observer fired. The position is the boundary itself.
public struct BoundaryEvent: Event {
  /// How playback passed the boundary.
  public enum Kind: Sendable, Hashable {
    /// During playback.
    case crossed
    /// By a seek over the boundary, in this direction.
    case skipped(isBackward: Bool)
  }

  /// A chapter of the item.
  public struct Chapter: Sendable, Hashable {
    /// Counts from 1.
    public var number: Int
    public var title: String?

    public init(number: Int, title: String?) { (self.number, self.title) = (number, title) }
  }

  public var subscription: Int
  public var position: ItemPosition
  public var kind: Kind
  /// The chapter that begins at the boundary, if the observer is for chapters.
  public var chapter: Chapter?
  /// The delay in nanoseconds from the moment that the sample was heard to the creation of the event. 0 for a skipped
  /// boundary.
  public var lateNanoseconds: Int64

  public init(
    subscription: Int, position: ItemPosition, kind: Kind, chapter: Chapter? = nil, lateNanoseconds: Int64
  ) {
    (self.subscription, self.position, self.kind) = (subscription, position, kind)
    (self.chapter, self.lateNanoseconds) = (chapter, lateNanoseconds)
  }

  public static let definition = EventDefinition(
    .at,
    """
    `at` and `at-chapters`: playback reached one of the times, or a seek passed it. `time` is that time. `at-chapters` \
    adds the chapter that starts there. `kind` is one of these:

    - `crossed`: playback reached the time
    - `skipped`: a seek passed the time, in the `direction` `forward` or `backward`
    """)

  public static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }] + ItemPosition.fields.map { $0.within(\.position) } + [
      Field(.kindOfBoundary) { $0.kind == .crossed ? "crossed" : "skipped" },
      Field(optional: .direction) {
        if case .skipped(let isBackward) = $0.kind { isBackward ? "backward" : "forward" } else { nil }
      },
      Field(optional: .chapter) { $0.chapter?.number }, Field(optional: .title) { $0.chapter?.title },
      Field(.late) { $0.lateNanoseconds },
    ]
}
