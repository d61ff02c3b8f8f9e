/// The effect of a key in `playhead watch`.
enum WatchAction: Equatable {
  /// Sends the words of a request to the player.
  case request([String])
  case toggleHelp
  case closeHelp
  case leave

  /// The explanation of the keys, one row for each.
  static let help = [
    "Space: pause or play", "Left, Right: seek by 5 seconds", "Up, Down, +, -: change the volume by 5%",
    "n, p: next or previous entry. m: mute or unmute", "Ctrl-C, q: quit",
  ]

  /// The explanation of the keys for the status line.
  static let shortHelp = "Space n p m q, arrows: seek and volume"

  /// The actions of a key. Fast typing can combine several letters in one text. Other keys have no action.
  static func actions(of key: Key) -> [WatchAction] {
    switch key {
    case .text(let bytes): bytes.compactMap { action(of: Character(Unicode.Scalar($0))) }
    case .left: [.request(["seek", "-5"])]
    case .right: [.request(["seek", "+5"])]
    case .up: [.request(["volume", "+5%"])]
    case .down: [.request(["volume", "-5%"])]
    case .escape: [.closeHelp]
    // Pasted text is not a key.
    case .paste, .control, .alt, .backspace, .wordLeft, .wordRight, .home, .end, .delete: []
    }
  }

  private static func action(of character: Character) -> WatchAction? {
    switch character {
    case " ": .request(["toggle"])
    // On most keyboards, + without Shift is =.
    case "+", "=": .request(["volume", "+5%"])
    case "-": .request(["volume", "-5%"])
    case "n": .request(["next"])
    case "p": .request(["previous"])
    case "m": .request(["mute", "toggle"])
    case "?": .toggleHelp
    case "q": .leave
    default: nil
    }
  }
}
