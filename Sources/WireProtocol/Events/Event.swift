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
}
