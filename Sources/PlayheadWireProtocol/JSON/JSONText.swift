/// Writes JSON. The output is always valid UTF-8 on one line.
enum JSONText {
  /// Appends an object. `append` appends the value of a member.
  static func appendObject<Members: Collection>(
    _ members: Members, to buffer: inout [UInt8], name: (Members.Element) -> String,
    append: (Members.Element, inout [UInt8]) -> Void
  ) {
    buffer.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      Self.append(name(member), to: &buffer)
      buffer.append(UInt8(ascii: ":"))
      append(member, &buffer)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Appends `text` as a JSON string (RFC 8259 section 7). Escapes control characters and the two Unicode line
  /// separators.
  static func append(_ text: String, to buffer: inout [UInt8]) {
    var text = text
    text.withUTF8 { bytes in
      buffer.append(UInt8(ascii: "\""))
      var copied = 0
      for index in bytes.indices {
        let escape: String
        var byteCount = 1
        switch bytes[index] {
        case UInt8(ascii: "\""): escape = "\\\""
        case UInt8(ascii: "\\"): escape = "\\\\"
        case UInt8(ascii: "\n"): escape = "\\n"
        case UInt8(ascii: "\r"): escape = "\\r"
        case UInt8(ascii: "\t"): escape = "\\t"
        case 0..<0x20, 0x7F:
          escape = ""
        case 0xE2 where index + 2 < bytes.count && bytes[index + 1] == 0x80 && bytes[index + 2] & 0xFE == 0xA8:
          escape = bytes[index + 2] == 0xA8 ? "\\u2028" : "\\u2029"
          byteCount = 3
        default:
          continue
        }
        buffer.append(contentsOf: bytes[copied..<index])
        copied = index + byteCount
        if escape.isEmpty {
          buffer.append(contentsOf: "\\u00".utf8)
          buffer.append(ASCII.hexDigits[Int(bytes[index] >> 4)])
          buffer.append(ASCII.hexDigits[Int(bytes[index] & 15)])
        } else {
          buffer.append(contentsOf: escape.utf8)
        }
      }
      buffer.append(contentsOf: bytes[copied...])
      buffer.append(UInt8(ascii: "\""))
    }
  }
}
