import PlayheadMediaCore

/// An event about an item, modelled on the notifications of AVPlayerItem. Observers of `item.events` get it.
public protocol ItemEvent: NumberedEvent {
  var position: ItemPosition { get }
}

extension ItemEvent {
  /// The fields that all of these events begin with.
  fileprivate static var positionFields: [Field<Self>] {
    [Field(.id) { $0.subscription }] + ItemPosition.fields.map { $0.within(\.position) }
  }
}

/// `played-to-end`: the last sample of an item was heard.
public struct PlayedToEndEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition

  public init(_ position: ItemPosition) { self.position = position }

  public static let definition = EventDefinition(
    .playedToEnd, key: .itemEvents, "the last sample of an item was heard.")
  public static let fields: [Field<Self>] = positionFields
}

/// `failed-to-play-to-end`: an item failed before its end.
public struct FailedToPlayToEndEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  public let error: MediaError

  public init(_ position: ItemPosition, error: MediaError) { (self.position, self.error) = (position, error) }

  public static let definition = EventDefinition(
    .failedToPlayToEnd, key: .itemEvents, "playback of an item ended before its end, because of the error.")
  public static let fields: [Field<Self>] = positionFields + MediaError.fields.map { $0.within(\.error) }
}

/// `stalled`: playback stopped because of an underrun.
public struct StalledEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition

  public init(_ position: ItemPosition) { self.position = position }

  public static let definition = EventDefinition(
    .stalled, key: .itemEvents,
    "playback stopped because of an underrun. With `auto-wait on` it resumes automatically. With `auto-wait off` the"
      + " player is paused.")
  public static let fields: [Field<Self>] = positionFields
}

/// `time-jumped`: the time of an item changed other than by playback.
public struct TimeJumpedEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  public let cause: String
  /// The instant at which the new time is heard. Nil while the time does not advance.
  public let hostTime: HostTime?

  public init(_ position: ItemPosition, cause: String, hostTime: HostTime?) {
    (self.position, self.cause, self.hostTime) = (position, cause, hostTime)
  }

  public static let definition = EventDefinition(
    .timeJumped, key: .itemEvents,
    "the time of an item changed other than by playback, for the reason in `cause` (the table below).")
  public static let fields: [Field<Self>] =
    positionFields + [Field(.causeOfJump) { $0.cause }, Field(nullable: .hostTime) { $0.hostTime }]
}

/// `packets-skipped`: packets did not decode, and silence replaces them.
public struct PacketsSkippedEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  public let count: Int
  public let error: MediaError

  public init(_ position: ItemPosition, count: Int, error: MediaError) {
    (self.position, self.count, self.error) = (position, count, error)
  }

  public static let definition = EventDefinition(
    .packetsSkipped, key: .itemEvents,
    "packets of an item did not decode, and silence replaces them. `time` is that of the first packet. The event is"
      + " sent when the error is found, up to two seconds before `time` is heard.")
  public static let fields: [Field<Self>] =
    positionFields + [Field(.countOfPackets) { $0.count }] + MediaError.fields.map { $0.within(\.error) }
}

/// `new-error-log-entry`: an error that does not stop playback.
public struct NewErrorLogEntryEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  public let error: MediaError

  public init(_ position: ItemPosition, error: MediaError) { (self.position, self.error) = (position, error) }

  public static let definition = EventDefinition(
    .newErrorLogEntry, key: .itemEvents,
    """
    an error occurred that does not stop playback. It is reported when it is found, up to two seconds before `time` is \
    heard. The error has one of these origins:

    - the file at `time`: `irregular-timestamps`, `wrong-length` or `unsupported-edit`
    - the server of the entry: `time` is the time heard at that moment
    """)
  public static let fields: [Field<Self>] = positionFields + MediaError.fields.map { $0.within(\.error) }
}

/// `new-access-log-entry`: a server replied to a request of an entry.
public struct NewAccessLogEntryEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  /// The requested URL, without user name and password.
  public let uri: String
  /// The network address of the server.
  public let address: String
  /// `file`, `vod` (HLS) or `live`.
  public let type: String
  /// The nanoseconds until the first byte.
  public let startupNanoseconds: Int64

  public init(_ position: ItemPosition, uri: String, address: String, type: String, startupNanoseconds: Int64) {
    (self.position, self.uri, self.address) = (position, uri, address)
    (self.type, self.startupNanoseconds) = (type, startupNanoseconds)
  }

  public static let definition = EventDefinition(
    .newAccessLogEntry, key: .itemEvents,
    "a server replied to a request of an entry. The event has the URL (without user name and password), the address"
      + " of the server, the type (`file`, `vod` for HLS, or `live`), and the time until the first byte. `item.log`"
      + " has more values.")
  public static let fields: [Field<Self>] =
    positionFields + [
      Field(.uri) { $0.uri }, Field(.address) { $0.address }, Field(.resourceType) { $0.type },
      Field(.startupNanoseconds) { $0.startupNanoseconds },
    ]
}

/// `chapter-changed`: another chapter is heard, or the chapters became known.
public struct ChapterChangedEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  /// From 1. Nil before the first chapter and between chapters.
  public let number: Int?
  public let title: String?

  public init(_ position: ItemPosition, number: Int?, title: String?) {
    (self.position, self.number, self.title) = (position, number, title)
  }

  public static let definition = EventDefinition(
    .chapterChanged, key: .itemEvents,
    "another chapter of the current item begins to be heard, or the chapters became known. `chapter` is `none` before"
      + " the first chapter and between chapters.")
  public static let fields: [Field<Self>] =
    positionFields + [Field(nullable: .chapter) { $0.number }, Field(optional: .title) { $0.title }]
}

