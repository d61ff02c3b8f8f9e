/// A key of the keyboard, or text.
enum Key: Equatable {
  /// Typed text. Its bytes are UTF-8, if the keyboard sends UTF-8; a character may continue in the next text.
  case text([UInt8])
  /// Text that the terminal pastes as a whole (bracketed paste). It may contain line ends.
  case paste([UInt8])
  /// A control character: Ctrl with `letter`, such as `c`; also Tab (`i`), LF (`j`), Enter (`m`).
  case control(Character)
  /// Alt with an ASCII character.
  case alt(Character)
  /// Escape alone (`KeyDecoder.endSequence`).
  case escape
  case backspace
  case up
  case down
  case left
  case right
  /// Left with Ctrl or Alt.
  case wordLeft
  /// Right with Ctrl or Alt.
  case wordRight
  case home
  case end
  case delete
}

/// Converts the bytes of a terminal to keys. A sequence can be split at any byte. Unknown sequences have no key.
///
/// Only time distinguishes Escape from the start of a sequence. A caller that needs the key waits for a short time
/// while `isWithinSequence` is true, and then calls `endSequence`.
///
/// Pure: no I/O.
struct KeyDecoder {
  /// The state of a sequence (ECMA-48 section 5.4, and xterm's control sequences).
  private enum State {
    case none
    /// After ESC.
    case afterEscape
    /// After ESC O, which begins a function key.
    case functionKey
    /// After ESC [ and the bytes of `parameters`.
    case parameters
    /// After ESC [ [, with which the Linux console begins a function key.
    case consoleFunctionKey
    /// Within pasted text.
    case paste
  }

  private static let escape: UInt8 = 0x1B
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  /// The maximum number of parameter bytes that are kept. No key has more.
  private static let maximumParameterCount = 16

  /// The maximum number of bytes of pasted text. The rest of the paste is discarded.
  static let maximumPasteSize = 65_536

  private var state = State.none
  private var parameters: [UInt8] = []
  private var pastedText: [UInt8] = []
  /// The last bytes of the paste, at most as many as in `pasteEnd`.
  private var lastPastedBytes: [UInt8] = []

  /// Decodes bytes. Adjacent text is one key.
  mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    var text: [UInt8] = []
    for byte in bytes {
      if state == .none, byte >= 0x20, byte != 0x7F {
        text.append(byte)
        continue
      }
      guard let key = decode(byte) else { continue }
      if !text.isEmpty { keys.append(.text(text)) }
      text = []
      keys.append(key)
    }
    if !text.isEmpty { keys.append(.text(text)) }
    return keys
  }

  /// The key of the bytes so far, if no more bytes of its sequence arrive: Escape, or Alt with `[` or `O`. Nil for
  /// other beginnings: their next bytes would become keys, such as those of a paste.
  private var shortKey: Key? {
    switch state {
    case .afterEscape: .escape
    case .functionKey: .alt("O")
    case .parameters where parameters.isEmpty: .alt("[")
    case .none, .parameters, .consoleFunctionKey, .paste: nil
    }
  }

  /// Whether the bytes so far may be a key or the beginning of a sequence.
  var isWithinSequence: Bool { shortKey != nil }

  /// Ends the sequence, because no more bytes have arrived, and returns its key.
  mutating func endSequence() -> [Key] {
    guard let key = shortKey else { return [] }
    state = .none
    return [key]
  }

  /// Decodes a byte that is not plain text.
  private mutating func decode(_ byte: UInt8) -> Key? {
    if state == .paste { return decodePaste(byte) }
    // A control character ends an incomplete sequence, so that Ctrl-C always works.
    if byte < 0x20 {
      state = byte == Self.escape ? .afterEscape : .none
      return state == .none ? Self.control(byte) : nil
    }
    switch state {
    case .none: return byte == 0x7F ? .backspace : nil
    case .afterEscape:
      state = byte == UInt8(ascii: "[") ? .parameters : byte == UInt8(ascii: "O") ? .functionKey : .none
      parameters = []
      guard state == .none, byte < 0x7F else { return nil }
      return switch byte {
      case UInt8(ascii: "b"): .wordLeft
      case UInt8(ascii: "f"): .wordRight
      default: .alt(Character(Unicode.Scalar(byte)))
      }
    case .functionKey, .consoleFunctionKey:
      defer { state = .none }
      return state == .functionKey ? Self.key(final: byte, hasModifier: false) : nil
    case .parameters: return decodeParameter(byte)
    case .paste: return nil
    }
  }

  private mutating func decodeParameter(_ byte: UInt8) -> Key? {
    guard (0x40..<0x7F).contains(byte) else {
      if parameters.count < Self.maximumParameterCount { parameters.append(byte) }
      return nil
    }
    if byte == UInt8(ascii: "["), parameters.isEmpty {
      state = .consoleFunctionKey
      return nil
    }
    state = .none
    let numbers = parameters.split(separator: UInt8(ascii: ";")).map { Int(String(decoding: $0, as: UTF8.self)) }
    let hasModifier = numbers.count > 1 && numbers[1] != 1
    guard byte == UInt8(ascii: "~") else { return Self.key(final: byte, hasModifier: hasModifier) }
    switch numbers.first {
    case 1, 7: return .home
    case 3: return .delete
    case 4, 8: return .end
    case 200:
      state = .paste
      return nil
    default: return nil
    }
  }

  /// The key of a sequence with the given last byte.
  private static func key(final byte: UInt8, hasModifier: Bool) -> Key? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): hasModifier ? .wordRight : .right
    case UInt8(ascii: "D"): hasModifier ? .wordLeft : .left
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "H"): .home
    default: nil
    }
  }

  private mutating func decodePaste(_ byte: UInt8) -> Key? {
    lastPastedBytes.append(byte)
    guard lastPastedBytes != Self.pasteEnd else {
      defer { (state, pastedText, lastPastedBytes) = (.none, [], []) }
      return .paste(pastedText)
    }
    // Bytes that can still belong to `pasteEnd` are not text yet.
    if lastPastedBytes.count == Self.pasteEnd.count {
      let first = lastPastedBytes.removeFirst()
      if pastedText.count < Self.maximumPasteSize { pastedText.append(first) }
    }
    return nil
  }

  private static func control(_ byte: UInt8) -> Key {
    byte == 0x08 ? .backspace : .control(Character(Unicode.Scalar(byte | 0x60)))
  }
}
