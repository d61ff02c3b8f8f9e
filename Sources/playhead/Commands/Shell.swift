// The interactive client. Waits for the keyboard and the daemon at the same time. Lines of the daemon are printed
// above the line being typed.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol
import Synchronization

/// Whether the size of the terminal has changed. Set by the signal handler.
private let hasNewSize = Atomic<Bool>(false)

/// `playhead shell`: sends input lines, and prints the lines of the daemon as they arrive.
struct Shell: ~Copyable {
  private static let prompt = "playhead> "
  /// The id of the request whose reply ends an interactive shell.
  private static let endID = "shell-end"

  private let encoder: RequestEncoder
  /// The player of commands that name none; nil for that of the daemon.
  private let player: [UInt8]?
  private var connection: DaemonConnection
  private var tally = ReplyTally()
  /// The conversion of replies to text for people; nil for the text form of the protocol.
  private var replies: ShellReplies?
  /// Whether a user types at a prompt.
  private var isInteractive: Bool
  private var keyboard = Keyboard()
  private var decoder = KeyDecoder()
  private var editor = LineEditor()
  /// The file of the history; nil if there is none, or after an error.
  private var history: HistoryFile?
  private let glyphs = LiveLine.Glyphs.environment
  /// The text after the last line end, for input that is not a terminal.
  private var partialLine: [UInt8] = []
  private var isInputOpen = true
  /// Whether the daemon has processed all requests of an interactive shell that the user has left.
  private var isLeft = false
  private var hasFailed = false
  /// The signals that are blocked during waits.
  private var waitMask = sigset_t()

  /// Runs until the end of the input and of all replies. Returns status 1 when the input is not a terminal and a
  /// request failed.
  ///
  /// - Throws: `Unreachable` when the daemon disconnected before the last reply.
  ///
  /// - Parameters:
  ///   - isHuman: Whether to print replies for people if a user types.
  ///   - isVerbose: Whether these replies have all fields.
  static func run(
    _ encoder: RequestEncoder, player: [UInt8]?, _ path: String, isHuman: Bool, isVerbose: Bool
  ) throws -> Int32 {
    var shell = Shell(encoder, player: player, try DaemonConnection(path: path))
    if isHuman, shell.isInteractive { shell.replies = ShellReplies(isVerbose: isVerbose) }
    defer { shell.keyboard.end() }
    return try shell.run()
  }

  private init(_ encoder: RequestEncoder, player: [UInt8]?, _ connection: consuming DaemonConnection) {
    self.encoder = encoder
    self.player = player
    self.connection = connection
    isInteractive = keyboard.begin()
    sigprocmask(SIG_BLOCK, nil, &waitMask)
    guard isInteractive else { return }
    keyboard.markPastes()
    history = HistoryFile.standard
    editor = LineEditor(history: history?.lines() ?? [])
    var mask = sigset_t()
    sigemptyset(&mask)
    sigaddset(&mask, SIGWINCH)
    signal(SIGWINCH) { _ in hasNewSize.store(true, ordering: .relaxed) }
    // The signal is delivered only during waits.
    sigprocmask(SIG_BLOCK, &mask, nil)
  }

  private mutating func run() throws -> Int32 {
    showLine()
    while !isLeft, isInputOpen || !isInteractive || !tally.isDelayed {
      let readable = ReadableDescriptors(
        waitingFor: connection.descriptor, isInputOpen ? STDIN_FILENO : -1, mask: &waitMask)
      if hasNewSize.exchange(false, ordering: .relaxed) { showLine() }
      if readable.contains(connection.descriptor) {
        guard try connection.receive() else { break }
        try showReceivedLines()
      }
      if isInputOpen, readable.contains(STDIN_FILENO) { try readInput() }
    }
    if isInteractive, !isInputOpen { return PlayheadClient.Status.done }
    // Later output begins a new line, even after an interruption within a line.
    if isInteractive { Terminal.print("\n") }
    guard tally.isComplete, !tally.isCutOff, !isInputOpen || tally.hasSentBye else {
      throw Unreachable(message: "the daemon at \(connection.path) disconnected")
    }
    return hasFailed && !isInteractive ? PlayheadClient.Status.failure : PlayheadClient.Status.done
  }

  // MARK: - Output

  /// Redraws the prompt and the typed text in the current line.
  private func showLine() {
    guard isInteractive, isInputOpen else { return }
    let display = editor.display(prompt: Self.prompt, columnCount: Keyboard.columnCount, glyphs)
    let movement = display.columnsAfterCursor > 0 ? "\u{1b}[\(display.columnsAfterCursor)D" : ""
    Terminal.print("\r\u{1b}[K\(display.text)\(movement)")
  }

  /// Prints text above the typed text.
  private func printAbove(_ text: [UInt8]) {
    Terminal.print(isInteractive && isInputOpen ? Array("\r\u{1b}[K".utf8) + text : text)
    showLine()
  }

  /// Prints the received lines above the typed text.
  private mutating func showReceivedLines() throws {
    var text: [UInt8] = []
    while let line = connection.nextLine() {
      if isEnd(line) {
        isLeft = true
        break
      }
      if tally.recordReceived(line) { hasFailed = true }
      switch replies?.convert(line, .output) ?? .unchanged {
      case .unchanged: text += line + [UInt8(ascii: "\n")]
      case .text(let converted): text += converted.utf8
      case .request(let words, let id): try sendEncoded(encoder.words(words, id: id))
      }
    }
    if !text.isEmpty { printAbove(text) }
  }

