// The terminal as a keyboard: bytes as typed, without echo. A terminal's mode outlives the process that changed it, so
// it is restored however the client ends.
import Glibc

/// The mode to restore, also used by the signal handler. Written before the handler is installed.
///
/// On the heap, because Swift 6.3 reserves only 57 of the 60 bytes of a global `termios`: it omits the padding within
/// the structure, and tcgetattr(3) overwrites the next global variable.
nonisolated(unsafe) private let originalMode = UnsafeMutablePointer<termios>.allocate(capacity: 1)

/// Whether the mode of the terminal differs from `originalMode`. A process in the background must not set the mode,
/// because the terminal would stop it.
nonisolated(unsafe) private var isModeChanged = false

/// Whether the terminal marks pasted text.
nonisolated(unsafe) private var marksPastes = false

/// Restores the terminal. Async-signal-safe (signal-safety(7)).
private func restore(_ action: Int32) {
  if marksPastes {
    let bytes: StaticString = "\u{1B}[?2004l"
    _ = write(STDOUT_FILENO, bytes.utf8Start, bytes.utf8CodeUnitCount)
    marksPastes = false
  }
  if isModeChanged {
    tcsetattr(STDIN_FILENO, action, originalMode)
    isModeChanged = false
  }
}

/// Registers the restoration of the mode at exit, once per process.
private let restoresAtExit: Bool = atexit { restore(TCSADRAIN) } == 0

/// The terminal of standard input, read byte by byte from `begin` to `end`.
struct Keyboard {
  /// The kind of mode.
  enum Mode {
    /// Every key is input. Signals that end the process first restore the mode.
    case allKeys
    /// The keys of signals, such as Ctrl-C and Ctrl-Z, keep their effect. The caller handles all signals.
    case keysWithoutSignals
  }

  private let kind: Mode
  /// Whether the mode is changed.
  private(set) var isRaw = false

  init(_ kind: Mode = .allKeys) { self.kind = kind }

  /// Turns off echo and line editing. With `allKeys`, also installs signal handlers that restore the mode. Returns
  /// false when standard input is not a terminal, or when the process runs in the background of its terminal.
  mutating func begin() -> Bool {
    guard !isRaw else { return true }
    if kind == .keysWithoutSignals, !Self.isInForeground { return false }
    guard tcgetattr(STDIN_FILENO, originalMode) == 0, restoresAtExit else { return false }
    var mode = originalMode.pointee
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    // ISIG too: Ctrl-C and Ctrl-Z must not end or stop the process before the mode is restored.
    if kind == .allKeys { mode.c_lflag &= ~tcflag_t(ISIG) }
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { return false }
    isRaw = true
    isModeChanged = true
    if kind == .allKeys { installHandlers() }
    return true
  }

  private func installHandlers() {
    for number in [SIGTERM, SIGHUP, SIGINT] {
      signal(number) { number in
        // Only async-signal-safe calls are permitted in a handler (signal-safety(7)).
        restore(TCSANOW)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Makes the terminal mark pasted text, until `end`. Only if standard output is a terminal.
  func markPastes() {
    guard isRaw, isatty(STDOUT_FILENO) == 1, !Style.isDumb else { return }
    marksPastes = true
    Terminal.print("\u{1B}[?2004h")
  }

  /// Restores the mode of the terminal, and the default handling of the signals.
  mutating func end() {
    guard isRaw else { return }
    isRaw = false
    restore(TCSADRAIN)
    if kind == .allKeys { for number in [SIGTERM, SIGHUP, SIGINT] { signal(number, SIG_DFL) } }
  }

  /// Raises the signal of Ctrl-C or Ctrl-Z with the original mode of the terminal. Begins again if the process
  /// continues.
  mutating func raiseSignal(_ number: Int32) {
    end()
    raise(number)
    _ = begin()
  }

  /// Begins again after the process was stopped, because another program may have changed the mode. Has no effect if
  /// the mode is unchanged: a key that is typed while the original mode returns for a moment would remain in the
  /// kernel's line buffer.
  mutating func resume() -> Bool {
    guard Self.isInForeground else {
      (isRaw, isModeChanged) = (false, false)
      return false
    }
    var mode = termios()
    if isRaw, tcgetattr(STDIN_FILENO, &mode) == 0, mode.c_lflag & tcflag_t(ICANON | ECHO) == 0 { return true }
    isRaw = false
    return begin()
  }

  private static var isInForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Reads the typed bytes. Empty at the end of the input, nil if none are available.
  static func read() -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = chunk.withUnsafeMutableBytes { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR || errno == EAGAIN { return nil }
    return Array(chunk.prefix(max(0, count)))
  }

  /// The number of columns of the output terminal.
  static var columnCount: Int { columnCount(of: STDOUT_FILENO) }

  /// The number of columns of a terminal; 80 when not known.
  static func columnCount(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// The number of rows of the output terminal; 0 when not known.
  static var rowCount: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_row) : 0
  }
}
