/// Encodes text so that the lexer returns exactly the same bytes. The output is on one line and cannot imitate another
/// line.
package enum WordsText {
  /// Appends `text`, quoted if it is empty or contains a space, a quote, a backslash or a control character. C1
  /// controls and Unicode's line separators also count, because some readers treat them as line ends. Most texts need
  /// no quoting.
  package static func append(_ text: String, to buffer: inout [UInt8]) {
    var text = text
    text.withUTF8 { append(utf8: $0, to: &buffer) }
  }

  /// `append(_:to:)` for the bytes of a UTF-8 text. Bytes that are not UTF-8 are copied without escapes, so the caller
  /// must validate first.
  static func append(utf8 bytes: UnsafeBufferPointer<UInt8>, to buffer: inout [UInt8]) {
    if !bytes.isEmpty, isPlain(bytes) {
      buffer.append(contentsOf: bytes)
      return
    }
    buffer.append(UInt8(ascii: "\""))
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\n"): buffer.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\r"): buffer.append(contentsOf: "\\r".utf8)
      case UInt8(ascii: "\t"): buffer.append(contentsOf: "\\t".utf8)
      case UInt8(ascii: "\\"): buffer.append(contentsOf: "\\\\".utf8)
      case UInt8(ascii: "\""): buffer.append(contentsOf: "\\\"".utf8)
      case 0..<0x20, 0x7F:
        appendEscaped(byte, to: &buffer)
      case 0xC2, 0xE2:
        let count = separatorByteCount(bytes, at: index)
        if count == 0 {
          buffer.append(byte)
        } else {
          for offset in 0..<count { appendEscaped(bytes[index + offset], to: &buffer) }
          index += count - 1
        }
      default:
        buffer.append(byte)
      }
      index += 1
    }
    buffer.append(UInt8(ascii: "\""))
  }

  /// The text, quoted like ``append(_:to:)``.
  package static func quoted(_ text: String) -> String {
    var buffer: [UInt8] = []
    append(text, to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Whether each byte is literal outside quotes. 0xC2 and 0xE2 may begin a separator and need a second check.
  private static let isPlainByte: [Bool] = (0...255).map { byte in
    switch UInt8(byte) {
    case 0...0x20, 0x7F, UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"), 0xC2, 0xE2: false
    default: true
    }
  }

  private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let table = isPlainByte
    for index in bytes.indices where !table[Int(bytes[index])] {
      let byte = bytes[index]
      guard byte == 0xC2 || byte == 0xE2, separatorByteCount(bytes, at: index) == 0 else { return false }
    }
    return true
  }

  /// The length in bytes of the C1 control (U+0080 to U+009F) or the line or paragraph separator (U+2028, U+2029) at
  /// `index`. 0 for none.
  private static func separatorByteCount(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
    if bytes[index] == 0xC2 {
      return index + 1 < bytes.count && (0x80...0x9F).contains(bytes[index + 1]) ? 2 : 0
    }
    guard index + 2 < bytes.count, bytes[index + 1] == 0x80 else { return 0 }
    return bytes[index + 2] == 0xA8 || bytes[index + 2] == 0xA9 ? 3 : 0
  }

  private static func appendEscaped(_ byte: UInt8, to buffer: inout [UInt8]) {
    buffer.append(contentsOf: "\\x".utf8)
    buffer.append(ASCII.hexDigits[Int(byte >> 4)])
    buffer.append(ASCII.hexDigits[Int(byte & 15)])
  }
}
