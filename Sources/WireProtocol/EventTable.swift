/// What help and protocol.md say of one event.
public struct EventSpec: Sendable {
  public let name: EventName
  /// The fields in order; one in brackets is there only sometimes.
  public let fields: [String]
  /// When it is sent.
  public let summary: String
}

/// The table of events, sorted by name.
public enum EventTable {
  private static let position = ["id", "player", "item", "time", "pts"]
  private static let error = ["code", "name", "message", "[operation]", "[underlying]"]

  public static let all: [EventSpec] = [
    EventSpec(
      name: .at, fields: position + ["late"],
      summary: "`at`: playback passed one of the times; `time` is that time itself."),
    EventSpec(
      name: .changed, fields: ["id", "player", "key", "[item]", "[old]", "new", "cause", "[initial]"],
      summary: "`observe`: a key's present value (`initial=true`, without `old`), and then each change of it."),
    EventSpec(
      name: .closing, fields: error,
      summary: "To every connection that the daemon is about to close, with the reason."),
    EventSpec(
      name: .failedToPlayToEnd, fields: position + error,
      summary: "`observe item.events`: an item broke off, with the error."),
    EventSpec(
      name: .newErrorLogEntry, fields: position + error,
      summary: "`observe item.events`: something is wrong with an item's file at this time, though it plays:"
        + " `irregular-timestamps`, `wrong-length`. Sent when it is found, up to two seconds before it is heard."),
    EventSpec(
      name: .overflow, fields: ["dropped"],
      summary: "Events were dropped because the connection did not read; it should ask again for what it needs."),
    EventSpec(
      name: .packetsSkipped, fields: position + ["count"] + error,
      summary:
        "`observe item.events`: so many packets of an item did not decode, the first of them at this time; silence"
        + " stands for what they last. Sent when it is found, up to two seconds before it is heard."),
    EventSpec(
      name: .playedToEnd, fields: position,
      summary: "`observe item.events`: the last sample of an item was heard."),
    EventSpec(
      name: .stalled, fields: position,
      summary: "`observe item.events`: samples did not come in time; playback goes on by itself."),
    EventSpec(
      name: .tick, fields: position + ["rate", "reason", "[late]"],
      summary:
        "`tick`: a multiple of the interval was passed (`periodic`), or the time jumped (`jump`), or playback started or stopped"
        + " (`start`, `stop`)."),
    EventSpec(
      name: .timeJumped, fields: position,
      summary: "`observe item.events`: the time of an item changed otherwise than by playing."),
  ]
}
