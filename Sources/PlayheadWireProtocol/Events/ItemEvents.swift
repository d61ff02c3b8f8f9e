import PlayheadMediaCore

/// An event about an item, modelled on the notifications of AVPlayerItem. Observers of `item.events` get it.
package protocol ItemEvent: NumberedEvent {
  var position: ItemPosition { get }
}

extension ItemEvent {
  /// The fields that all of these events begin with.
  fileprivate static var positionFields: [Field<Self>] {
    [Field(.id) { $0.subscription }] + ItemPosition.fields.map { $0.within(\.position) }
  }
}

/// `played-to-end`: the last sample of an item was heard.
package struct PlayedToEndEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition

  package init(_ position: ItemPosition) { self.position = position }

  package static let definition = EventDefinition(
    .playedToEnd, key: .itemEvents, "the last sample of an item was heard.")
  package static let fields: [Field<Self>] = positionFields
}

/// `failed-to-play-to-end`: an item failed before its end.
package struct FailedToPlayToEndEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  package let error: MediaError

  package init(_ position: ItemPosition, error: MediaError) { (self.position, self.error) = (position, error) }

  package static let definition = EventDefinition(
    .failedToPlayToEnd, key: .itemEvents, "playback of an item ended before its end, because of the error.")
  package static let fields: [Field<Self>] = positionFields + MediaError.fields.map { $0.within(\.error) }
}

/// `stalled`: playback stopped because of an underrun.
package struct StalledEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition

  package init(_ position: ItemPosition) { self.position = position }

  package static let definition = EventDefinition(
    .stalled, key: .itemEvents,
    "playback stopped because of an underrun. With `auto-wait on` it resumes automatically. With `auto-wait off` the"
      + " player is paused.")
  package static let fields: [Field<Self>] = positionFields
}

/// `time-jumped`: the time of an item changed other than by playback.
package struct TimeJumpedEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  package let cause: String
  /// The instant at which the new time is heard. Nil while the time does not advance.
  package let hostTime: HostTime?

  package init(_ position: ItemPosition, cause: String, hostTime: HostTime?) {
    (self.position, self.cause, self.hostTime) = (position, cause, hostTime)
  }

  package static let definition = EventDefinition(
    .timeJumped, key: .itemEvents,
    "the time of an item changed other than by playback, for the reason in `cause` (the table below).")
  package static let fields: [Field<Self>] =
    positionFields + [Field(.causeOfJump) { $0.cause }, Field(nullable: .hostTime) { $0.hostTime }]
}

/// `packets-skipped`: packets did not decode, and silence replaces them.
package struct PacketsSkippedEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  package let count: Int
  package let error: MediaError

  package init(_ position: ItemPosition, count: Int, error: MediaError) {
    (self.position, self.count, self.error) = (position, count, error)
  }

  package static let definition = EventDefinition(
    .packetsSkipped, key: .itemEvents,
    "packets of an item did not decode, and silence replaces them. `time` is that of the first packet. The event is"
      + " sent when the error is found, up to two seconds before `time` is heard.")
  package static let fields: [Field<Self>] =
    positionFields + [Field(.countOfPackets) { $0.count }] + MediaError.fields.map { $0.within(\.error) }
}

/// `new-error-log-entry`: an error that does not stop playback.
package struct NewErrorLogEntryEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  package let error: MediaError

  package init(_ position: ItemPosition, error: MediaError) { (self.position, self.error) = (position, error) }

  package static let definition = EventDefinition(
    .newErrorLogEntry, key: .itemEvents,
    """
    an error occurred that does not stop playback. It is reported when it is found, up to two seconds before `time` is \
    heard. The error has one of these origins:

    - the file at `time`: `irregular-timestamps`, `wrong-length` or `unsupported-edit`
    - the server of the entry: `time` is the time heard at that moment
    """)
  package static let fields: [Field<Self>] = positionFields + MediaError.fields.map { $0.within(\.error) }
}

/// `new-access-log-entry`: a server replied to a request of an entry.
package struct NewAccessLogEntryEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  /// The requested URL, without user name and password.
  package let uri: String
  /// The network address of the server.
  package let address: String
  /// `file`, `vod` (HLS) or `live`.
  package let type: String
  /// The nanoseconds until the first byte.
  package let startupNanoseconds: Int64

  package init(_ position: ItemPosition, uri: String, address: String, type: String, startupNanoseconds: Int64) {
    (self.position, self.uri, self.address) = (position, uri, address)
    (self.type, self.startupNanoseconds) = (type, startupNanoseconds)
  }

  package static let definition = EventDefinition(
    .newAccessLogEntry, key: .itemEvents,
    "a server replied to a request of an entry. The event has the URL (without user name and password), the address"
      + " of the server, the type (`file`, `vod` for HLS, or `live`), and the time until the first byte. `item.log`"
      + " has more values.")
  package static let fields: [Field<Self>] =
    positionFields + [
      Field(.uri) { $0.uri }, Field(.address) { $0.address }, Field(.resourceType) { $0.type },
      Field(.startupNanoseconds) { $0.startupNanoseconds },
    ]
}

/// `chapter-changed`: another chapter is heard, or the chapters became known.
package struct ChapterChangedEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  /// From 1. Nil before the first chapter and between chapters.
  package let number: Int?
  package let title: String?

  package init(_ position: ItemPosition, number: Int?, title: String?) {
    (self.position, self.number, self.title) = (position, number, title)
  }

  package static let definition = EventDefinition(
    .chapterChanged, key: .itemEvents,
    "another chapter of the current item begins to be heard, or the chapters became known. `chapter` is `none` before"
      + " the first chapter and between chapters.")
  package static let fields: [Field<Self>] =
    positionFields + [Field(nullable: .chapter) { $0.number }, Field(optional: .title) { $0.title }]
}

