/// The name and the documentation of an event.
package struct EventDefinition: Sendable {
  let name: EventName
  let key: ObservableKey?
  let text: String

  /// Creates the definition.
  ///
  /// - Parameters:
  ///   - key: The key that is observed to receive the event. Nil for events that need a separate command, or none.
  ///   - text: The condition under which the event is sent.
  init(_ name: EventName, key: ObservableKey? = nil, _ text: String) {
    (self.name, self.key, self.text) = (name, key, text)
  }
}

/// The definition of an event without its type, for help, the reference and the specification.
package struct EventSpec: Sendable {
  package let name: EventName
  /// The key that is observed to receive the event. Nil for events that need a separate command, or none.
  package let key: ObservableKey?
  /// The fields, in their order.
  package let fields: [FieldSpec]
  /// Whether the event log has the event.
  let isNumbered: Bool
  private let text: String

  /// The condition under which the event is sent.
  package var summary: String { key.map { "`observe \($0.rawValue)`: " + text } ?? text }

  fileprivate init<Definition: Event>(_: Definition.Type) {
    let definition = Definition.definition
    (name, key, text) = (definition.name, definition.key, definition.text)
    isNumbered = Definition.self is any NumberedEvent.Type
    fields = Definition.fields.map(\.spec) + (isNumbered ? [.seq.optional] : [])
  }
}

/// A list of events.
package struct EventList<each Definition: Event>: Sendable {
  fileprivate var specs: [EventSpec] {
    var specs: [EventSpec] = []
    for spec in repeat EventSpec((each Definition).self) { specs.append(spec) }
    return specs
  }
}

/// All events, sorted by name.
package typealias AllEvents = EventList<
  BoundaryEvent, ChangedEvent, ChapterChangedEvent, ClosingEvent, FailedToPlayToEndEvent, InterruptionEvent,
  ItemSkippedEvent, MeterEvent, NewAccessLogEntryEvent, NewErrorLogEntryEvent, OverflowEvent, PacketsSkippedEvent,
  PlayedToEndEvent, RecordMeterEvent, RecordingEvent, RemovedEvent, RouteChangedEvent, ScanProgressEvent,
  SecondaryAudioHintEvent, SilenceEvent, StalledEvent, StreamTitleEvent, TickEvent, TimeJumpedEvent,
  TimedMetadataEvent, TransitionEvent
>

/// The table of events, sorted by name.
package enum EventTable {
  package static let all: [EventSpec] = AllEvents().specs

  /// The fields of all numbered events, which rows of `events` have after `seq` and `event`. Each is optional, because
  /// a row has the fields of its event only.
  static let loggedFields: [FieldSpec] = {
    var fields: [FieldSpec] = []
    for event in all where event.isNumbered {
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
