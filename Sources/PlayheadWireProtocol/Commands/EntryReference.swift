import PlayheadMediaCore

/// The specification of a queue entry: its id, or its position relative to the current entry.
package enum EntryReference: Sendable, Hashable {
  /// The id of an entry, at least 1.
  case id(Int)
  /// The index in the queue; 0 is the current entry.
  case index(Int)
  /// The index in the history; 0 is the entry that was played before the current one.
  case history(Int)

  package static let current = Self.index(0)

  /// The forms other than an id, as a pattern of JSON Schema.
  static let pattern = "^(current|next|previous|[+-][1-9][0-9]{0,8}|#[1-9][0-9]{0,8})$"

  /// Reads `current`, `next`, `previous`, `+N`, `-N` and `#N` (counted from 1, the current entry). Nil for other texts.
  init?(relative text: ArraySlice<UInt8>) {
    switch String(decoding: text, as: UTF8.self) {
    case "current": self = .current
    case "next": self = .index(1)
    case "previous": self = .history(0)
    default:
      let digits = text.dropFirst()
      guard let sign = text.first, (1...9).contains(digits.count), digits.allSatisfy({ ASCII.isDigit($0) }),
        let number = Int(String(decoding: digits, as: UTF8.self)), digits.first != UInt8(ascii: "0")
      else { return nil }
      switch sign {
      case UInt8(ascii: "+"): self = .index(number)
      case UInt8(ascii: "-"): self = .history(number - 1)
      case UInt8(ascii: "#"): self = .index(number - 1)
      default: return nil
      }
    }
  }
}

extension EntryReference: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> EntryReference {
    guard case .entry(let value) = ArgumentReader.validated(bytes, .entry) else {
      preconditionFailure("not an entry")
    }
    return value
  }
}
