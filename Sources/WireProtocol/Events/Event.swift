import MediaCore

/// An event that the daemon sends to an observer: `* name k=v ...` in the text form, a JSON-RPC notification in JSON.
public enum Event: Sendable, Hashable {
  /// A periodic observer fired.
  case tick(Tick)
  /// A boundary observer fired.
  case boundary(Boundary)
  /// A meter reported levels.
  case meter(Meter)
  /// The daemon ended a subscription, because its item or player no longer exists.
  case removed(Removed)
  /// The initial value or a change of an observed key.
  case changed(Changed)
  /// An item ended, failed, stalled or jumped. Sent to observers of `item.events`.
  case item(ItemNotification)
  /// An item failed, and playback continues with the next one. Sent to observers of `item.events`.
  case itemSkipped(Skip)
  /// A transition to the next item, or back to the start of the same item. Sent to observers of `item.events`.
  case transition(Transition)
  /// An interruption or a hint of the audio session. Sent to observers of `session.events`.
  case session(SessionNotification)
  /// The audio route changed. Sent to observers of `output.events`.
  case route(RouteChanged)
  /// A scan progressed.
  case scanProgress(ScanProgress)
  /// A recorder changed its state or lost frames.
  case recording(Recording)
  /// The levels of a recording.
  case recordMeter(RecordMeter)
  /// The daemon dropped events because this client did not read. The client should query the state that it needs.
  case overflow(Overflow)
  /// The daemon is about to close the connection for this reason.
  case closing(MediaError)

