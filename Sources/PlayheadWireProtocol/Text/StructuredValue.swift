import PlayheadMediaCore

/// A value of a field that is an object or array in JSON. The text form of a value with a type creates no JSON.
package enum StructuredValue: Sendable, Hashable {
  /// A JSON value. In the text form its JSON text.
  case json(JSONValue)
  /// A range of seconds. In the text form `START-END`, with the end `inf` for a range without an end. In JSON an object
  /// with `start` and `end`, with the end `null`.
  case range(TimeRange)
  /// A change of a queue. In the text form such as `insert:12:3`. In JSON an object.
  case change(QueueChange)
  /// The selected tracks of an entry. In the text form such as `audible=1,legible=none`. In JSON an object.
  case selection(TrackSelection)
  /// Options of a command. In the text form `NAME=VALUE`, separated by spaces. In JSON an object.
  case options([Option])

  /// The name and the value of an option.
  package struct Option: Sendable, Hashable {
    let name: String
    let value: FieldValue
  }

  /// Appends the value in the text form.
  func appendWords(to buffer: inout [UInt8]) {
    switch self {
    case .range(let range): buffer.append(range: range)
    case .change(let change): change.appendWords(to: &buffer)
    case .selection(let selection): selection.appendWords(to: &buffer)
    case .options(let options):
      var text: [UInt8] = []
      for (index, option) in options.enumerated() {
        if index > 0 { text.append(UInt8(ascii: " ")) }
        text.append(contentsOf: "\(option.name)=".utf8)
        option.value.appendWords(to: &text)
      }
      text.withUnsafeBufferPointer { WordsText.append(utf8: $0, to: &buffer) }
    case .json(let value):
      var text: [UInt8] = []
      value.append(to: &text)
      text.withUnsafeBufferPointer { WordsText.append(utf8: $0, to: &buffer) }
    }
  }

  /// Appends the value as JSON.
  func appendJSON(to buffer: inout [UInt8]) {
    switch self {
    case .json(let value): value.append(to: &buffer)
    case .change(let change): change.appendJSON(to: &buffer)
    case .selection(let selection): selection.appendJSON(to: &buffer)
    case .options(let options):
      JSONText.appendObject(options, to: &buffer, name: { $0.name }, append: { $0.value.appendJSON(to: &$1) })
    case .range(let range):
      buffer.append(contentsOf: "{\"start\":".utf8)
      FieldValue.time(range.start).appendJSON(to: &buffer)
      buffer.append(contentsOf: ",\"end\":".utf8)
      (range.end.isNumeric ? FieldValue.time(range.end) : .none).appendJSON(to: &buffer)
      buffer.append(UInt8(ascii: "}"))
    }
  }
}
