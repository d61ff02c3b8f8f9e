/// A change of a queue, as an element of `changes`. Indexes are 0 for the current entry.
package enum QueueChange: Sendable, Hashable {
  /// An entry was added at `index`.
  case insert(item: UInt64, index: Int)
  /// The entry at `index` was removed.
  case remove(item: UInt64, index: Int)
  /// The entry at `from` was moved to `index`.
  case move(item: UInt64, from: Int, index: Int)
  /// The first `count` entries were moved to the end.
  case rotate(count: Int)

  /// The names of the changes.
  static let names = ["insert", "remove", "move", "rotate"]

  private var name: String {
    switch self {
    case .insert: "insert"
    case .remove: "remove"
    case .move: "move"
    case .rotate: "rotate"
    }
  }

  /// The members in the order of the text form.
  private var members: [3 of (name: StaticString, value: Int64)?] {
    switch self {
    case .insert(let item, let index), .remove(let item, let index):
      [("item", Int64(clamping: item)), ("index", Int64(index)), nil]
    case .move(let item, let from, let index):
      [("item", Int64(clamping: item)), ("from", Int64(from)), ("index", Int64(index))]
    case .rotate(let count): [("count", Int64(count)), nil, nil]
    }
  }

  /// Appends the text form, such as `insert:12:3`.
  func appendWords(to buffer: inout [UInt8]) {
    buffer.append(contentsOf: name.utf8)
    let members = members
    for index in members.indices {
      guard let member = members[index] else { continue }
      buffer.append(UInt8(ascii: ":"))
      buffer.append(decimal: member.value)
    }
  }

  /// Appends an object such as `{"change":"insert","item":12,"index":3}`.
  func appendJSON(to buffer: inout [UInt8]) {
    buffer.append(contentsOf: "{\"change\":\"".utf8)
    buffer.append(contentsOf: name.utf8)
    buffer.append(UInt8(ascii: "\""))
    let members = members
    for index in members.indices {
      guard let member = members[index] else { continue }
      buffer.append(contentsOf: ",\"".utf8)
      member.name.withUTF8Buffer { buffer.append(contentsOf: $0) }
      buffer.append(contentsOf: "\":".utf8)
      buffer.append(decimal: member.value)
    }
    buffer.append(UInt8(ascii: "}"))
  }
}
