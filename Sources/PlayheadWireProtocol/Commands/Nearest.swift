/// Finds the name that is most similar to a mistyped name.
package enum Nearest {
  /// The most similar name: one that begins with `text`, or one at an edit distance of at most two. Nil if no name is
  /// similar.
  package static func name(to text: String, among names: some Sequence<String>) -> String? {
    // Skips texts that cannot be mistyped names, because computing the distance would waste time of the daemon.
    let mistyped = text.utf8
    guard !mistyped.isEmpty, mistyped.count <= maximumByteCount, mistyped.allSatisfy(ASCII.isNameByte) else {
      return nil
    }
    var best: (name: String, distance: Int)?
    for name in names {
      let candidate = name.utf8
      let distance: Int
      if mistyped.count >= 2, candidate.count >= mistyped.count,
        zip(mistyped, candidate).allSatisfy({ isSameLetter($0, $1) })
      {
        distance = 1
      } else if abs(mistyped.count - candidate.count) <= 2 {
        distance = editDistance(mistyped, candidate)
      } else {
        continue
      }
      let allowed = min(2, max(mistyped.count, candidate.count) / 2)
      if distance <= allowed, distance < best?.distance ?? .max { best = (name, distance) }
    }
    return best?.name
  }

  private static let maximumByteCount = 32

  /// Whether two letters are equal, ignoring case.
  private static func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
    func lowercased(_ byte: UInt8) -> UInt8 {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
    return lowercased(left) == lowercased(right)
  }

  /// The number of insertions, deletions, substitutions and swaps of adjacent letters that convert one text to the
  /// other.
  private static func editDistance(_ left: String.UTF8View, _ right: String.UTF8View) -> Int {
    // The rows for the last two letters and the current letter of `left`.
    let width = right.count + 1
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: 3 * width) { cells in
      func at(_ row: Int, _ column: Int) -> Int { (row % 3) * width + column }
      for column in 0..<width { cells[at(0, column)] = column }
      var beforeLeft: UInt8 = 0
      for (i, a) in left.enumerated() {
        cells[at(i + 1, 0)] = i + 1
        var beforeRight: UInt8 = 0
        for (j, b) in right.enumerated() {
          var cost = min(
            cells[at(i, j)] + (isSameLetter(a, b) ? 0 : 1), cells[at(i, j + 1)] + 1, cells[at(i + 1, j)] + 1)
          if i > 0, j > 0, isSameLetter(a, beforeRight), isSameLetter(beforeLeft, b) {
            cost = min(cost, cells[at(i - 1, j - 1)] + 1)
          }
          cells[at(i + 1, j + 1)] = cost
          beforeRight = b
        }
        beforeLeft = a
      }
      return cells[at(left.count, width - 1)]
    }
  }
}