/// `stream-title`: a station announced a title.
public struct StreamTitleEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  public let title: String
  public let url: String?

  public init(_ position: ItemPosition, title: String, url: String?) {
    (self.position, self.title, self.url) = (position, title, url)
  }

  public static let definition = EventDefinition(
    .streamTitle, key: .itemEvents,
    "a station (Icecast, SHOUTcast) announced a title for the audio from `time` on. The event is sent when this audio"
      + " is heard. A new observer first gets the last event of the current entry.")
  public static let fields: [Field<Self>] =
    positionFields + [Field(.title) { $0.title }, Field(optional: .url) { $0.url }]
}

/// `timed-metadata`: one value of timed metadata is heard.
public struct TimedMetadataEvent: ItemEvent {
  public var subscription = 0
  public let position: ItemPosition
  public let value: TimedTag

  public init(_ position: ItemPosition, value: TimedTag) { (self.position, self.value) = (position, value) }

  public static let definition = EventDefinition(
    .timedMetadata, key: .itemEvents,
    """
    metadata of an HLS stream is heard at `time`. It is valid for `duration`, if that is known. There is an event for \
    each value, with the fields of `item.metadata`. `data` has at most 4,096 bytes in base64. The metadata is one of \
    these:

    - an ID3 tag (`id3/TIT2`, `id3/PRIV`, ...): within a transport stream, before a segment of plain audio, or in MP4 \
    (`emsg`)
    - a date range of the playlist (`hls/ID`, `hls/START-DATE`, `hls/X-...`, `hls/SCTE35-OUT`, ...). The events of one \
    range have the same `info`.

    `held` is true for metadata that started before the position where playback started, for example after a seek. A \
    new observer first gets the last events of the current entry.
    """)
  public static let fields: [Field<Self>] = positionFields + TimedTag.fields.map { $0.within(\.value) }
}

/// `item-skipped`: an item failed, and playback continues with the next one. It has no time, because none of the item
/// is heard.
public struct ItemSkippedEvent: NumberedEvent {
  public var subscription = 0
  public let player: String
  public let item: UInt64
  public let error: MediaError

  public init(player: String, item: UInt64, error: MediaError) {
    (self.player, self.item, self.error) = (player, item, error)
  }

  public static let definition = EventDefinition(
    .itemSkipped, key: .itemEvents,
    "an item failed and left the queue, and playback continued with the next one (`on-failure skip`). With"
      + " `on-failure retry`, the item moved to the end of the queue. Nothing of the failed item is heard, so the event"
      + " has no time.")
  public static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(.item) { $0.item }]
    + MediaError.fields.map { $0.within(\.error) }
}

/// `transition`: a transition between items, or back to the start of the same item.
public struct TransitionEvent: NumberedEvent {
  /// The frames trimmed at one edge of an item, at its sample rate.
  public struct Trim: Sendable, Hashable {
    public let frameCount: Int64
    /// The part of the file that states the number. Nil if nothing does.
    public let source: String?

    public init(frameCount: Int64, source: String?) { (self.frameCount, self.source) = (frameCount, source) }
  }

  public var subscription = 0
  public let player: String
  public let from: UInt64
  public let to: UInt64
  /// The time at which `to` began.
  public let time: MediaTime
  public let trimmedEnd: Trim
  public let trimmedStart: Trim
  /// The frames of silence between the items, at the output's sample rate.
  public let insertedFrameCount: Int64
  /// The instant at which `time` is heard. Nil while the device is stopped.
  public let hostTime: HostTime?

  public init(
    player: String, from: UInt64, to: UInt64, time: MediaTime, trimmedEnd: Trim, trimmedStart: Trim,
    insertedFrameCount: Int64, hostTime: HostTime?
  ) {
    (self.player, self.from, self.to, self.time) = (player, from, to, time)
    (self.trimmedEnd, self.trimmedStart) = (trimmedEnd, trimmedStart)
    (self.insertedFrameCount, self.hostTime) = (insertedFrameCount, hostTime)
  }

  public static let definition = EventDefinition(
    .transition, key: .itemEvents,
    """
    the next item (`to`) begins to be heard after `from`, or the same item again (repeated or looped). `time` is the \
    start of `to`.

    - `trimmedEnd`, `trimmedStart`: the number of frames trimmed from the end of `from` and from the start of `to`, at \
    the sample rate of the item
    - `trimmedEndBy`, `trimmedStartBy`: the part of the file that specified the number; `none` if nothing was trimmed
    - `inserted`: the number of frames of silence between the items; 0 unless `to` was late
    """)

  public static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(.fromItem) { $0.from },
    Field(.toItem) { $0.to }, Field(.time) { $0.time }, Field(.pts) { $0.time },
    Field(.trimmedEnd) { $0.trimmedEnd.frameCount }, Field(nullable: .trimmedEndBy) { $0.trimmedEnd.source },
    Field(.trimmedStart) { $0.trimmedStart.frameCount }, Field(nullable: .trimmedStartBy) { $0.trimmedStart.source },
    Field(.inserted) { $0.insertedFrameCount }, Field(nullable: .hostTime) { $0.hostTime },
  ]
}
