/// The text form of fields: a line `name=value` for each field, in the order of the names. In values, `%`, LF and NUL
/// are percent-encoded.
enum FieldText {
  static func encode(_ fields: StoredFields) -> String {
    var text = ""
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      text += name
      text += "="
      for character in value.unicodeScalars {
        switch character {
        case "%": text += "%25"
        case "\n": text += "%0A"
        case "\0": text += "%00"
        default: text.unicodeScalars.append(character)
        }
      }
      text += "\n"
    }
    return text
  }

  /// Decodes fields. Nil for text that `encode` does not produce.
  static func decode(_ text: String) -> StoredFields? {
    var fields: StoredFields = [:]
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      guard let end = line.firstIndex(of: UInt8(ascii: "=")), let name = String(Substring(line[..<end])) as String?,
        !name.isEmpty, let value = unescaped(line[line.index(after: end)...])
      else { return nil }
      fields[name] = value
    }
    return fields
  }

  private static func unescaped(_ value: Substring.UTF8View) -> String? {
    guard value.contains(UInt8(ascii: "%")) else { return String(Substring(value)) }
    var bytes: [UInt8] = []
    var rest = value
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      switch String(Substring(rest.prefix(2))) {
      case "25": bytes.append(UInt8(ascii: "%"))
      case "0A": bytes.append(UInt8(ascii: "\n"))
      case "00": bytes.append(0)
      default: return nil
      }
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
