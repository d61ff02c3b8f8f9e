/// The definition of one event for help and the reference.
public struct EventSpec: Sendable {
  public let name: EventName
  /// The key that is observed to receive the event. Nil for events that need a separate command, or none.
  public let key: ObservableKey?
  /// The fields, in their order.
  public let fields: [FieldSpec]
  private let text: String

  /// The condition under which the event is sent.
  public var summary: String { key.map { "`observe \($0.rawValue)`: " + text } ?? text }

  fileprivate init(name: EventName, key: ObservableKey? = nil, fields: [FieldSpec], text: String) {
    (self.name, self.key, self.fields, self.text) = (name, key, fields, text)
  }
}

/// The table of events, sorted by name.
public enum EventTable {
  private static let position: [FieldSpec] = [.id, .player, .item, .time, .pts]
  /// The same fields for events without a required current item.
  private static let currentPosition: [FieldSpec] = [.id, .player, .item.nullable, .time, .pts]
  private static let error: [FieldSpec] = [.code, .name, .message, .operation.optional, .underlying.optional]

  public static let all: [EventSpec] = [
    EventSpec(
      name: .at, fields: position + [.kind, .direction.optional, .chapter.optional, .title.optional, .late],
      text: """
        `at` and `at-chapters`: playback reached one of the times, or a seek passed it. `time` is that time. \
        `at-chapters` adds the chapter that starts there. `kind` is one of these:

        - `crossed`: playback reached the time
        - `skipped`: a seek passed the time, in the `direction` `forward` or `backward`
        """),
    EventSpec(
      name: .changed,
      fields: [
        .id, .player, .key, .item.optional, .old.nullable.optional, .new.nullable, .causeOfChange,
        .changes.nullable.optional, .time.optional, .pts.optional, .hostTime.nullable.optional, .initial.optional,
        .seq.optional,
      ],
      text: """
        `observe`: the current value of a key (`initial=true`, without `old`), or a change of the value. A change has \
        its cause (the table below) and its number (*Numbers*).

        The `changes` of `queue.version` are the edits in order:

        - `insert:ITEM:INDEX`: an entry was added
        - `remove:ITEM:INDEX`: an entry was removed
        - `move:ITEM:FROM:TO`: an entry was moved
        - `rotate:COUNT`: the first COUNT entries were moved to the end

        `changes` is `none` if the whole order changed (`load`, `clear`, `shuffle`), and for more than 16 edits. \
        `queue.changes` lists those edits.

        The `time` and `hostTime` of `player.timebaseRate` are the position from which the time advances at the new \
        rate, and the instant at which it is heard (*Clocks*).
        """
    ),
    EventSpec(
      name: .chapterChanged, key: .itemEvents, fields: position + [.chapter.nullable, .title.optional, .seq.optional],
      text:
        "another chapter of the current item begins to be heard, or the chapters became known. `chapter` is `none`"
        + " before the first chapter and between chapters."),
    EventSpec(
      name: .closing, fields: error,
      text: "The daemon is about to close the connection, for the reason in `message`."),
    EventSpec(
      name: .failedToPlayToEnd, key: .itemEvents, fields: position + error + [.seq.optional],
      text: "playback of an item ended before its end, because of the error."),
    EventSpec(
      name: .interruption, key: .sessionEvents,
      fields: [.id, .player, .phase, .by.optional, .shouldResume.optional, .seq.optional],
      text: """
        another program interrupts playback, or the interruption has ended. Some interruptions have no end. `phase` is \
        one of these:

        - `began`: the sound server has muted the players, and they are paused
        - `ended`: the interruption ended. With `shouldResume=true`, playback resumes.

        An interruption ends by one of these:

        - `server`: the sound server ended it
        - `request`: a command ended it, such as `play`
        - `timeOut`: the `timeout` of `session.policy` has passed
        - `outputLost`: the output disappeared
        """),
    EventSpec(
      name: .itemSkipped, key: .itemEvents, fields: [.id, .player, .item] + error + [.seq.optional],
      text:
        "an item failed and left the queue, and playback continued with the next one (`on-failure skip`). With"
        + " `on-failure retry`, the item moved to the end of the queue. Nothing of the failed item is heard, so the"
        + " event has no time."),
    EventSpec(
      name: .meter, fields: currentPosition + [.average, .peaks, .averageScale, .peakScale, .late],
      text:
        "`meter`: the levels of the player up to `time`, with a value for each channel of the output. `average` is"
        + " the average power and `peak` the largest sample, in dBFS: 0 is full scale, and -160 is silence."
        + " `averageScale` and `peakScale` are the same on a meter's scale, from 0 (-60 dBFS) to 1 (0 dBFS)."
    ),
    EventSpec(
      name: .newAccessLogEntry, key: .itemEvents,
      fields: position + [.uri, .address, .resourceType, .startup, .seq.optional],
      text:
        "a server replied to a request of an entry. The event has the URL (without user name and password), the"
        + " address of the server, the type (`file`, `vod` for HLS, or `live`), and the time until the first byte."
        + " `item.log` has more values."),
    EventSpec(
      name: .newErrorLogEntry, key: .itemEvents, fields: currentPosition + error + [.seq.optional],
      text: """
        an error occurred that does not stop playback. It is reported when it is found, up to two seconds before \
        `time` is heard. The error has one of these origins:

        - the file at `time`: `irregular-timestamps`, `wrong-length` or `unsupported-edit`
        - the server of the entry: `time` is the time heard at that moment
        """),
    EventSpec(
      name: .overflow, fields: [.dropped, .merged, .since.optional],
      text:
        "The client did not read in time, and `dropped` events were lost. `merged` changes are included in later"
        + " changes of the same keys. `events since=` with the `since` of this event returns the numbered events that"
        + " the log still has. Ticks and meters are lost."),
    EventSpec(
      name: .packetsSkipped, key: .itemEvents, fields: position + [.countOfPackets] + error + [.seq.optional],
      text:
        "packets of an item did not decode, and silence replaces them. `time` is that of the first packet. The"
        + " event is sent when the error is found, up to two seconds before `time` is heard."),
    EventSpec(
      name: .playedToEnd, key: .itemEvents, fields: position + [.seq.optional],
      text: "the last sample of an item was heard."),
    EventSpec(
      name: .recordMeter,
      fields: [.id, .recorder, .recordedTime, .pts, .average, .peaks, .averageScale, .peakScale],
      text:
        "`record.watch`: the level of the recording up to `time`, a value for each channel of the source, as in"
        + " `meter`."
    ),
    EventSpec(
      name: .recording,
      fields: [.id, .recorder, .recorderState, .recordedTime, .pts, .lost]
        + error.map(\.optional),
      text:
        "`record.watch`: the state of a recorder changed, or frames of its source were lost (`lost`). An error"
        + " means that the recording ended by itself."),
    EventSpec(
      name: .removed, fields: [.id, .player, .item.optional, .causeOfRemoval],
      text: """
        A subscription ended. `cause` is one of these:

        - `itemRemoved`: the item of its `at` left the queue
        - `playerClosed`: its player was closed
        """),
    EventSpec(
      name: .routeChanged, key: .outputEvents,
      fields: [
        .id, .player, .routeReason, .previous.nullable, .currentDevice.nullable, .description.nullable, .input.nullable,
        .seq.optional,
      ],
      text: """
        the output route or the default input changed. `previous` and `current` have the form of `output.route`. \
        `description` is the name of the current device for users. `reason` is one of these:

        - `newDeviceAvailable`: a device appeared or was plugged in, or the sound server is back
        - `oldDeviceUnavailable`: the device disappeared or was unplugged
        - `override`: a user or client selected the device
        - `categoryChange`: the category of the session changed
        - `noSuitableRoute`: no sound server replies, or it has no device
        - `routeConfigurationChange`: the properties of the device or its port changed
        - `unknown`: the reason is unknown
        """),
    EventSpec(
      name: .scanProgress, fields: [.scan, .file, .countOfFiles, .path, .done.nullable],
      text: """
        the progress of a request of this connection, before its reply. `done` is a part from 0 to 1:

        - `scan`, `waveform`: the measured part of the file; `none` if its length is unknown
        - `export`: the completed part of the file at `path`
        - `image`: the completed part of the images
        """),
    EventSpec(
      name: .secondaryAudioHint, key: .sessionEvents, fields: [.id, .player, .phase, .seq.optional],
      text:
        "the sound server lowers the volume of playback because another program plays (`phase=began`), or no longer"
        + " does (`phase=ended`)."),
    EventSpec(
      name: .stalled, key: .itemEvents, fields: currentPosition + [.seq.optional],
      text:
        "playback stopped because of an underrun. With `auto-wait on` it resumes automatically. With `auto-wait"
        + " off` the player is paused."),
    EventSpec(
      name: .streamTitle, key: .itemEvents, fields: position + [.title, .url.optional, .seq.optional],
      text:
        "a station (Icecast, SHOUTcast) announced a title for the audio from `time` on. The event is sent when this"
        + " audio is heard. A new observer first gets the last event of the current entry."),
    EventSpec(
      name: .tick, fields: currentPosition + [.tickRate, .tickReason, .late, .hostTime.nullable],
      text:
        "`tick`: a multiple of the interval was heard (`periodic`), the time jumped (`jump`), or audio started or"
        + " stopped (`start`, `stop`). `rate` is 0 while the time does not advance."),
    EventSpec(
      name: .timeJumped, key: .itemEvents, fields: position + [.causeOfJump, .hostTime.nullable, .seq.optional],
      text:
        "the time of an item changed other than by playback, for the reason in `cause` (the table below)."),
    EventSpec(
      name: .timedMetadata, key: .itemEvents,
      fields: position + [
        .duration.optional, .held.optional, .identifier, .key, .commonKey.optional, .tagType, .value.optional,
        .truncated.optional, .bytes.optional,
        .mediaType.optional, .language.optional, .info.optional, .owner.optional, .artworkType.optional,
        .tagTotal.optional, .playCount.optional, .code.optional, .name.optional, .message.optional, .data.optional,
        .seq.optional,
      ],
      text: """
        metadata of an HLS stream is heard at `time`. It is valid for `duration`, if that is known. There is an event \
        for each value, with the fields of `item.metadata`. `data` has at most 4,096 bytes in base64. The metadata is \
        one of these:

        - an ID3 tag (`id3/TIT2`, `id3/PRIV`, ...): within a transport stream, before a segment of plain audio, or in \
        MP4 (`emsg`)
        - a date range of the playlist (`hls/ID`, `hls/START-DATE`, `hls/X-...`, `hls/SCTE35-OUT`, ...). The events of \
        one range have the same `info`.

        `held` is true for metadata that started before the position where playback started, for example after a seek. \
        A new observer first gets the last events of the current entry.
        """),
    EventSpec(
      name: .transition, key: .itemEvents,
      fields: [
        .id, .player, .fromItem, .toItem, .time, .pts, .trimmedEnd, .trimmedEndBy.nullable, .trimmedStart,
        .trimmedStartBy.nullable,
        .inserted, .hostTime.nullable, .seq.optional,
      ],
      text: """
        the next item (`to`) begins to be heard after `from`, or the same item again (repeated or looped). `time` is \
        the start of `to`.

        - `trimmedEnd`, `trimmedStart`: the number of frames trimmed from the end of `from` and from the start of \
        `to`, at the sample rate of the item
        - `trimmedEndBy`, `trimmedStartBy`: the part of the file that specified the number; `none` if nothing was \
        trimmed
        - `inserted`: the number of frames of silence between the items; 0 unless `to` was late
        """),
  ]

  /// The fields of all numbered events, which rows of `events` have after `seq` and `event`. Each is optional, because
  /// a row has the fields of its event only.
  static let loggedFields: [FieldSpec] = {
    var fields: [FieldSpec] = []
    for event in all where event.fields.contains(where: { $0.name == "seq" }) {
      for field in event.fields where !["id", "seq", "initial"].contains(field.name) {
        if let index = fields.firstIndex(where: { $0.name == field.name }) {
          fields[index] = combined(fields[index], field)
        } else {
          fields.append(field.optional)
        }
      }
    }
    return fields
  }()

  /// Returns one definition of a field that several events have. If its meanings differ, the event determines which one
  /// applies.
  private static func combined(_ first: FieldSpec, _ second: FieldSpec) -> FieldSpec {
    let isNullable = first.isNullable || second.isNullable
    let type: FieldType =
      switch (first.type, second.type) {
      case (let type, let other) where type == other: type
      case (.text, .word), (.word, .text), (.word, .word): .text
      default: .value
      }
    let isSame = type == first.type && first.summary == second.summary
    let field = FieldSpec(first.name, type, isSame ? first.summary : "as in the event").optional
    return isNullable ? field.nullable : field
  }
}