/// `stream-title`: a station announced a title.
package struct StreamTitleEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  package let title: String
  package let url: String?

  package init(_ position: ItemPosition, title: String, url: String?) {
    (self.position, self.title, self.url) = (position, title, url)
  }

  package static let definition = EventDefinition(
    .streamTitle, key: .itemEvents,
    "a station (Icecast, SHOUTcast) announced a title for the audio from `time` on. The event is sent when this audio"
      + " is heard. A new observer first gets the last event of the current entry.")
  package static let fields: [Field<Self>] =
    positionFields + [Field(.title) { $0.title }, Field(optional: .url) { $0.url }]
}

/// `timed-metadata`: one value of timed metadata is heard.
package struct TimedMetadataEvent: ItemEvent {
  package var subscription = 0
  package let position: ItemPosition
  package let value: TimedTag

  package init(_ position: ItemPosition, value: TimedTag) { (self.position, self.value) = (position, value) }

  package static let definition = EventDefinition(
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
  package static let fields: [Field<Self>] = positionFields + TimedTag.fields.map { $0.within(\.value) }
}

/// `item-skipped`: an item failed, and playback continues with the next one. It has no time, because none of the item
/// is heard.
package struct ItemSkippedEvent: NumberedEvent {
  package var subscription = 0
  package let player: String
  package let item: UInt64
  package let error: MediaError

  package init(player: String, item: UInt64, error: MediaError) {
    (self.player, self.item, self.error) = (player, item, error)
  }

  package static let definition = EventDefinition(
    .itemSkipped, key: .itemEvents,
    "an item failed and left the queue, and playback continued with the next one (`on-failure skip`). With"
      + " `on-failure retry`, the item moved to the end of the queue. Nothing of the failed item is heard, so the event"
      + " has no time.")
  package static let fields: [Field<Self>] =
    [Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(.item) { $0.item }]
    + MediaError.fields.map { $0.within(\.error) }
}

/// `transition`: a transition between items, or back to the start of the same item.
package struct TransitionEvent: NumberedEvent {
  /// The frames trimmed at one edge of an item, at its sample rate.
  package struct Trim: Sendable, Hashable {
    package let frameCount: Int64
    /// The part of the file that states the number. Nil if nothing does.
    package let source: String?

    package init(frameCount: Int64, source: String?) { (self.frameCount, self.source) = (frameCount, source) }
  }

  package var subscription = 0
  package let player: String
  package let from: UInt64
  package let to: UInt64
  /// The time at which `to` began.
  package let time: MediaTime
  package let trimmedEnd: Trim
  package let trimmedStart: Trim
  /// The frames of silence between the items, at the output's sample rate.
  package let insertedFrameCount: Int64
  /// The instant at which `time` is heard. Nil while the device is stopped.
  package let hostTime: HostTime?
  /// The number of frames in which both items are heard, at the output's sample rate.
  package let overlapFrameCount: Int64
  /// The curve of the cross-fade. Nil without one.
  package let curve: FadeCommand.Curve?

  package init(
    player: String, from: UInt64, to: UInt64, time: MediaTime, trimmedEnd: Trim, trimmedStart: Trim,
    insertedFrameCount: Int64, hostTime: HostTime?, overlapFrameCount: Int64 = 0, curve: FadeCommand.Curve? = nil
  ) {
    (self.player, self.from, self.to, self.time) = (player, from, to, time)
    (self.trimmedEnd, self.trimmedStart) = (trimmedEnd, trimmedStart)
    (self.insertedFrameCount, self.hostTime) = (insertedFrameCount, hostTime)
    (self.overlapFrameCount, self.curve) = (overlapFrameCount, curve)
  }

  package static let definition = EventDefinition(
    .transition, key: .itemEvents,
    """
    the next item (`to`) begins to be heard after `from`, or the same item again (repeated or looped). `time` is the \
    start of `to`.

    - `trimmedEnd`, `trimmedStart`: the number of frames trimmed from the end of `from` and from the start of `to`, at \
    the sample rate of the item
    - `trimmedEndBy`, `trimmedStartBy`: the part of the file that specified the number; `none` if nothing was trimmed
    - `inserted`: the number of frames of silence between the items; 0 unless `to` was late
    - `overlap`, `curve`: the number of frames in which both items are heard, from `hostTime` on, and the curve of \
    this cross-fade; absent without one
    """)

  package static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player }, Field(.fromItem) { $0.from },
    Field(.toItem) { $0.to }, Field(.time) { $0.time }, Field(.pts) { $0.time },
    Field(.trimmedEnd) { $0.trimmedEnd.frameCount }, Field(nullable: .trimmedEndBy) { $0.trimmedEnd.source },
    Field(.trimmedStart) { $0.trimmedStart.frameCount }, Field(nullable: .trimmedStartBy) { $0.trimmedStart.source },
    Field(.inserted) { $0.insertedFrameCount }, Field(nullable: .hostTime) { $0.hostTime },
    Field(optional: .overlap) { $0.overlapFrameCount > 0 ? $0.overlapFrameCount : nil },
    Field(optional: .crossfadeCurve) { $0.curve },
  ]
}
