import MediaCore

/// What a watcher is told without asking: `* name k=v ...` in words, a JSON-RPC notification in JSON.
public enum Event: Sendable, Hashable {
  /// A periodic observer fired.
  case tick(Tick)
  /// A boundary observer fired.
  case boundary(Boundary)
  /// The value of an observed key, first as it is and then each change.
  case changed(Changed)
  /// An item ended, failed, stalled or jumped; for those who observe `item.events`.
  case item(ItemNotification)
  /// So many events of this connection were dropped because it did not read: ask for what matters again.
  case overflow(dropped: Int)
  /// The connection is about to be closed by the daemon, with the reason.
  case closing(MediaError)

  /// Where the player was, heard, when something happened.
  public struct Position: Sendable, Hashable {
    public var player: String
    /// Nil when there is no current item.
    public var item: Int?
    public var time: MediaTime

    public init(player: String, item: Int?, time: MediaTime) {
      self.player = player
      self.item = item
      self.time = time
    }
  }

  /// The payload of `tick`.
  public struct Tick: Sendable, Hashable {
    /// Why it was sent.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
      case periodic
      case jump
      case start
      case stop
    }

    public var subscription: Int
    public var position: Position
    /// The rate at which time passes: 0 while it stands still.
    public var rate: Double
    public var reason: Reason
    /// Nanoseconds from when the sample was heard to when the event was made; nil when nothing was due.
    public var lateNanoseconds: Int64?

    public init(subscription: Int, position: Position, rate: Double, reason: Reason, lateNanoseconds: Int64?) {
      self.subscription = subscription
      self.position = position
      self.rate = rate
      self.reason = reason
      self.lateNanoseconds = lateNanoseconds
    }
  }

  /// The payload of `at`: the position is the boundary itself.
  public struct Boundary: Sendable, Hashable {
    public var subscription: Int
    public var position: Position
    /// Nanoseconds from when the sample was heard to when the event was made.
    public var lateNanoseconds: Int64

    public init(subscription: Int, position: Position, lateNanoseconds: Int64) {
      self.subscription = subscription
      self.position = position
      self.lateNanoseconds = lateNanoseconds
    }
  }

  /// The payload of `changed`.
  public struct Changed: Sendable, Hashable {
    public var subscription: Int
    public var player: String
    public var key: ObservableKey
    /// The entry, for keys that begin with `item.`.
    public var item: Int?
    /// Nil for the first value.
    public var old: FieldValue?
    public var new: FieldValue
    /// What made it change: a word such as `request`, `itemEnded`, `output`; `initial` for the first value.
    public var cause: String

    /// A change.
    public init(
      subscription: Int, player: String, key: ObservableKey, item: Int? = nil, old: FieldValue, new: FieldValue,
      cause: String
    ) {
      self.subscription = subscription
      self.player = player
      self.key = key
      self.item = item
      self.old = old
      self.new = new
      self.cause = cause
    }

    /// The first value.
    public init(subscription: Int, player: String, key: ObservableKey, item: Int? = nil, initial: FieldValue) {
      self.subscription = subscription
      self.player = player
      self.key = key
      self.item = item
      self.old = nil
      self.new = initial
      self.cause = "initial"
    }
  }

  /// The payload of the events about items.
  public struct ItemNotification: Sendable, Hashable {
    /// Which notification, after AVPlayerItem's.
    public enum Kind: Sendable, Hashable {
      case playedToEnd
      case failedToPlayToEnd(MediaError)
      case stalled
      case timeJumped
      case packetsSkipped(count: Int, MediaError)
      case newErrorLogEntry(MediaError)
    }

    public var subscription: Int
    public var kind: Kind
    public var position: Position

    public init(subscription: Int, kind: Kind, position: Position) {
      self.subscription = subscription
      self.kind = kind
      self.position = position
    }
  }

  /// The event's name on the wire.
  public var name: EventName {
    switch self {
    case .tick: .tick
    case .boundary: .at
    case .changed: .changed
    case .item(let notification):
      switch notification.kind {
      case .playedToEnd: .playedToEnd
      case .failedToPlayToEnd: .failedToPlayToEnd
      case .stalled: .stalled
      case .timeJumped: .timeJumped
      case .packetsSkipped: .packetsSkipped
      case .newErrorLogEntry: .newErrorLogEntry
      }
    case .overflow: .overflow
    case .closing: .closing
    }
  }

  /// The event's fields, in the table's order.
  public var fields: Fields {
    switch self {
    case .tick(let tick):
      var fields = Self.fields(tick.subscription, tick.position)
      fields.append("rate", .float(tick.rate))
      fields.append("reason", .string(tick.reason.rawValue))
      fields.append("late", ifPresent: tick.lateNanoseconds.map { .seconds(nanoseconds: $0) })
      return fields
    case .boundary(let boundary):
      var fields = Self.fields(boundary.subscription, boundary.position)
      fields.append("late", .seconds(nanoseconds: boundary.lateNanoseconds))
      return fields
    case .changed(let changed):
      var fields: Fields = ["id": .int(changed.subscription), "player": .string(changed.player)]
      fields.append("key", .string(changed.key.rawValue))
      fields.append("item", ifPresent: changed.item.map { .int($0) })
      fields.append("old", ifPresent: changed.old)
      fields.append("new", changed.new)
      fields.append("cause", .string(changed.cause))
      if changed.old == nil { fields.append("initial", true) }
      return fields
    case .item(let notification):
      var fields = Self.fields(notification.subscription, notification.position)
      switch notification.kind {
      case .playedToEnd, .stalled, .timeJumped: break
      case .failedToPlayToEnd(let error), .newErrorLogEntry(let error):
        fields.append(contentsOf: WireError(error).fields)
      case .packetsSkipped(let count, let error):
        fields.append("count", .int(count))
        fields.append(contentsOf: WireError(error).fields)
      }
      return fields
    case .overflow(let dropped):
      return ["dropped": .int(dropped)]
    case .closing(let error):
      return WireError(error).fields
    }
  }

  private static func fields(_ subscription: Int, _ position: Position) -> Fields {
    var fields: Fields = ["id": .int(subscription), "player": .string(position.player)]
    fields.append("item", position.item.map { .int($0) } ?? .none)
    fields.append(position: position.time)
    return fields
  }

  /// Appends the event with its LF, in the form of the request that subscribed.
  public func encode(form: WireForm, into buffer: inout [UInt8]) {
    switch form {
    case .words:
      buffer.append(contentsOf: "* ".utf8)
      buffer.append(contentsOf: name.rawValue.utf8)
      fields.appendWords(to: &buffer)
    case .json:
      buffer.append(contentsOf: "{\"jsonrpc\":\"2.0\",\"method\":\"".utf8)
      buffer.append(contentsOf: name.rawValue.utf8)
      buffer.append(contentsOf: "\",\"params\":{".utf8)
      fields.appendJSONMembers(to: &buffer)
      buffer.append(contentsOf: "}}".utf8)
    }
    buffer.append(UInt8(ascii: "\n"))
  }
}

/// The events' names.
public enum EventName: String, Sendable, Hashable, CaseIterable {
  case at
  case changed
  case closing
  case failedToPlayToEnd = "failed-to-play-to-end"
  case newErrorLogEntry = "new-error-log-entry"
  case overflow
  case packetsSkipped = "packets-skipped"
  case playedToEnd = "played-to-end"
  case stalled
  case tick
  case timeJumped = "time-jumped"
}
