/// Finds what a mistyped name may have meant.
enum Nearest {
  /// The nearest of `names`: one that begins with `text`, or else one at most two edits away; nil when none is near.
  static func name(to text: String, among names: [String]) -> String? {
    let wanted = Array(text.lowercased().utf8)
    // Garbage means nothing, and working out what it is near to would cost whoever runs the daemon.
    guard ASCII.isName(wanted, maximum: 32) else { return nil }
    var best: (name: String, distance: Int)?
    for name in names {
      let candidate = Array(name.lowercased().utf8)
      let distance: Int
      if wanted.count >= 2, candidate.starts(with: wanted) {
        distance = 1
      } else if abs(wanted.count - candidate.count) <= 2 {
        distance = editDistance(wanted, candidate)
      } else {
        continue
      }
      let allowed = min(2, max(wanted.count, candidate.count) / 2)
      if distance <= allowed, distance < best?.distance ?? .max { best = (name, distance) }
    }
    return best?.name
  }

  /// Insertions, deletions, substitutions and swaps of neighbours that lead from one to the other.
  private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var row = [i + 1]
      for (j, b) in right.enumerated() {
        var cost = min(last[j] + (a == b ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      (beforeLast, last) = (last, row)
    }
    return last[right.count]
  }
}
