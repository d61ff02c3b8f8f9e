import WireProtocol

/// A condition on a value of `playhead get`, such as `volume<=0.5` or `chapter!=none`.
struct ValueCondition: Equatable {
  private enum Comparison: String, CaseIterable {
    // The longer ones come first, because they begin with the shorter ones.
    case notEqual = "!="
    case greaterOrEqual = ">="
    case lessOrEqual = "<="
    case equal = "="
    case greater = ">"
    case less = "<"
  }

  let name: String
  private let comparison: Comparison
  private let operand: String

  /// Parses a condition. The prefix of an observable key, as in `player.volume`, is omitted.
  ///
  /// - Throws: `Misuse`.
  init(parsing text: String) throws(Invocation.Misuse) {
    guard let start = text.firstIndex(where: { "=!<>".contains($0) }),
      let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
    else {
      throw Invocation.Misuse(
        message: "unknown condition \(text); use daemon, ready, ended, or NAME with =, !=, >, >=, < or <= and a value")
    }
    let key = String(text[..<start])
    name = ["player.", "item."].first { key.hasPrefix($0) }.map { String(key.dropFirst($0.count)) } ?? key
    operand = String(text[start...].dropFirst(comparison.rawValue.count))
    self.comparison = comparison
    try Get.names.check([name])
    guard !Get.continuousNames.contains(name) else {
      throw Invocation.Misuse(
        message: name == "time"
          ? "wait compares time only as time>=TIME or time<=TIME"
          : "wait cannot compare \(name), which changes continuously; use time>=TIME or time<=TIME")
    }
    guard comparison == .equal || comparison == .notEqual || Double(operand) != nil else {
      throw Invocation.Misuse(message: "\(text): \(comparison.rawValue) needs a number")
    }
  }

  /// Whether the condition is true for a value. Numbers are compared as numbers, and an unknown value is `none`.
  func isTrue(for value: JSONValue) -> Bool {
    let text = value == .null ? "none" : ValueTemplate.text(of: value)
    if let number = Double(text), let operand = Double(operand) {
      return switch comparison {
      case .equal: number == operand
      case .notEqual: number != operand
      case .greater: number > operand
      case .greaterOrEqual: number >= operand
      case .less: number < operand
      case .lessOrEqual: number <= operand
      }
    }
    return switch comparison {
    case .equal: text == operand
    case .notEqual: text != operand
    case .greater, .greaterOrEqual, .less, .lessOrEqual: false
    }
  }
}
