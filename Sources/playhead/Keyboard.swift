// The terminal as a keyboard: bytes as they are typed, without echo. What a terminal's mode is outlives the process that
// changed it, so it is given back however the client ends.
import Glibc

/// The mode to give back, for the signal handler, too. Written before the handler is installed.
nonisolated(unsafe) private var originalMode = termios()

/// Gives it back where the client ends itself: once, however often the keyboard is taken.
private let givesBackAtExit: Bool = atexit { tcsetattr(STDIN_FILENO, TCSADRAIN, &originalMode) } == 0

/// Standard input's terminal, typed into byte for byte from `begin` to `end`.
struct Keyboard {
  private var isRaw = false

  /// Begins; false when standard input is no terminal.
  mutating func begin() -> Bool {
    guard !isRaw else { return true }
    guard tcgetattr(STDIN_FILENO, &originalMode) == 0, givesBackAtExit else { return false }
    var mode = originalMode
    // ISIG, too: Ctrl-C and Ctrl-Z must not end or stop the process before the mode is given back.
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { return false }
    isRaw = true
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        // Only calls that are allowed in a handler (signal-safety(7)).
        tcsetattr(STDIN_FILENO, TCSANOW, &originalMode)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    return true
  }

  /// Gives the terminal back as it was.
  mutating func end() {
    guard isRaw else { return }
    isRaw = false
    tcsetattr(STDIN_FILENO, TCSADRAIN, &originalMode)
    for number in [SIGTERM, SIGHUP, SIGINT] { signal(number, SIG_DFL) }
  }

  /// Does what the terminal would have done for a key, in its own mode: stops or ends the process.
  mutating func perform(_ number: Int32) {
    end()
    raise(number)
    _ = begin()
  }

  /// Columns of the terminal that is written to.
  static var columnCount: Int { columnCount(of: STDOUT_FILENO) }

  /// Columns of a terminal.
  static func columnCount(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
