import PlayheadMediaCore

/// `changed`: the initial value or a change of an observed key.
package struct ChangedEvent: NumberedEvent {
  /// A position and the instant at which it is heard.
  package struct Anchor: Sendable, Hashable {
    package let time: MediaTime
    /// Nil while the time does not advance.
    package let hostTime: HostTime?

    package init(time: MediaTime, hostTime: HostTime?) { (self.time, self.hostTime) = (time, hostTime) }

    fileprivate static let fields: [Field<Self>] = [
      Field(.time) { $0.time }, Field(.pts) { $0.time }, Field(nullable: .hostTime) { $0.hostTime },
    ]
  }

  package var subscription = 0
  package let player: String
  package let key: ObservableKey
  /// The entry, for keys that begin with `item.`.
  package let item: UInt64?
  /// Nil for the initial value.
  package var old: FieldValue?
  package let new: FieldValue
  /// The cause of the change, such as `request`, `itemEnded` or `output`. `initial` for the initial value.
  package let cause: String
  /// The edits of the queue, for `queue.version`. The inner optional is nil for more than 16 edits, and if the whole
  /// order changed.
  package var changes: [QueueChange]??
  /// The position from which the time advances at the new rate, for `player.timebaseRate`.
  package var anchor: Anchor?

  /// Creates the event of a change between two values of the key.
  package init(
    player: String, key: ObservableKey, item: UInt64? = nil, old: FieldValue, new: FieldValue, cause: String
  ) {
    (self.player, self.key, self.item) = (player, key, item)
    (self.old, self.new, self.cause) = (old, new, cause)
  }

  /// Creates the event of the initial value of the key.
  package init(player: String, key: ObservableKey, item: UInt64? = nil, initial: FieldValue) {
    (self.player, self.key, self.item) = (player, key, item)
    (old, new, cause) = (nil, initial, "initial")
  }

  package static let definition = EventDefinition(
    .changed,
    """
    `observe`: the current value of a key (`initial=true`, without `old`), or a change of the value. A change has its \
    cause (the table below) and its number (*Numbers*).

    The `changes` of `queue.version` are the edits in order:

    - `insert:ITEM:INDEX`: an entry was added
    - `remove:ITEM:INDEX`: an entry was removed
    - `move:ITEM:FROM:TO`: an entry was moved
    - `rotate:COUNT`: the first COUNT entries were moved to the end

    `changes` is `none` if the whole order changed (`load`, `clear`, `shuffle`), and for more than 16 edits. \
    `queue.changes` lists those edits.

    The `time` and `hostTime` of `player.timebaseRate` are the position from which the time advances at the new rate, \
    and the instant at which it is heard (*Clocks*).
    """)

  package static let fields: [Field<Self>] =
    [
      Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(.key) { $0.key.rawValue },
      Field(optional: .item) { $0.item }, Field(nullableIfPresent: .old) { $0.old.map { $0 } },
      Field(nullable: .new) { $0.new }, Field(.causeOfChange) { $0.cause },
      Field(nullableIfPresent: .changes) { $0.changes },
    ] + Anchor.fields.map { $0.within(ifPresent: \.anchor) } + [
      Field(optional: .initial) { $0.old == nil ? true : nil }
    ]
}
