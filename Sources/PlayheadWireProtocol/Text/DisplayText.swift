/// Text that is safe to show on a terminal and in a log.
///
/// File names, tags and URLs may contain any character. Some characters start a new line, control the terminal, or
/// change the order in which the following text is displayed.
package enum DisplayText {
  /// Returns whether a terminal or a log viewer would act on `scalar` instead of displaying it.
  ///
  /// These are the control characters (C0, DEL, C1), the line and paragraph separators, and the controls of the Unicode
  /// Bidirectional Algorithm (UAX #9, section 2).
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
    case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Returns `text` on one line: every control is an escape sequence, `\n`, `\r`, `\t` or `\u{HEX}`.
  package static func escaped(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return String(text) }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isControl(scalar): result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