  /// The heard position of a player at the time of an event.
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
    /// The reason for the tick.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
      case periodic
      case jump
      case start
      case stop
    }

    public var subscription: Int
    public var position: Position
    /// The rate of the heard time. 0 while paused or waiting.
    public var rate: Double
    public var reason: Reason
    /// The delay in nanoseconds from the moment that the sample was heard to the creation of the event. 0 for a jump.
    public var lateNanoseconds: Int64

    /// The instant at which the position is heard. Nil while the time does not advance.
    public var hostTime: HostTime?

    public init(
      subscription: Int, position: Position, rate: Double, reason: Reason, lateNanoseconds: Int64,
      hostTime: HostTime? = nil
    ) {
      self.subscription = subscription
      self.position = position
      self.rate = rate
      self.reason = reason
      self.lateNanoseconds = lateNanoseconds
      self.hostTime = hostTime
    }
  }

  /// The payload of `at`. The position is the boundary itself.
  public struct Boundary: Sendable, Hashable {
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

      public init(number: Int, title: String?) {
        self.number = number
        self.title = title
      }
    }

    public var subscription: Int
    public var position: Position
    public var kind: Kind
    /// The chapter that begins at the boundary, if the observer is for chapters.
    public var chapter: Chapter?
    /// The delay in nanoseconds from the moment that the sample was heard to the creation of the event. 0 for a skipped
    /// boundary.
    public var lateNanoseconds: Int64

    public init(
      subscription: Int, position: Position, kind: Kind, chapter: Chapter? = nil,
      lateNanoseconds: Int64
    ) {
      self.subscription = subscription
      self.position = position
      self.kind = kind
      self.chapter = chapter
      self.lateNanoseconds = lateNanoseconds
    }
  }

  /// The payload of `meter`. The arrays contain one value for each channel of the output. The position is the end of
  /// the measured range.
  public struct Meter: Sendable, Hashable {
    public var subscription: Int
    public var position: Position
    /// In dBFS.
    public var average: [Float]
    public var peak: [Float]
    /// 0 to 1.
    public var averageScale: [Float]
    public var peakScale: [Float]
    /// The delay in nanoseconds from the moment that the last sample was heard to the creation of the event.
    public var lateNanoseconds: Int64

    public init(
      subscription: Int, position: Position, average: [Float], peak: [Float], averageScale: [Float],
      peakScale: [Float], lateNanoseconds: Int64
    ) {
      self.subscription = subscription
      self.position = position
      self.average = average
      self.peak = peak
      self.averageScale = averageScale
      self.peakScale = peakScale
      self.lateNanoseconds = lateNanoseconds
    }

    /// The values, rounded to multiples of 1 / `factor`. A meter display needs no more precision.
    static func values(_ values: [Float], factor: Double) -> FieldValue {
      .list(values.map { .float((Double($0) * factor).rounded() / factor) })
    }
  }

  /// The payload of `removed`.
  public struct Removed: Sendable, Hashable {
    /// The reason for the end of the subscription.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
      /// The item of the subscription left the queue.
      case itemRemoved
      case playerClosed
    }

    public var subscription: Int
    public var player: String
    /// The item of the subscription. Nil for `playerClosed`.
    public var item: Int?
    public var cause: Cause

    public init(subscription: Int, player: String, item: Int?, cause: Cause) {
      self.subscription = subscription
      self.player = player
      self.item = item
      self.cause = cause
    }
  }

  /// The payload of `changed`.
  public struct Changed: Sendable, Hashable {
    public var subscription: Int
    public var player: String
    public var key: ObservableKey
    /// The entry, for keys that begin with `item.`.
    public var item: Int?
    /// Nil for the initial value.
    public var old: FieldValue?
    public var new: FieldValue
    /// The cause of the change, such as `request`, `itemEnded` or `output`. `initial` for the initial value.
    public var cause: String
    /// The changes of the queue, for `queue.version`, such as `insert:ITEM:INDEX`. `none` for more than 16 changes, and
    /// if the whole order changed.
    public var steps: FieldValue?
    /// The position from which the time advances at the new rate, for `player.timebaseRate`.
    public var anchor: Anchor?

    /// A position and the instant at which it is heard.
    public struct Anchor: Sendable, Hashable {
      public var time: MediaTime
      /// Nil while the time does not advance.
      public var hostTime: HostTime?

      public init(time: MediaTime, hostTime: HostTime?) {
        self.time = time
        self.hostTime = hostTime
      }
    }

    /// Creates the event for a change.
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

    /// Creates the event for the initial value.
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
    /// The notification, modelled on the notifications of AVPlayerItem.
    public enum Kind: Sendable, Hashable {
      case playedToEnd
      case failedToPlayToEnd(MediaError)
      case stalled
      /// The time changed other than by playback, for the reason `cause`. `hostTime` is the instant at which the new
      /// time is heard; nil while the time does not advance.
      case timeJumped(cause: String, hostTime: HostTime?)
      case packetsSkipped(count: Int, MediaError)
      case newErrorLogEntry(MediaError)
      /// Nil before the first chapter and between chapters.
      case chapterChanged(number: Int?, title: String?)
      /// The requested URL, the address of the server, `file`, `vod` (HLS) or `live`, and the nanoseconds until the
      /// first byte.
      case newAccessLogEntry(uri: String, address: String, type: String, startupNanoseconds: Int64)
      case streamTitle(title: String, url: String?)
      /// One value of timed metadata, as a row of `item.metadata`.
      case timedMetadata(Fields)
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

  /// The payload of `item-skipped`. It has no time, because none of the item is heard.
  public struct Skip: Sendable, Hashable {
    public var subscription: Int
    public var player: String
    public var item: Int
    public var error: MediaError

    public init(subscription: Int, player: String, item: Int, error: MediaError) {
      self.subscription = subscription
      self.player = player
      self.item = item
      self.error = error
    }
  }

  /// The payload of `transition`: a transition between items, or back to the start of the same item.
  public struct Transition: Sendable, Hashable {
    public var subscription: Int
    public var player: String
    public var from: Int
    public var to: Int
    /// The time at which `to` began.
    public var time: MediaTime
    /// The instant at which `time` is heard. Nil while the device is stopped.
    public var hostTime: HostTime?
    /// The frames trimmed from the end of `from`, at its sample rate. The source is the tag that states the number, if
    /// any.
    public var trimmedEndFrameCount: Int64
    public var trimmedEndSource: String?
    /// The same for the start of `to`.
    public var trimmedStartFrameCount: Int64
    public var trimmedStartSource: String?
    /// The frames of silence between the items, at the output's sample rate.
    public var insertedFrameCount: Int64

    public init(
      subscription: Int, player: String, from: Int, to: Int, time: MediaTime,
      trimmedEnd: (frameCount: Int64, source: String?), trimmedStart: (frameCount: Int64, source: String?),
      insertedFrameCount: Int64, hostTime: HostTime?
    ) {
      self.subscription = subscription
      self.player = player
      self.from = from
      self.to = to
      self.time = time
      (trimmedEndFrameCount, trimmedEndSource) = trimmedEnd
      (trimmedStartFrameCount, trimmedStartSource) = trimmedStart
      self.insertedFrameCount = insertedFrameCount
      self.hostTime = hostTime
    }
  }

  /// The payload of `interruption` and `secondary-audio-hint`. All players share the session.
  public struct SessionNotification: Sendable, Hashable {
    /// The event and its phase.
    public enum Kind: Sendable, Hashable {
      /// The end of an interruption. Nil: its beginning.
      case interruption(Ending?)
      case secondaryAudioHint(isBeginning: Bool)
    }

    /// The cause of the end of an interruption, and whether playback resumes.
    public struct Ending: Sendable, Hashable {
      public var by: String
      public var shouldResume: Bool

      public init(by: String, shouldResume: Bool) {
        self.by = by
        self.shouldResume = shouldResume
      }
    }

    public var subscription: Int
    public var player: String
    public var kind: Kind

    public init(subscription: Int, player: String, kind: Kind) {
      self.subscription = subscription
      self.player = player
      self.kind = kind
    }
  }

  /// The payload of `scan-progress`.
  public struct ScanProgress: Sendable, Hashable {
    /// The id of the scan, local to the connection.
    public var scan: Int
    /// The file that is being read, from 1 to `count`.
    public var file: Int
    public var count: Int
    public var path: FieldValue
    /// The part of the file that has been read, 0 to 1. Nil if unknown.
    public var done: Double?

    public init(scan: Int, file: Int, count: Int, path: FieldValue, done: Double?) {
      self.scan = scan
      self.file = file
      self.count = count
      self.path = path
      self.done = done
    }
  }

  /// The payload of `overflow`.
  public struct Overflow: Sendable, Hashable {
    /// The number of lost events.
    public var droppedCount: Int
    /// The number of changes that are merged into a later event with the same key.
    public var mergedCount: Int
    /// The sequence number of the last event before the overflow. Nil if no numbered event is affected.
    public var since: UInt64?

    public init(droppedCount: Int, mergedCount: Int, since: UInt64?) {
      self.droppedCount = droppedCount
      self.mergedCount = mergedCount
      self.since = since
    }
  }

  /// The event's name on the wire.
  public var name: EventName {
    switch self {
    case .tick: .tick
    case .boundary: .at
    case .meter: .meter
    case .removed: .removed
    case .changed: .changed
    case .item(let notification):
      switch notification.kind {
      case .playedToEnd: .playedToEnd
      case .failedToPlayToEnd: .failedToPlayToEnd
      case .stalled: .stalled
      case .timeJumped: .timeJumped
      case .packetsSkipped: .packetsSkipped
      case .newErrorLogEntry: .newErrorLogEntry
      case .chapterChanged: .chapterChanged
      case .newAccessLogEntry: .newAccessLogEntry
      case .streamTitle: .streamTitle
      case .timedMetadata: .timedMetadata
      }
    case .itemSkipped: .itemSkipped
    case .transition: .transition
    case .session(let notification):
      switch notification.kind {
      case .interruption: .interruption
      case .secondaryAudioHint: .secondaryAudioHint
      }
    case .route: .routeChanged
    case .scanProgress: .scanProgress
    case .recording: .recording
    case .recordMeter: .recordMeter
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
      fields.append("late", .seconds(nanoseconds: tick.lateNanoseconds))
      fields.append("hostTime", .hostTime(tick.hostTime))
      return fields
    case .boundary(let boundary):
      var fields = Self.fields(boundary.subscription, boundary.position)
      switch boundary.kind {
      case .crossed: fields.append("kind", "crossed")
      case .skipped(let isBackward):
        fields.append("kind", "skipped")
        fields.append("direction", .string(isBackward ? "backward" : "forward"))
      }
      if let chapter = boundary.chapter {
        fields.append("chapter", .int(chapter.number))
        fields.append("title", ifPresent: chapter.title.map { .string($0) })
      }
      fields.append("late", .seconds(nanoseconds: boundary.lateNanoseconds))
      return fields
    case .meter(let meter):
      var fields = Self.fields(meter.subscription, meter.position)
      fields.append("average", Meter.values(meter.average, factor: 100))
      fields.append("peak", Meter.values(meter.peak, factor: 100))
      fields.append("averageScale", Meter.values(meter.averageScale, factor: 10_000))
      fields.append("peakScale", Meter.values(meter.peakScale, factor: 10_000))
      fields.append("late", .seconds(nanoseconds: meter.lateNanoseconds))
      return fields
    case .removed(let removed):
      var fields: Fields = ["id": .int(removed.subscription), "player": .string(removed.player)]
      fields.append("item", ifPresent: removed.item.map { .int($0) })
      fields.append("cause", .string(removed.cause.rawValue))
      return fields
    case .changed(let changed):
      var fields: Fields = ["id": .int(changed.subscription), "player": .string(changed.player)]
      fields.append("key", .string(changed.key.rawValue))
      fields.append("item", ifPresent: changed.item.map { .int($0) })
      fields.append("old", ifPresent: changed.old)
      fields.append("new", changed.new)
      fields.append("cause", .string(changed.cause))
      fields.append("changes", ifPresent: changed.steps)
      if let anchor = changed.anchor {
        fields.append(position: anchor.time)
        fields.append("hostTime", .hostTime(anchor.hostTime))
      }
      if changed.old == nil { fields.append("initial", true) }
      return fields
    case .item(let notification):
      var fields = Self.fields(notification.subscription, notification.position)
      switch notification.kind {
      case .playedToEnd, .stalled: break
      case .timeJumped(let cause, let hostTime):
        fields.append("cause", .string(cause))
        fields.append("hostTime", .hostTime(hostTime))
      case .chapterChanged(let number, let title):
        fields.append("chapter", number.map { .int($0) } ?? .none)
        fields.append("title", ifPresent: title.map { .string($0) })
      case .failedToPlayToEnd(let error), .newErrorLogEntry(let error):
        fields.append(contentsOf: WireError(error).fields)
      case .newAccessLogEntry(let uri, let address, let type, let startup):
        fields.append("uri", .string(uri))
        fields.append("address", .string(address))
        fields.append("type", .string(type))
        fields.append("startup", .seconds(nanoseconds: startup))
      case .streamTitle(let title, let url):
        fields.append("title", .string(title))
        fields.append("url", ifPresent: url.map { .string($0) })
      case .timedMetadata(let row): fields.append(contentsOf: row)
      case .packetsSkipped(let count, let error):
        fields.append("count", .int(count))
        fields.append(contentsOf: WireError(error).fields)
      }
      return fields
    case .itemSkipped(let skip):
      var fields: Fields = ["id": .int(skip.subscription), "player": .string(skip.player), "item": .int(skip.item)]
      fields.append(contentsOf: WireError(skip.error).fields)
      return fields
    case .transition(let transition):
      var fields: Fields = [
        "id": .int(transition.subscription), "player": .string(transition.player), "from": .int(transition.from),
        "to": .int(transition.to),
      ]
      fields.append(position: transition.time)
      fields.append("trimmedEnd", .int(transition.trimmedEndFrameCount))
      fields.append("trimmedEndBy", transition.trimmedEndSource.map { .string($0) } ?? .none)
      fields.append("trimmedStart", .int(transition.trimmedStartFrameCount))
      fields.append("trimmedStartBy", transition.trimmedStartSource.map { .string($0) } ?? .none)
      fields.append("inserted", .int(transition.insertedFrameCount))
      fields.append("hostTime", .hostTime(transition.hostTime))
      return fields
    case .session(let notification):
      var fields: Fields = ["id": .int(notification.subscription), "player": .string(notification.player)]
      switch notification.kind {
      case .interruption(nil): fields.append("phase", "began")
      case .interruption(let ending?):
        fields.append("phase", "ended")
        fields.append("by", .string(ending.by))
        fields.append("shouldResume", .bool(ending.shouldResume))
      case .secondaryAudioHint(let isBeginning): fields.append("phase", .string(isBeginning ? "began" : "ended"))
      }
      return fields
    case .route(let route): return route.fields
    case .scanProgress(let progress):
      return [
        "scan": .int(progress.scan), "file": .int(progress.file), "count": .int(progress.count), "path": progress.path,
        "done": progress.done.map { .float($0) } ?? FieldValue.none,
      ]
    case .recording(let recording): return recording.fields
    case .recordMeter(let meter): return meter.fields
    case .overflow(let overflow):
      var fields: Fields = ["dropped": .int(overflow.droppedCount), "merged": .int(overflow.mergedCount)]
      fields.append("since", ifPresent: overflow.since.map { .int($0) })
      return fields
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

  /// The event as a row of the event log, without the subscription, which the log does not have.
  public var loggedFields: Fields {
    var row: Fields = ["event": .string(name.rawValue)]
    for field in fields.entries where field.name != "id" { row.append(field.name, field.value) }
    return row
  }

  /// A copy of the event for a subscription. Returns events without a subscriber in the log unchanged.
  public func addressed(to subscription: Int) -> Event {
    switch self {
    case .changed(var changed):
      changed.subscription = subscription
      return .changed(changed)
    case .item(var notification):
      notification.subscription = subscription
      return .item(notification)
    case .itemSkipped(var skip):
      skip.subscription = subscription
      return .itemSkipped(skip)
    case .transition(var transition):
      transition.subscription = subscription
      return .transition(transition)
    case .route(var route):
      route.subscription = subscription
      return .route(route)
    case .session(var notification):
      notification.subscription = subscription
      return .session(notification)
    case .tick, .boundary, .meter, .removed, .scanProgress, .recording, .recordMeter, .overflow, .closing: return self
    }
  }

  /// Appends the event with its LF, in the form of the request that subscribed. `number` is the sequence number in the
  /// event log, if any.
  public func encode(form: WireForm, into buffer: inout [UInt8], number: UInt64? = nil) {
    var fields = fields
    fields.append("seq", ifPresent: number.map { .int($0) })
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
