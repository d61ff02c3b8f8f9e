import Glibc

/// The results: one row for each figure, one column for each player.
struct Table {
  private struct Row {
    var figure: String
    var target: String
    var cells: [PlayerKind: String]
  }

  private var rows: [Row] = []

  /// Adds a figure. A player that is not in `cells` gets "-": the figure does not apply to it.
  mutating func add(_ figure: String, target: String = "", _ cells: [PlayerKind: String]) {
    rows.append(Row(figure: figure, target: target, cells: cells))
    let text = PlayerKind.allCases.compactMap { kind in cells[kind].map { "\(kind.rawValue): \($0)" } }
    Progress.report("\(figure): \(text.joined(separator: "; "))")
  }

  func print() {
    let header = ["figure", "target"] + PlayerKind.allCases.map(\.rawValue)
    let lines =
      [header] + rows.map { row in [row.figure, row.target] + PlayerKind.allCases.map { row.cells[$0] ?? "-" } }
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    for (number, line) in lines.enumerated() {
      let cells = zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      Swift.print(cells.joined(separator: " | "))
      if number == 0 { Swift.print(widths.map { String(repeating: "-", count: $0) }.joined(separator: "-|-")) }
    }
  }
}

/// Progress on standard error, before the table is printed.
enum Progress {
  static func report(_ text: String) {
    let line = Array("bench: \(text)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