  /// Whether a line is the reply that ends an interactive shell.
  private func isEnd(_ line: [UInt8]) -> Bool {
    guard isInteractive, !isInputOpen else { return false }
    return switch try? ServerLine(parsing: line) {
    case .ok(Self.endID?, _)?, .error(Self.endID?, _, _)?: true
    default: false
    }
  }

  // MARK: - Input

  private mutating func readInput() throws {
    guard let bytes = Keyboard.read() else { return }
    guard !bytes.isEmpty else { return try endInput() }
    if isInteractive {
      for key in decoder.decode(bytes) where isInputOpen { try handle(key) }
      showLine()
    } else {
      for byte in bytes {
        if byte == UInt8(ascii: "\n") {
          try send(partialLine)
          partialLine = []
        } else {
          partialLine.append(byte)
        }
      }
    }
  }

  private mutating func handle(_ key: Key) throws {
    // The line without a search remains on the terminal.
    switch editor.handle(key) {
    case .line(let text)?:
      for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        Terminal.print("\r\u{1b}[K\(Self.prompt)\(Terminal.withoutControls(String(decoding: line, as: UTF8.self)))\n")
        store(Array(line))
        try send(Array(line))
      }
    case .end?: try endInput()
    case .interrupt(let text)?:
      let shown = Terminal.withoutControls(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
      Terminal.print("\r\u{1b}[K\(Self.prompt)\(shown)^C\n")
      if text.isEmpty { Terminal.print("Ctrl-D quits the shell.\n") }
    case .suspend?: stop()
    case .complete?: complete()
    case .clearScreen?: Terminal.print("\u{1b}[H\u{1b}[2J")
    case nil: break
    }
  }

  private mutating func stop() {
    Terminal.print("\n")
    keyboard.raiseSignal(SIGTSTP)
    keyboard.markPastes()
  }

  /// Adds a line to the history.
  private mutating func store(_ line: [UInt8]) {
    guard !line.isEmpty, line != editor.history.last else { return }
    editor.remember(line)
    guard let history, HistoryFile.stores(line) else { return }
    do throws(HistoryFile.Failure) { try history.append(line) } catch {
      // Reported once.
      self.history = nil
      Terminal.printDiagnostic(error.message)
    }
  }

  /// Ends the input after a partial line is sent. The daemon still sends the remaining replies.
  private mutating func endInput() throws {
    guard isInputOpen else { return }
    // Text after the last line end counts too.
    if !partialLine.isEmpty { try send(partialLine) }
    isInputOpen = false
    keyboard.end()
    guard isInteractive else { return connection.finishSending() }
    Terminal.print("\n")
    // Its reply follows those of all requests but the waiting ones with an id. See `ReplyTally.isDelayed`.
    try? connection.send(encoder.words([Array("ping".utf8)], id: Self.endID))
  }

  // MARK: - Completion

  /// Completes the word before the cursor, or lists the candidates.
  private mutating func complete() {
    let path = connection.path
    let player = player.map { String(decoding: $0, as: UTF8.self) }
    let completion = ShellCompletion(
      Array(editor.text[..<editor.cursor]), live: { LiveCandidates.candidates($0, path, player: player) },
      files: PathCandidates.paths)
    if let replacement = completion.replacement { editor.replace(from: completion.start, with: replacement) }
    guard !completion.candidates.isEmpty else { return }
    let columnCount = max(1, Keyboard.columnCount - 1)
    let shown = completion.candidates.prefix(max(5, Keyboard.rowCount - 3))
    let width = shown.map { DisplayWidth.of(Terminal.printable($0.text)) }.max() ?? 0
    var text = ""
    for candidate in shown {
      let name = DisplayWidth.padded(Terminal.printable(candidate.text), to: min(width, 40))
      let row = candidate.summary.isEmpty ? candidate.text : "\(name)  \(candidate.summary)"
      text += DisplayWidth.cut(Terminal.printable(row), to: columnCount, ellipsis: glyphs.ellipsis) + "\n"
    }
    if shown.count < completion.candidates.count { text += "\(completion.candidates.count - shown.count) more\n" }
    printAbove(Array(text.utf8))
  }

  // MARK: - Requests

  /// Sends a line, with its relative paths made absolute and the player of the shell.
  private mutating func send(_ line: [UInt8]) throws(Unreachable) {
    let bytes: [UInt8]
    do throws(MediaError) {
      bytes = try resolved(line)
    } catch {
      Terminal.printDiagnostic(ReplyPrinter.describe(error))
      hasFailed = true
      return
    }
    replies?.recordSent(bytes)
    try sendEncoded(bytes)
  }

  private mutating func sendEncoded(_ bytes: [UInt8]) throws(Unreachable) {
    tally.recordSent(bytes)
    try connection.send(bytes)
  }

  /// The line with absolute paths and the player; unchanged when it is JSON, or needs neither.
  private func resolved(_ line: [UInt8]) throws(MediaError) -> [UInt8] {
    let raw = line + [UInt8(ascii: "\n")]
    if line.first == UInt8(ascii: "{") || line.first == UInt8(ascii: "[") { return raw }
    var words = try CommandLineWords.split(line)
    var id: String?
    if let first = words.first, first.first == UInt8(ascii: "@") {
      id = String(decoding: first.dropFirst(), as: UTF8.self)
      words.removeFirst()
    }
    guard let word = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return raw }
    let name = CommandAlias.resolved(word)
    words[0] = Array(name.utf8)
    guard let spec = CommandName(rawValue: name).flatMap({ CommandTable.spec($0) }),
      case let complete = player.map({ Invocation.words(words, withPlayer: $0) }) ?? words,
      spec.takesPaths || complete.count > words.count || name != word
    else { return raw }
    return try encoder.words(complete, id: id)
  }
}
