/// The selected tracks of an entry, or the tracks to select.
package struct TrackSelection: Sendable, Hashable {
  /// The audio track. Nil: the entry has no group of audio tracks, or its selection is unchanged.
  package var audible: TrackChoice?
  /// The subtitles. Nil: the entry has no subtitles, or their selection is unchanged.
  package var legible: TrackChoice?

  package init(audible: TrackChoice? = nil, legible: TrackChoice? = nil) {
    (self.audible, self.legible) = (audible, legible)
  }

  /// The track of a group.
  package subscript(group: MediaSelectionCommand.Group) -> TrackChoice? {
    get { group == .audible ? audible : legible }
    set { if group == .audible { audible = newValue } else { legible = newValue } }
  }

  /// Appends the text form, such as `audible=1,legible=none`.
  func appendWords(to buffer: inout [UInt8]) {
    guard self != TrackSelection() else { return buffer.append(contentsOf: "\"\"".utf8) }
    var isFirst = true
    for group in MediaSelectionCommand.Group.allCases {
      guard let choice = self[group] else { continue }
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      buffer.append(contentsOf: group.rawValue.utf8)
      buffer.append(UInt8(ascii: "="))
      switch choice {
      case .track(let number): buffer.append(decimal: Int64(number))
      case .language(let language): buffer.append(contentsOf: language.utf8)
      case .none: buffer.append(contentsOf: "none".utf8)
      case .automatic: buffer.append(contentsOf: "auto".utf8)
      }
    }
  }

  /// Appends an object such as `{"audible":1,"legible":null}`. A group without a value is absent.
  func appendJSON(to buffer: inout [UInt8]) {
    var members: [JSONValue.Member] = []
    for group in MediaSelectionCommand.Group.allCases {
      guard let choice = self[group] else { continue }
      let value: JSONValue =
        switch choice {
        case .track(let number): .number("\(number)")
        case .language(let language): .string(language)
        case .none: .null
        case .automatic: "auto"
        }
      members.append(.init(group.rawValue, value))
    }
    JSONValue.object(members).append(to: &buffer)
  }
}
