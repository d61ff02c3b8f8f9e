/// The definition of one event for help and protocol.md.
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
  private static let position: [FieldSpec] = ["id", "player", "item", "time", "pts"]
  /// The same fields for events without a required current item.
  private static let currentPosition: [FieldSpec] = ["id", "player", "item?", "time", "pts"]
  private static let error: [FieldSpec] = ["code", "name", "message", "[operation]", "[underlying]"]

  public static let all: [EventSpec] = [
    EventSpec(
      name: .at, fields: position + ["kind", "[direction]", "[chapter]", "[title]", "late"],
      text:
        "`at`, and `at-chapters`, with the chapter that begins there: one of the times was passed, by playing (`kind=crossed`) or by a seek (`kind=skipped`, with"
        + " `direction=forward` or"
        + " `backward`); `time` is that time itself."),
    EventSpec(
      name: .changed,
      fields: ["id", "player", "key", "[item]", "[old?]", "new?", "cause", "[changes?]", "[initial]", "[seq]"],
      text:
        "`observe`: a key's present value (`initial=true`, without `old`), and then each change of it, with its"
        + " cause (the table below) and its number (*Numbers*). `changes` is there for `queue.version`: what was done, in order, as"
        + " `insert:ITEM:INDEX`, `remove:ITEM:INDEX`, `move:ITEM:FROM:TO` and `rotate:COUNT` (the first so many go to the end);"
        + " `none` where that is more than 16, which `queue.changes` gives, or where the order is another one altogether (`load`, `clear`, `shuffle`)."
    ),
    EventSpec(
      name: .chapterChanged, key: .itemEvents, fields: position + ["chapter?", "[title]", "[seq]"],
      text:
        "another chapter of the current item is heard, from its first sample on, or its chapters are known"
        + " now; `none` before the first one and between two."),
    EventSpec(
      name: .closing, fields: error,
      text: "To every connection that the daemon is about to close, with the reason."),
    EventSpec(
      name: .failedToPlayToEnd, key: .itemEvents, fields: position + error + ["[seq]"],
      text: "an item broke off, with the error."),
    EventSpec(
      name: .interruption, key: .sessionEvents,
      fields: ["id", "player", "phase", "[by]", "[shouldResume]", "[seq]"],
      text:
        "something else is to be heard alone (`phase=began`): the sound server has muted what is played, and players stand"
        + " still where they are. Or that is over (`phase=ended`), by `server`, `request`, `timeOut` or `outputLost`; with"
        + " `shouldResume=true` what played goes on. An end may never come."),
    EventSpec(
      name: .itemSkipped, key: .itemEvents, fields: ["id", "player", "item"] + error + ["[seq]"],
      text:
        "an item failed, and playback went on behind it without it (`on-failure skip`); it has"
        + " left the queue. Nothing of it is heard there, so there is no time."),
    EventSpec(
      name: .meter, fields: currentPosition + ["average", "peak", "averageScale", "peakScale", "late"],
      text:
        "`meter`: how loud the player was up to `time`, a value for each of the output's channels: the average power"
        + " and the"
        + " largest sample in dBFS (0 is full scale, -160 silence), and both on a meter's scale from 0 (-60 dBFS) to 1."
    ),
    EventSpec(
      name: .newAccessLogEntry, key: .itemEvents, fields: position + ["uri", "address", "type", "startup", "[seq]"],
      text: "a server answered for an entry: what was asked for (without user name and"
        + " password), the server's address, `file`, `vod` (HLS) or `live`, and how long it took until the first byte came. More with"
        + " `item.log`."),
    EventSpec(
      name: .newErrorLogEntry, key: .itemEvents, fields: currentPosition + error + ["[seq]"],
      text: "something is wrong with an item's file at this time, though it plays:"
        + " `irregular-timestamps`, `wrong-length`, `unsupported-edit`; or with its server (`time` is what is heard"
        + " then). Sent when it is found, up to two seconds before it is"
        + " heard."),
    EventSpec(
      name: .overflow, fields: ["dropped", "merged", "[since]"],
      text:
        "The connection did not read: so many events were dropped, and so many changes are told in one with later ones of their"
        + " keys, behind this. `events since=` the number that it says gives all that have numbers, as long as the log reaches back so far; ticks"
        + " and meters are lost."),
    EventSpec(
      name: .packetsSkipped, key: .itemEvents, fields: position + ["count"] + error + ["[seq]"],
      text:
        "so many packets of an item did not decode, the first of them at this time; silence"
        + " stands for what they last. Sent when it is found, up to two seconds before it is heard."),
    EventSpec(
      name: .playedToEnd, key: .itemEvents, fields: position + ["[seq]"],
      text: "the last sample of an item was heard."),
    EventSpec(
      name: .recordMeter,
      fields: ["id", "recorder", "time", "pts", "average", "peak", "averageScale", "peakScale"],
      text:
        "`record.watch`: how loud what is recorded was up to `time`, a value for each of the source's channels, as in `meter`."
    ),
    EventSpec(
      name: .recording,
      fields: ["id", "recorder", "state", "time", "pts", "lost"]
        + error.map(\.optional),
      text:
        "`record.watch`: a recorder does something else, or more frames of its source were lost: `lost` so far. With an error it ended"
        + " before anybody asked."),
    EventSpec(
      name: .removed, fields: ["id", "player", "[item]", "cause"],
      text:
        "A subscription is over: the item that its `at` was bound to left the queue (`itemRemoved`), or its player"
        + " was closed"
        + " (`playerClosed`)."),
    EventSpec(
      name: .routeChanged, key: .outputEvents,
      fields: ["id", "player", "reason", "previous?", "current?", "description?", "input?", "[seq]"],
      text:
        "the players are heard somewhere else, or the default input is another one. `reason` is"
        + " `newDeviceAvailable` (a device appeared, something was plugged in, or the sound server is back), `oldDeviceUnavailable` (the device"
        + " went away, or was unplugged), `override` (somebody chose it: here, or at the sound server), `categoryChange`, `noSuitableRoute`"
        + " (no sound server answers, or it has no device), `routeConfigurationChange` or `unknown`. `previous` and `current` are as"
        + " `output.route` has them; `description` is the present device's, for people."),
    EventSpec(
      name: .scanProgress, fields: ["scan", "file", "count", "path", "done?"],
      text:
        "`scan` or `waveform`: so much of one of its files has been measured, from 0 to 1 (`none` where its length is not known); `export`: so much of the file at `path` has been made; `image`: so many of the images. To the connection that"
        + " asked, in front of the reply."),
    EventSpec(
      name: .seam, key: .itemEvents,
      fields: [
        "id", "player", "from", "to", "time", "pts", "trimmed-end", "trimmed-end-by?", "trimmed-start",
        "trimmed-start-by?",
        "inserted", "[seq]",
      ],
      text:
        "an item followed another, or itself (repeated or looped), as heard. `time` is where"
        + " `to` began;"
        + " frames trimmed from the end of the one and the start of the other, at their own rates, and by which tag"
        + " (`none`"
        + " where nothing was); frames of silence that the output had to insert: 0, unless what follows came too"
        + " late."),
    EventSpec(
      name: .secondaryAudioHint, key: .sessionEvents, fields: ["id", "player", "phase", "[seq]"],
      text:
        "the sound server lowers what is played, because of what another program plays (`phase=began`), or no more"
        + " (`phase=ended`)."),
    EventSpec(
      name: .stalled, key: .itemEvents, fields: currentPosition + ["[seq]"],
      text:
        "samples did not come in time; playback goes on by itself, or pauses (`auto-wait`)."),
    EventSpec(
      name: .streamTitle, key: .itemEvents, fields: position + ["title", "[url]", "[seq]"],
      text:
        "a stream (Icecast, SHOUTcast) plays something else from this time on, with what it calls"
        + " it. Sent when that is heard; what the current entry's said last is sent when `observe` begins."),
    EventSpec(
      name: .tick, fields: currentPosition + ["rate", "reason", "late"],
      text:
        "`tick`: a multiple of the interval was heard (`periodic`), or the time jumped (`jump`), or sound began or"
        + " ceased"
        + " (`start`, `stop`). `rate` is 0 while the time stands still."),
    EventSpec(
      name: .timeJumped, key: .itemEvents, fields: position + ["cause", "[seq]"],
      text:
        "the time of an item changed otherwise than by playing, and why (the table below)."),
    EventSpec(
      name: .timedMetadata, key: .itemEvents,
      fields: position + [
        "[duration]", "[held]", "identifier", "key", "[commonKey]", "type", "[value]", "[truncated]", "[bytes]",
        "[mediaType]", "[language]", "[info]", "[owner]", "[pictureType]", "[data]", "[seq]",
      ],
      text:
        "an HLS stream says something that holds from this time on, for `duration` where that is known: an ID3 tag"
        + " (`id3/TIT2`, `id3/PRIV`, ...) of a transport stream, in front of a segment of bare sound or of MP4 (`emsg`), or a date range of the"
        + " playlist that is read (`hls/ID`, `hls/START-DATE`, `hls/X-...`, `hls/SCTE35-OUT`, ...: of one range"
        + " `info` is the same). An event for each value, as the rows of `item.metadata` have them, with `data` in base64 of at most 4,096 bytes."
        + " Sent when that is heard; `held` is said of what began before the place from which on the stream is heard, as after a seek. Those"
        + " of the current entry that were heard last are sent when `observe` begins."),
  ]
}
