import Testing

@testable import playhead

/// The layout of `playhead watch` at different sizes.
@Suite struct LivePaneTests {
  private func pane(count: Int, historyCount: Int = 0) -> LivePane {
    var pane = LivePane()
    pane.line.title = "One"
    (pane.line.time, pane.line.duration) = (5, 65)
    pane.count = count
    pane.hasCurrentEntry = count > 0
    pane.entries = (1...max(1, min(count, 30))).prefix(count).map {
      LivePane.Entry(position: $0, title: "Title \($0)", duration: $0 == 2 ? "" : "\($0):05")
    }
    pane.history = (1...max(1, historyCount)).prefix(historyCount).map {
      LivePane.Entry(position: -$0, title: "Past \($0)", duration: "1:00:00")
    }
    return pane
  }

  private func text(
    _ pane: LivePane, _ columnCount: Int, _ rowCount: Int, notice: String? = nil, showsHelp: Bool = false,
    _ glyphs: LiveLine.Glyphs = .unicode
  ) -> String {
    let rows = pane.rows(
      columnCount: columnCount, rowCount: rowCount, notice: notice, showsHelp: showsHelp, glyphs,
      Style(isColored: false))
    #expect(rows.count == rowCount)
    for row in rows { #expect(DisplayWidth.of(row) <= columnCount, "\(row)") }
    return rows.joined(separator: "\n")
  }

  @Test func entriesSurroundTheCurrentOne() {
    let rows = [
      "⏸ One ━╸──────────────────── 0:05 / 1:05", "", "  -3  Past 3                     1:00:00",
      "  -2  Past 2                     1:00:00", "  -1  Past 1                     1:00:00",
      "⏸  1  Title 1                       1:05", "   2  Title 2", "   3  Title 3                       3:05",
      "   4  Title 4                       4:05", "   5  Title 5                       5:05", "99995 more",
      "?: help. q: quit.",
    ]
    #expect(text(pane(count: 100_000, historyCount: 9), 40, 12) == rows.joined(separator: "\n"))
  }

  @Test func historyUsesTheRowsThatTheQueueDoesNotNeed() {
    let rows = text(pane(count: 1, historyCount: 9), 40, 10).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(rows[2].hasPrefix("  -6  Past 6") && rows[8].hasPrefix("⏸  1  Title 1"))
    let empty = text(pane(count: 0, historyCount: 9), 40, 10).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(empty[7].hasPrefix("  -1  Past 1") && empty[8] == "The queue is empty.")
  }

  @Test func narrowAndLowTerminals() {
    for columnCount in 1...30 {
      for rowCount in LivePane.minimumRowCount...14 {
        for (count, historyCount) in [(0, 0), (1, 0), (3, 1), (30, 30), (100_000, 30)] {
          let pane = pane(count: count, historyCount: historyCount)
          _ = text(pane, columnCount, rowCount)
          _ = text(pane, columnCount, rowCount, notice: "a long message of an error", showsHelp: true)
        }
      }
    }
    #expect(LivePane.entryCount(rowCount: 7) == 0)
    #expect(LivePane.entryCount(rowCount: 0) == 0)
    #expect(LivePane.entryCount(rowCount: 65_535) == LivePane.maximumEntryCount)
  }

  @Test func helpExplainsEachKeyInTheLowestPane() {
    let rows = text(pane(count: 3), 79, LivePane.minimumRowCount, showsHelp: true).split(separator: "\n")
    #expect(rows[1...].elementsEqual((WatchAction.help + ["?: close the help. q: quit."]).map { $0[...] }))
  }

  @Test func noticesReplaceTheHintAndWideTitlesAreCut() {
    var pane = pane(count: 2)
    pane.entries[1].title = "三四五六七八九十三四五六七八九十"
    let rows = text(pane, 30, 8, notice: "the queue has no current item (no-current-item)").split(separator: "\n")
    #expect(rows[2] == "  2  三四五六七八九十三…")
    #expect(rows.last == "the queue has no current item…")
    let ascii = text(pane, 30, 8, .ascii)
    #expect(ascii.utf8.allSatisfy { $0 < 0x80 } && ascii.contains("= 1  Title 1"))
  }
}
