import Glibc
import PlayheadWireProtocol

/// The state of a player in one line: its title, position, state and level.
///
/// Pure: no I/O.
struct LiveLine {
  var state = "paused"
  var title = ""
  /// The position in seconds; nil when there is no item, or the position is not known.
  var time: Double?
  /// The duration of the item in seconds; nil when not known.
  var duration: Double?
  var rate = 1.0
  var isMuted = false
  /// The volume of the player, from 0 to 1.
  var volume = 1.0
  /// The level of each channel, 0 to 1; empty when not measured.
  var levels: [Double] = []
  /// A message to display instead of everything else: the reason why there is no state.
  var message: String?

  /// The characters of the line; only ASCII if the locale has no Unicode.
  struct Glyphs {
    var playing: String
    var paused: String
    var waiting: String
    /// The parts of the position bar: before the position, at it, and after it.
    var done: String
    var head: String
    var rest: String
    /// The levels of the meter, in ascending order.
    var levels: [String]
    /// Indicates missing text.
    var ellipsis: String
    /// The substitute for unavailable characters; nil when all are available.
    var unknown: Character?

    /// Replaces unavailable characters in a text.
    func displayable(_ text: String) -> String {
      guard let unknown else { return text }
      return String(text.map { $0.isASCII ? $0 : unknown })
    }

    static let unicode = Glyphs(
      playing: "▶", paused: "⏸", waiting: "…", done: "━", head: "╸", rest: "─",
      levels: [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"], ellipsis: "…")
    static let ascii = Glyphs(
      playing: ">", paused: "=", waiting: "~", done: "=", head: ">", rest: "-", levels: [" ", ".", ":", "|", "#"],
      ellipsis: "...", unknown: "?")

    /// The characters for the locale of the environment (locale(7)).
    static var environment: Glyphs {
      let names: [String] = ["LC_ALL", "LC_CTYPE", "LANG"]
      let values = names.compactMap { name in getenv(name).map { String(cString: $0) } }
      let value = values.first { !$0.isEmpty }
      let name = value?.uppercased() ?? ""
      return name.contains("UTF-8") || name.contains("UTF8") ? .unicode : .ascii
    }
  }

  /// The character for the state of the player.
  func symbol(_ glyphs: Glyphs) -> String {
    switch state {
    case "playing": glyphs.playing
    case "waitingToPlayAtSpecifiedRate": glyphs.waiting
    default: glyphs.paused
    }
  }

  /// The line, with at most `columnCount` columns.
  func text(columnCount: Int, _ glyphs: Glyphs, _ style: Style) -> String {
    if let message { return DisplayWidth.cut(glyphs.displayable(message), to: columnCount, ellipsis: glyphs.ellipsis) }
    let symbol = symbol(glyphs)
    let clock = time.map { Self.clock($0) + (duration.map { " / \(Self.clock($0))" } ?? "") } ?? ""
    var suffix = clock
    if rate != 1, rate != 0 { suffix += " x\(Self.number(rate))" }
    if isMuted {
      suffix += " muted"
    } else if volume != 1 {
      suffix += " \(Int((volume * 100).rounded()))%"
    }
    if DisplayWidth.of(suffix) + 3 > columnCount { suffix = "" }
    let meter = levels.map { level in
      glyphs.levels[max(0, min(glyphs.levels.count - 1, Int((level * Double(glyphs.levels.count - 1)).rounded())))]
    }.joined()
    // Omit parts that do not fit: the meter, the bar, and the end of the title.
    var room = columnCount - DisplayWidth.of(symbol) - 1
    var parts: [String] = []
    let showsMeter = !meter.isEmpty && room >= DisplayWidth.of(suffix) + meter.count + 24
    if showsMeter { room -= meter.count + 1 }
    room -= suffix.isEmpty ? 0 : DisplayWidth.of(suffix) + 1
    let shown = title.isEmpty ? "nothing to play" : glyphs.displayable(title)
    let titleWidth = min(DisplayWidth.of(shown), time != nil && duration != nil && room >= 24 ? room / 2 : max(0, room))
    if titleWidth > 0 {
      parts.append(style.bold(DisplayWidth.cut(shown, to: titleWidth, ellipsis: glyphs.ellipsis)))
    }
    room -= titleWidth + 1
    if let time, let duration, duration > 0, room >= 8 { parts.append(bar(time / duration, min(room, 60), glyphs)) }
    if !suffix.isEmpty { parts.append(suffix) }
    if showsMeter { parts.append(style.green(meter)) }
    let colored = state == "playing" ? style.green(symbol) : style.yellow(symbol)
    return ([colored] + parts).joined(separator: " ")
  }

  /// The position bar. `fraction` is the position relative to the duration.
  private func bar(_ fraction: Double, _ width: Int, _ glyphs: Glyphs) -> String {
    let done = Int((max(0, min(1, fraction)) * Double(width)).rounded(.down))
    let head = done < width ? glyphs.head : ""
    return String(repeating: glyphs.done, count: done) + head
      + String(repeating: glyphs.rest, count: max(0, width - done - 1))
  }

  /// Formats whole seconds as a clock time.
  private static func clock(_ seconds: Double) -> String {
    guard seconds.magnitude < 1e9 else { return "?" }
    return (seconds < 0 ? "-" : "") + ClockTime.whole("\(Int(seconds.magnitude))")
  }

  private static func number(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
