import PlayheadWireProtocol

/// The screen of `playhead watch`: the status line, and the entries of the queue around the current one.
///
/// Pure: no I/O.
struct LivePane {
  /// The number of terminal rows from which there is a pane. With fewer rows there is only the status line.
  static let minimumRowCount = 8
  /// The maximum number of entries that the client requests.
  static let maximumEntryCount = 200

  /// An entry of the queue or of its history.
  struct Entry: Equatable {
    /// The position in the queue: 1 is the current entry, -1 the previous one.
    var position: Int
    var title: String
    /// The duration as a clock time; empty when not known.
    var duration = ""
    var isFailed = false

    init(position: Int, title: String, duration: String = "", isFailed: Bool = false) {
      (self.position, self.title, self.duration, self.isFailed) = (position, title, duration, isFailed)
    }

    /// An entry from a row of `list` or `history`.
    init(position: Int, row: ServerLine.TextFields) {
      let error = row["error"].map { " (\(Terminal.printable($0)))" } ?? ""
      let seconds = row["duration"].flatMap { Double($0) == nil ? nil : $0 }
      self.init(
        position: position, title: EntryTitle.withArtist(row) + error,
        duration: seconds.map { ClockTime.whole($0) } ?? "", isFailed: row["status"] == "failed")
    }
  }

  var line = LiveLine()
  /// The first entries of the queue, from the current one.
  var entries: [Entry] = []
  /// The newest entries of the history, the newest one first.
  var history: [Entry] = []
  /// The number of entries in the queue.
  var count = 0
  /// Whether the first entry of the queue is current.
  var hasCurrentEntry = false

  /// The number of entries that fit in a terminal with the given height; 0 without a pane.
  static func entryCount(rowCount: Int) -> Int {
    rowCount < minimumRowCount ? 0 : min(maximumEntryCount, rowCount - 3)
  }

  /// The rows of the screen, each with at most `columnCount` columns.
  ///
  /// - Parameters:
  ///   - notice: A message for the last row; nil for a hint at the help.
  ///   - showsHelp: Whether the keys are explained in place of the entries.
  func rows(
    columnCount: Int, rowCount: Int, notice: String?, showsHelp: Bool, _ glyphs: LiveLine.Glyphs, _ style: Style
  ) -> [String] {
    let room = Self.entryCount(rowCount: rowCount)
    var rows = [line.text(columnCount: columnCount, glyphs, style), ""]
    if showsHelp {
      rows += WatchAction.help.prefix(room).map { cut($0, columnCount, glyphs) }
    } else if line.message == nil {
      rows += entryRows(columnCount: columnCount, room: room, glyphs, style)
    }
    rows += Array(repeating: "", count: max(0, rowCount - 1 - rows.count))
    let hint = showsHelp ? "?: close the help. q: quit." : "?: help. q: quit."
    rows.append(
      notice.map { style.yellow(cut($0, columnCount, glyphs)) } ?? style.dim(cut(hint, columnCount, glyphs)))
    return rows
  }

  private func cut(_ text: String, _ columnCount: Int, _ glyphs: LiveLine.Glyphs) -> String {
    DisplayWidth.cut(glyphs.displayable(text), to: columnCount, ellipsis: glyphs.ellipsis)
  }

  /// The entries that fit in `room` rows. The history gets a third of the rows, and those that the queue does not need.
  private func entryRows(
    columnCount: Int, room: Int, _ glyphs: LiveLine.Glyphs, _ style: Style
  ) -> [String] {
    let pastCount = min(history.count, max(room / 3, room - max(1, count)))
    let following = room - pastCount
    // The last row is the number of the entries that do not fit.
    let queued = Array(entries.prefix(count > following ? max(0, following - 1) : following))
    let shown = Array(history.prefix(pastCount).reversed()) + queued
    let positionWidth = shown.map { "\($0.position)".count }.max() ?? 0
    let durationWidth = columnCount < 30 ? 0 : shown.map(\.duration.count).max() ?? 0
    let symbol = line.symbol(glyphs)
    var rows = shown.map { entry in
      let isCurrent = hasCurrentEntry && entry.position == 1
      let mark = isCurrent ? symbol : String(repeating: " ", count: DisplayWidth.of(symbol))
      var text = "\(mark) \(DisplayWidth.padded("\(entry.position)", to: positionWidth, isRightAligned: true))  "
      let titleWidth = max(0, columnCount - DisplayWidth.of(text) - (durationWidth > 0 ? durationWidth + 2 : 0))
      let title = cut(entry.title, titleWidth, glyphs)
      if durationWidth > 0, !entry.duration.isEmpty {
        text += DisplayWidth.padded(title, to: titleWidth) + "  "
        text += DisplayWidth.padded(entry.duration, to: durationWidth, isRightAligned: true)
      } else {
        text += title
      }
      text = cut(text, columnCount, glyphs)
      if isCurrent { return style.bold(text) }
      return entry.isFailed ? style.red(text) : entry.position < 0 ? style.dim(text) : text
    }
    if count == 0 { rows.append(cut("The queue is empty.", columnCount, glyphs)) }
    if count > queued.count { rows.append(style.dim(cut("\(count - queued.count) more", columnCount, glyphs))) }
    return rows
  }
}
