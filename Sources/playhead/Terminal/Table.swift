import PlayheadWireProtocol

/// Rows in columns.
struct Table {
  /// The style of a row.
  enum Mark {
    case plain
    case bold
    case red
  }

  private var columns: [String]
  private var isRightAligned: [Bool]
  private var rows: [(cells: [String], mark: Mark)] = []

  /// Creates a table without rows.
  init(columns: [String], isRightAligned: [Bool]) {
    (self.columns, self.isRightAligned) = (columns, isRightAligned)
  }

  /// Creates a table with a column for each field name, in order of appearance. Columns of numbers are
  /// right-aligned.
  init(rows: [ServerLine.TextFields]) {
    var names: [String] = []
    for row in rows {
      var column = 0
      for field in row.entries {
        if let existing = names.firstIndex(of: field.name) {
          column = existing + 1
        } else {
          names.insert(field.name, at: column)
          column += 1
        }
      }
    }
    columns = names.map { Terminal.printable($0.uppercased()) }
    isRightAligned = names.map { name in
      rows.allSatisfy { row in row[name].map { Double($0) != nil || $0 == "none" || $0 == "indefinite" } ?? true }
    }
    for row in rows {
      append(names.map { name in row[name].map { HumanText.value(.init(name, $0)) } ?? "-" })
    }
  }

  var isEmpty: Bool { rows.isEmpty }

  mutating func append(_ cells: [String], mark: Mark = .plain) { rows.append((cells, mark)) }

  private var widths: [Int] {
    columns.indices.map { index in
      max(DisplayWidth.of(columns[index]), rows.map { DisplayWidth.of($0.cells[index]) }.max() ?? 0)
    }
  }

  /// The width of the table in terminal columns.
  var width: Int { widths.reduce(0, +) + 2 * max(0, columns.count - 1) }

  /// The minimum width of a shortened column.
  private static let minimumWidth = 8

  /// Shortens the longest columns of texts until the table has a width.
  mutating func fit(to columnCount: Int) {
    // A column is never longer than the table.
    var widths = widths.map { min($0, max(columnCount, Self.minimumWidth)) }
    while widths.reduce(0, +) + 2 * max(0, columns.count - 1) > columnCount {
      // A column of numbers is complete, and the name of a column, too.
      let shortenable = widths.indices.filter {
        !isRightAligned[$0] && widths[$0] > max(Self.minimumWidth, DisplayWidth.of(columns[$0]))
      }
      guard let longest = shortenable.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[longest] -= 1
    }
    let ellipsis = LiveLine.Glyphs.environment.ellipsis
    for row in rows.indices {
      for column in columns.indices {
        rows[row].cells[column] = DisplayWidth.cut(rows[row].cells[column], to: widths[column], ellipsis: ellipsis)
      }
    }
  }

  /// The lines of the table, with the column names first. Empty without rows.
  func text(_ style: Style) -> String {
    guard !rows.isEmpty else { return "" }
    let widths = widths
    func line(_ cells: [String]) -> String {
      let padded = cells.indices.map {
        DisplayWidth.padded(cells[$0], to: widths[$0], isRightAligned: isRightAligned[$0])
      }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
    var text = style.dim(line(columns)) + "\n"
    for row in rows {
      let shown = line(row.cells)
      switch row.mark {
      case .plain: text += shown
      case .bold: text += style.bold(shown)
      case .red: text += style.red(shown)
      }
      text += "\n"
    }
    return text
  }
}
