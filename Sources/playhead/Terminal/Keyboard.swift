// The terminal as a keyboard: bytes as typed, without echo. A terminal's mode outlives the process that changed it, so
// it is restored however the client ends.
import Glibc

/// The mode to restore, also used by the signal handler. Written before the handler is installed.
nonisolated(unsafe) private var originalMode = termios()

/// Registers the restoration of the mode at exit, once per process.
private let restoresAtExit: Bool = atexit { tcsetattr(STDIN_FILENO, TCSADRAIN, &originalMode) } == 0

/// The terminal of standard input, read byte by byte from `begin` to `end`.
struct Keyboard {
  /// Whether the mode is changed.
  private var isRaw = false

  /// Turns off echo and line editing, and installs signal handlers that restore the mode. Returns false when standard
  /// input is not a terminal.
  mutating func begin() -> Bool {
    guard !isRaw else { return true }
    guard tcgetattr(STDIN_FILENO, &originalMode) == 0, restoresAtExit else { return false }
    var mode = originalMode
    // ISIG too: Ctrl-C and Ctrl-Z must not end or stop the process before the mode is restored.
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { return false }
    isRaw = true
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        // Only async-signal-safe calls are permitted in a handler (signal-safety(7)).
        tcsetattr(STDIN_FILENO, TCSANOW, &originalMode)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    return true
  }

  /// Restores the mode of the terminal, and the default handling of the signals.
  mutating func end() {
    guard isRaw else { return }
    isRaw = false
    tcsetattr(STDIN_FILENO, TCSADRAIN, &originalMode)
    for number in [SIGTERM, SIGHUP, SIGINT] { signal(number, SIG_DFL) }
  }

  /// Raises the signal of Ctrl-C or Ctrl-Z with the original mode of the terminal. Begins again if the process
  /// continues.
  mutating func raiseSignal(_ number: Int32) {
    end()
    raise(number)
    _ = begin()
  }

  /// The number of columns of the output terminal.
  static var columnCount: Int { columnCount(of: STDOUT_FILENO) }

  /// The number of columns of a terminal; 80 when not known.
  static func columnCount(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
