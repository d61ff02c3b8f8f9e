// The screen of `playhead watch`, its keys, and the signals that affect it.
import Glibc
import Synchronization

/// The pending signals, one bit each. Only signal handlers set them (signal-safety(7)).
private let pendingSignals = Atomic<UInt64>(0)

/// The status line at the cursor, which is redrawn without scrolling; or the pane, if the terminal is high enough.
///
/// The pane uses the terminal's alternate screen, because a change of the width would wrap rows above the cursor. At
/// the end, the normal screen gets the status line.
final class LiveScreen {
  private static let handledSignals = [SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]
  /// The time without another byte after which an incomplete sequence is a key, as after Escape.
  private static let sequenceMilliseconds: Int32 = 100
  /// The duration of a notice.
  private static let noticeMilliseconds: Int32 = 4_000

  /// The number of entries that fit on the screen; 0 without a pane.
  private(set) var entryCount = 0
  /// The size of the terminal. A later change is pending as SIGWINCH until the next wait.
  private var (columnCount, rowCount) = (0, 0)
  private let style = Style.output
  private let glyphs = LiveLine.Glyphs.environment
  private var keyboard = Keyboard(.keysWithoutSignals)
  private var decoder = KeyDecoder()
  /// The end of the wait for the rest of an incomplete sequence.
  private var sequenceEnd = Deadline()
  /// Whether standard input can still have keys.
  private var hasInput = true
  private var pane: LivePane?
  /// The displayed text. Nil if nothing is displayed, or if the terminal may have changed it.
  private var displayedText: String?
  private var isCursorHidden = false
  /// Whether the alternate screen is displayed.
  private var isAlternate = false
  private var showsHelp = false
  /// A message that is displayed for a short time, or until the next key.
  private var notice: String?
  /// The end of the notice.
  private var noticeEnd = Deadline()
  /// The original signal mask, which is also the mask during waits.
  private var originalMask = sigset_t()

