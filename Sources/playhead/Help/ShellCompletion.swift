import PlayheadMediaCore
import PlayheadWireProtocol

/// The completion of the word before the cursor in the shell, from the candidates of ``Completion``.
///
/// Pure, except for the closures.
struct ShellCompletion {
  /// The start of the word in the line, in bytes.
  private(set) var start = 0
  /// The text that replaces the word; nil if no text can be added.
  private(set) var replacement: [UInt8]?
  /// The candidates, if there are several and no text can be added.
  private(set) var candidates: [Completion.Candidate] = []

  /// Completes the word at the end of `text`.
  ///
  /// - Parameters:
  ///   - live: Returns the ids that the daemon knows.
  ///   - files: Returns the paths that begin with a text. Those of folders end with `/`.
  init(
    _ text: [UInt8], live: @escaping (Completion.Live) -> [Completion.Candidate], files: (String) -> [String]
  ) {
    start = Self.wordStart(text)
    guard let words = Self.words(text[..<start], partial: text[start...]) else { return }
    // The name of an option has no quotes; its value can have them.
    let name = text[start...].prefix { $0 != UInt8(ascii: "=") }
    let isQuoted = name.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
    let completion = Completion(shellWords: words, isQuoted: isQuoted, live: live)
    let partial = words.last ?? ""
    let prefix = completion.filePrefix
    var found = completion.candidates
    if completion.includesFileNames {
      let paths = files(String(partial.dropFirst(prefix.count)))
      found += paths.map { Completion.Candidate(text: prefix + $0, summary: "") }
    }
    guard let first = found.first else { return }
    let isPath = { (candidate: Completion.Candidate) in !completion.candidates.contains(candidate) }
    if found.count == 1 {
      let isOpen = first.text.hasSuffix("=") || isPath(first) && first.text.hasSuffix("/")
      replacement = Self.quoted(first.text, after: prefix, isPath: isPath(first), isOpen: isOpen)
      if !isOpen { replacement?.append(UInt8(ascii: " ")) }
      return
    }
    let common = found.dropFirst().reduce(first.text) { $0.commonPrefix(with: $1.text) }
    if common.utf8.count > partial.utf8.count {
      replacement = Self.quoted(common, after: prefix, isPath: found.contains(where: isPath), isOpen: true)
    } else {
      candidates = found
    }
  }

  /// The start of the last word: the text after the last separator outside quotes.
  private static func wordStart(_ text: [UInt8]) -> Int {
    var start = 0
    var quote: UInt8?
    var isEscaped = false
    for (index, byte) in text.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\"), quote != UInt8(ascii: "'") {
        isEscaped = true
      } else if quote != nil {
        if byte == quote { quote = nil }
      } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        quote = byte
      } else if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") {
        // Each pasted line is a command.
        start = index + 1
      }
    }
    return start
  }

  /// The words of the last line, without quoting. Nil for invalid quoting, and for JSON.
  private static func words(_ before: ArraySlice<UInt8>, partial: ArraySlice<UInt8>) -> [String]? {
    let line = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).last ?? []
    guard line.first != UInt8(ascii: "{"), line.first != UInt8(ascii: "[") else { return nil }
    guard let complete = try? CommandLineWords.split(Array(line)) else { return nil }
    // The quotes of the last word may be open.
    for end in ["", "\"", "'"] {
      guard let last = try? CommandLineWords.split(Array(partial) + Array(end.utf8)), last.count < 2 else { continue }
      return (complete + [last.first ?? []]).map { String(decoding: $0, as: UTF8.self) }
    }
    return nil
  }

  /// A word in the quoting of the protocol. The `prefix` of an option stays outside the quotes. A path with `=` is
  /// quoted, because it would otherwise be an option.
  ///
  /// - Parameter isOpen: Whether the user continues the word, so that no quote ends it.
  private static func quoted(_ text: String, after prefix: String, isPath: Bool, isOpen: Bool) -> [UInt8] {
    let value = String(text.dropFirst(prefix.count))
    var quoted = WordsText.quoted(value)
    if value.isEmpty { return Array(prefix.utf8) }
    if isPath, prefix.isEmpty, !quoted.hasPrefix("\""), quoted.contains("=") { quoted = "\"\(quoted)\"" }
    if isOpen, quoted.hasPrefix("\"") { quoted.removeLast() }
    return Array((prefix + quoted).utf8)
  }
}

extension String {
  /// The longest text with which both texts begin.
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
