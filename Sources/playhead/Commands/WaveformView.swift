// `playhead waveform`: the daemon analyzes a file, and the client draws the waveform with block characters.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

enum WaveformView {
  /// The number of character rows; each has two rows of blocks.
  private static let rowCount = 8

  /// The words of the request with one bin per column, at most 1,000, unless they specify bins or a file.
  static func words(_ words: [[UInt8]]) -> [[UInt8]] {
    let binOptions = ["bins=", "file=", "samples-per-bin="].map { Array($0.utf8) }
    guard !words.contains(where: { word in binOptions.contains { word.starts(with: $0) } }) else { return words }
    let columnCount = isatty(STDOUT_FILENO) == 1 ? Keyboard.columnCount : 80
    return words + [Array("bins=\(min(1_000, max(1, columnCount)))".utf8)]
  }

  /// Sends the line of a request and prints the reply. Returns the exit status.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`.
  static func run(_ line: [UInt8], _ socket: String, _ output: OutputFile?) throws -> Int32 {
    let reply = try MediaWork.reply(to: line, socket, output)
    if let file = reply.fields["file"] {
      Terminal.print("\(Terminal.printable(file)): \(reply.fields["bins"] ?? "") bins\n")
    } else {
      let isUnicode = LiveLine.Glyphs.environment.unknown == nil
      Terminal.print(text(reply.rows, reply.fields, blocks: isUnicode ? ["▀", "▄", "█"] : ["'", ".", "#"]))
    }
    return PlayheadClient.Status.done
  }

  /// Draws a column for each bin, from the minimum to the maximum sample of all channels, with the start and the end
  /// below.
  ///
  /// - Parameter blocks: The upper half block, the lower half block, and the full block.
  static func text(
    _ rows: [ServerLine.TextFields], _ fields: ServerLine.TextFields, blocks: [String]
  ) -> String {
    let height = 2 * rowCount
    let columns = rows.map { row in
      func values(_ name: String) -> [Double] { (row[name] ?? "").split(separator: ",").compactMap { Double($0) } }
      // Positions in half characters, from the top.
      func halfRow(_ value: Double) -> Double { (1 - max(-1, min(1, value))) / 2 * Double(height) }
      let top = min(height - 1, Int(halfRow(values("max").max() ?? 0).rounded(.down)))
      let bottom = Int(halfRow(values("min").min() ?? 0).rounded(.up))
      return top..<max(top + 1, min(height, bottom))
    }
    var text = ""
    for row in 0..<rowCount {
      text +=
        columns.map { column in
          switch (column.contains(2 * row), column.contains(2 * row + 1)) {
          case (true, true): blocks[2]
          case (true, false): blocks[0]
          case (false, true): blocks[1]
          case (false, false): " "
          }
        }.joined() + "\n"
    }
    let start = fields["start"].flatMap { Double($0) } ?? 0
    let endLabels = [start, start + (fields["duration"].flatMap { Double($0) } ?? 0)].map { time($0) }
    let gap = max(1, rows.count - endLabels[0].utf8.count - endLabels[1].utf8.count)
    return text + endLabels[0] + String(repeating: " ", count: gap) + endLabels[1] + "\n"
  }

  private static func time(_ seconds: Double) -> String {
    let milliseconds = Int(min(seconds, 1e12) * 1_000)
    func digits(_ value: Int, _ count: Int) -> String {
      String(repeating: "0", count: max(0, count - "\(value)".utf8.count)) + "\(value)"
    }
    let whole = milliseconds / 1_000
    let minutes = whole >= 3_600 ? "\(whole / 3_600):\(digits(whole / 60 % 60, 2))" : "\(whole / 60)"
    return "\(minutes):\(digits(whole % 60, 2)).\(digits(milliseconds % 1_000, 3))"
  }
}