  init() {
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in Self.handledSignals {
      sigaddset(&mask, number)
      signal(number) { pendingSignals.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
    }
    // The signals are delivered only during waits.
    sigprocmask(SIG_BLOCK, &mask, &originalMask)
    hasInput = keyboard.begin()
    hideCursor()
    if hasInput { keyboard.markPastes() }
    updateSize()
  }

  /// Restores the terminal and the signal handling, and begins an empty line for later output.
  func end() {
    leaveScreen()
    for number in Self.handledSignals { signal(number, SIG_DFL) }
    sigprocmask(SIG_SETMASK, &originalMask, nil)
  }

  /// Restores the terminal. The status line remains.
  private func leaveScreen() {
    leaveAlternateScreen()
    if displayedText == nil, let pane { drawLine(pane.line) }
    Terminal.print((displayedText == nil ? "" : "\n") + (isCursorHidden ? "\u{1B}[?25h" : ""))
    (displayedText, isCursorHidden) = (nil, false)
    keyboard.end()
  }

  // MARK: - Output

  /// Displays a pane, or its status line. Draws nothing when it is unchanged.
  func show(_ pane: LivePane) {
    self.pane = pane
    guard entryCount > 0 else {
      leaveAlternateScreen()
      return drawLine(pane.line)
    }
    // The last column remains free, because some terminals would begin another line.
    let rows = pane.rows(
      columnCount: max(1, columnCount - 1), rowCount: rowCount, notice: notice, showsHelp: showsHelp, glyphs, style)
    let text = rows.joined(separator: "\u{1B}[K\n")
    if !isAlternate {
      // Also removes the status line of a lower terminal.
      Terminal.print("\r\u{1B}[J\u{1B}[?1049h")
      isAlternate = true
      displayedText = nil
    }
    guard text != displayedText else { return }
    displayedText = text
    Terminal.print("\u{1B}[?7l\u{1B}[H\(text)\u{1B}[J\u{1B}[?7h")
  }

  private func drawLine(_ line: LiveLine) {
    var line = line
    if let notice { line.message = notice }
    // The last column remains free, because some terminals would begin another line.
    let text = line.text(columnCount: max(1, columnCount - 1), glyphs, style)
    guard text != displayedText else { return }
    displayedText = text
    // Disable wrapping: if the terminal's character widths differ from those of DisplayWidth, the excess must not begin
    // another line.
    Terminal.print("\u{1B}[?7l\r\(text)\u{1B}[J\u{1B}[?7h")
  }

  private func leaveAlternateScreen() {
    guard isAlternate else { return }
    isAlternate = false
    displayedText = nil
    Terminal.print("\u{1B}[?1049l")
  }

  /// Displays a message until the next key, or for a short time.
  func report(_ message: String) {
    notice = message
    noticeEnd = Deadline(milliseconds: Self.noticeMilliseconds)
    if let pane { show(pane) }
  }

  private func endNotice() {
    guard notice != nil else { return }
    notice = nil
    if let pane { show(pane) }
  }

  /// Whether the process may use the whole screen. In the background, the screen belongs to another program.
  private var isInForeground: Bool {
    let group = tcgetpgrp(STDOUT_FILENO)
    return group == -1 || group == getpgrp()
  }

  /// Hides the cursor. In the background, the user types at it into another program.
  private func hideCursor() {
    guard isInForeground else { return }
    isCursorHidden = true
    Terminal.print("\u{1B}[?25l")
  }

  private func updateSize() {
    (columnCount, rowCount) = (Keyboard.columnCount, Keyboard.rowCount)
    entryCount = isInForeground ? LivePane.entryCount(rowCount: rowCount) : 0
    if entryCount == 0 { showsHelp = false }
  }

  // MARK: - Input

  /// Waits until the descriptor is readable, keys are typed, a signal arrives, or the time is over. Handles the
  /// signals, and the keys that concern only the screen.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor, or -1 for none.
  ///   - milliseconds: The maximum time. Negative: no limit.
  /// - Returns: Whether the descriptor is readable, and the actions of the keys.
  func wait(for descriptor: Int32, milliseconds: Int32) -> (isReadable: Bool, actions: [WatchAction]) {
    var limit = notice == nil ? milliseconds : noticeEnd.milliseconds(atMost: milliseconds)
    if decoder.isWithinSequence { limit = sequenceEnd.milliseconds(atMost: limit) }
    let readable = ReadableDescriptors(
      waitingFor: descriptor, hasInput ? STDIN_FILENO : -1, mask: &originalMask, milliseconds: limit)
    let signals = pendingSignals.exchange(0, ordering: .relaxed)
    for number in Self.handledSignals where signals & 1 << UInt64(number) != 0 { handle(signal: number) }
    if notice != nil, noticeEnd.milliseconds(atMost: -1) == 0 { endNotice() }
    let keys = readable.contains(STDIN_FILENO) ? readKeys() : keysOfEndedSequence()
    return (readable.contains(descriptor), actions(of: keys))
  }

  private func readKeys() -> [Key] {
    guard let bytes = Keyboard.read() else { return [] }
    hasInput = !bytes.isEmpty
    defer { if decoder.isWithinSequence { sequenceEnd = Deadline(milliseconds: Self.sequenceMilliseconds) } }
    return decoder.decode(bytes)
  }

  /// The key of an incomplete sequence whose time is over.
  private func keysOfEndedSequence() -> [Key] {
    guard decoder.isWithinSequence, sequenceEnd.milliseconds(atMost: -1) == 0 else { return [] }
    return decoder.endSequence()
  }

  /// The actions of keys, except those that concern only the screen, which are performed.
  private func actions(of keys: [Key]) -> [WatchAction] {
    var actions: [WatchAction] = []
    for action in keys.flatMap(WatchAction.actions) {
      endNotice()
      switch action {
      case .toggleHelp: toggleHelp()
      case .closeHelp: if showsHelp { toggleHelp() }
      case .request, .leave: actions.append(action)
      }
    }
    return actions
  }

  private func toggleHelp() {
    showsHelp.toggle()
    if let pane { show(pane) }
    // Without a pane, the help is a notice.
    if entryCount == 0, showsHelp {
      showsHelp = false
      report(WatchAction.shortHelp)
    }
  }

  private func handle(signal number: Int32) {
    switch number {
    case SIGWINCH: redraw()
    case SIGCONT: resume()
    case SIGTSTP:
      leaveScreen()
      var mask = sigset_t()
      sigemptyset(&mask)
      sigaddset(&mask, SIGTSTP)
      signal(SIGTSTP, SIG_DFL)
      raise(SIGTSTP)
      // The process stops here, until it is continued.
      sigprocmask(SIG_UNBLOCK, &mask, nil)
      sigprocmask(SIG_BLOCK, &mask, nil)
      signal(SIGTSTP) { pendingSignals.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
      // Also without SIGCONT: the kernel does not stop a process without a shell.
      resume()
    default:
      end()
      raise(number)
    }
  }

  /// Continues after a stop, possibly in the background.
  private func resume() {
    hasInput = keyboard.resume()
    hideCursor()
    if hasInput { keyboard.markPastes() }
    redraw()
  }

  /// Draws everything. A terminal that became narrower has already wrapped the line, so that everything below the line
  /// is cleared.
  private func redraw() {
    displayedText = nil
    updateSize()
    if let pane { show(pane) }
  }
}
