import PlayheadMediaCore
import PlayheadWireProtocol

extension Invocation {
  /// The request of `play FROM..TO`, or of `play` with the options of a range. Nil for any other `play`.
  ///
  /// - Throws: `Misuse` for an invalid range, and for a range together with files.
  static func rangeRequest(_ words: [[UInt8]]) throws(Misuse) -> [[UInt8]]? {
    let parameters = CommandTable.spec(PlayCommand.name)?.parameters ?? []
    var request = Array(words.prefix(1))
    var others: [[UInt8]] = []
    var hasRange = false
    // After `--`, all words are files.
    let options = words.dropFirst().prefix { $0 != Array("--".utf8) }
    for word in options {
      let key = word.prefix { $0 != UInt8(ascii: "=") }
      if key.count < word.count, parameters.contains(where: { key.elementsEqual($0.name.rawValue.utf8) }) {
        request.append(word)
        if !key.elementsEqual(ParameterName.player.rawValue.utf8) { hasRange = true }
      } else if let range = try range(word) {
        request += range
        hasRange = true
      } else {
        others.append(word)
      }
    }
    guard hasRange else { return nil }
    guard others.isEmpty, options.endIndex == words.endIndex else {
      throw Misuse(message: "play accepts either files or a range")
    }
    return request
  }

  /// The options of a range such as `1:00..1:02.5` or `..+5`. Nil for a word that is no range.
  ///
  /// - Throws: `Misuse` for a word of digits that is no valid range.
  private static func range(_ word: [UInt8]) throws(Misuse) -> [[UInt8]]? {
    let dot = UInt8(ascii: ".")
    guard let middle = word.indices.dropLast().first(where: { word[$0] == dot && word[$0 + 1] == dot }) else {
      return nil
    }
    let (start, end) = (word[..<middle], word[(middle + 2)...])
    if start.isEmpty || TimeExpression(bytes: start) != nil, TimeExpression(bytes: end) != nil {
      let options = (start.isEmpty ? [] : [("from=", start)]) + [("to=", end)]
      return options.map { Array($0.utf8) + $1 }
    }
    guard word.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: ":")).contains($0) || $0 == dot }), word.count > 2 else {
      return nil
    }
    throw Misuse(
      message: "invalid range \(String(decoding: word, as: UTF8.self)); use FROM..TO with times such as 1:00..1:02.5")
  }
}
