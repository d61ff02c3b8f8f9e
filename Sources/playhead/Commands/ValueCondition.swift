import PlayheadWireProtocol

/// A condition on an observable key, such as `player.currentItem!=3`, or on a value of `playhead get`, such as
/// `chapter!=none`.
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

  /// The name of the value of `get`; empty for a key.
  let name: String
  /// The observable key; nil for a value of `get`.
  let key: ObservableKey?
  private let comparison: Comparison
  private var operand: String
  /// The entry whose id is the operand, such as `next` or `#3`; nil if the operand is a value.
  private(set) var entryReference: String?

  /// Parses a condition.
  ///
  /// - Throws: `Misuse`.
  init(parsing text: String) throws(Invocation.Misuse) {
    guard let start = text.firstIndex(where: { "=!<>".contains($0) }),
      let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
    else {
      throw Invocation.Misuse(
        message: "unknown condition \(text); use daemon, ready, ended, or NAME with =, !=, >, >=, < or <= and a value")
    }
    let word = String(text[..<start])
    key = ObservableKey(rawValue: word)
    // `player.title` is the value `title`, too.
    let prefix = ["player.", "item."].first { word.hasPrefix($0) } ?? ""
    name = key == nil ? String(word.dropFirst(prefix.count)) : ""
    operand = String(text[start...].dropFirst(comparison.rawValue.count))
    self.comparison = comparison
    if let key { try Self.check(key) } else { try Self.check(name) }
    guard comparison == .equal || comparison == .notEqual || Double(operand) != nil else {
      throw Invocation.Misuse(message: "\(text): \(comparison.rawValue) needs a number")
    }
    if name == "item" || key == .playerCurrentItem, operand != "none",
      !operand.allSatisfy({ $0.isASCII && $0.isNumber })
    {
      do { try RequestCheck.check(RequestEncoder().words(Self.request(forEntry: operand))) } catch {
        throw Invocation.Misuse(
          message: "\(text): \(word) is compared with an id, none, current, next, previous, +N, -N or #N")
      }
      entryReference = operand
    }
  }

  private static func request(forEntry reference: String) -> [[UInt8]] {
    [Array(ItemStatusCommand.name.rawValue.utf8), Array(reference.utf8)]
  }

  /// This condition with the id of the entry that it names.
  ///
  /// - Throws: `ErrorReply` without such an entry, or `Unreachable`.
  func resolved(player: [[UInt8]], _ client: JSONClient) throws -> ValueCondition {
    guard let entryReference else { return self }
    let status = try client.request(Self.request(forEntry: entryReference) + player)
    var resolved = self
    resolved.operand = ValueTemplate.text(of: status["item"] ?? .null)
    resolved.entryReference = nil
    return resolved
  }

  private static func check(_ key: ObservableKey) throws(Invocation.Misuse) {
    guard !ObservedValues.keysWithoutValue.contains(key) else {
      throw Invocation.Misuse(message: "\(key.rawValue) has no value; see playhead watch --observe")
    }
  }

  private static func check(_ name: String) throws(Invocation.Misuse) {
    do throws(Invocation.Misuse) { try Get.names.check([name]) } catch {
      throw Invocation.Misuse(message: "\(error.message); or a key of `observe`, such as player.currentItem")
    }
    guard !Get.continuousNames.contains(name) else {
      throw Invocation.Misuse(
        message: name == "time"
          ? "wait compares time only with >=, >, <= and <, such as time>=TIME"
          : "wait cannot compare \(name), which changes continuously; use time>=TIME or time<=TIME")
    }
  }

  /// Whether the condition is true for a value. Numbers are compared as numbers, and an unknown value is `none`.
  func isTrue(for value: JSONValue) -> Bool {
    isTrue(for: value == .null ? "none" : ValueTemplate.text(of: value))
  }

  /// The same for a value in its text form.
  func isTrue(for text: String) -> Bool {
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
