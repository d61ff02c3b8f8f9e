import Glibc
import Synchronization

/// Prints the results of a file's checks, one line each, with tabs between the fields:
///
/// - `begin CHECK`: the check to which a later crash or hang belongs
/// - `fail KIND EXPECTED FOUND`: a failure. Further ones of the same kind are only counted.
/// - `noise KIND EXPECTED FOUND`: different samples at the right position, because of the decoder's state
/// - `inexact KIND EXPECTED FOUND`: wrong samples after a seek that does not claim to be exact
/// - `tag VALUE`: a text in the tags, after `begin tags`. The caller compares it with the texts of other readers.
/// - `copy PATH`: a copy with video. The caller compares it with the file.
/// - `note TEXT`: a remark, for example the reason why a check does not apply
/// - `more WORD KIND COUNT`: the number of further lines `WORD KIND` that were not printed. WORD is `fail`, `noise` or
///   `inexact`; one space separates it from KIND.
/// - `done COUNT`: the number of comparisons. If this line is missing, the process ended early.
///
/// Threading: any thread.
final class CheckReport: Sendable {
  private struct State {
    var comparisonCount = 0
    var differenceCounts: [String: Int] = [:]
    var only: Check?
  }

  private let state: Mutex<State>
  private let write: @Sendable (String) -> Void

  /// A report of all checks, or of one.
  ///
  /// - Parameter write: receives each line; default: standard output.
  init(only: Check?, write: @escaping @Sendable (String) -> Void = { CheckReport.write($0, to: STDOUT_FILENO) }) {
    state = Mutex(State(only: only))
    self.write = write
  }

  /// Reports the start of a check. Returns whether the check is selected.
  @discardableResult
  func begin(_ check: Check) -> Bool {
    let isSelected = state.withLock { $0.only.map { $0 == check } ?? true }
    // `open` and `decode` run for most checks, which compare with their results.
    if isSelected || check == .open || check == .decode { line(["begin", check.rawValue]) }
    return isSelected
  }

  /// Counts a comparison, whether it succeeds or fails.
  func countComparison() { state.withLock { $0.comparisonCount += 1 } }

  /// Prints a text of the tags.
  func tag(_ value: String) { line(["tag", value]) }

  /// Prints the path of a copy with video.
  func copy(_ path: String) { line(["copy", path]) }

  /// Reports a failure. Kinds are the names of checks and `false-exact`.
  func fail(_ kind: String, expected: String, found: String) { difference("fail", kind, expected, found) }

  /// Reports a failure of a check.
  func fail(_ check: Check, expected: String, found: String) {
    guard state.withLock({ $0.only.map { $0 == check } ?? true }) else { return }
    fail(check.rawValue, expected: expected, found: found)
  }

  /// Reports wrong samples after a seek that does not claim to be exact.
  func inexact(_ check: Check, expected: String, found: String) {
    difference("inexact", check.rawValue, expected, found)
  }

  /// Reports different samples at the right position, because of the decoder's state.
  func noise(_ check: Check, expected: String, found: String) { difference("noise", check.rawValue, expected, found) }

  /// Prints a remark, for example the reason why a check does not apply.
  func note(_ text: String) { line(["note", text]) }

  /// Ends the report.
  func finish() {
    let (count, differences) = state.withLock { ($0.comparisonCount, $0.differenceCounts) }
    for (kind, count) in differences.sorted(by: { $0.key < $1.key }) where count > 1 {
      line(["more", kind, "\(count - 1)"])
    }
    line(["done", "\(count)"])
  }

  private func difference(_ word: String, _ kind: String, _ expected: String, _ found: String) {
    let isFirst = state.withLock { state in
      state.differenceCounts["\(word) \(kind)", default: 0] += 1
      return state.differenceCounts["\(word) \(kind)"] == 1
    }
    if isFirst { line([word, kind, expected, found]) }
  }

  private func line(_ fields: [String]) {
    let text = fields.map { field in
      String(decoding: field.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }.joined(separator: "\t")
    write(text)
  }

  /// Writes a line immediately: a crash must not lose the lines before it.
  static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array("\(text)\n".utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
  }
}
