import MediaCore

/// The name and the fields of an event, and its encoding.
extension Event {
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
