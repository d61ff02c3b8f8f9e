// The interactive client. Waits for the keyboard and the daemon at the same time. Lines of the daemon are printed
// above the line being typed.
import Glibc
import MediaCore
import WireProtocol

/// `playhead shell`: sends input lines, and prints the lines of the daemon as they arrive.
struct Shell: ~Copyable {
  private static let prompt = Array("playhead> ".utf8)

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
  private var editor = LineEditor()
  /// The text after the last line end, for input that is not a terminal.
  private var partialLine: [UInt8] = []
  private var isInputOpen = true
  private var hasFailed = false

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
  }

  private mutating func run() throws -> Int32 {
    var polled = [
      pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
    ]
    showLine()
    while true {
      guard poll(&polled, isInputOpen ? 2 : 1, -1) >= 0 else {
        if errno == EINTR { continue }
        break
      }
      if polled[0].revents != 0 {
        guard try connection.receive() else { break }
        try showReceivedLines()
      }
      if isInputOpen, polled[1].revents != 0 { try readInput() }
    }
    // Later output begins a new line, even after an interruption within a line.
    if isInteractive, isInputOpen { Terminal.print("\n") }
    guard tally.isComplete, !tally.isCutOff, !isInputOpen || tally.hasSentBye else {
      throw Unreachable(message: "the daemon at \(connection.path) disconnected")
    }
    return hasFailed && !isInteractive ? PlayheadClient.Status.failure : PlayheadClient.Status.done
  }

  // MARK: - Output

  /// Redraws the prompt and the typed text in the current line.
  private func showLine() {
    guard isInteractive, isInputOpen else { return }
    let room = Keyboard.columnCount - Self.prompt.count - 1
    Terminal.print(Array("\r\u{1b}[K".utf8) + Self.prompt + editor.visibleText(columnCount: room))
  }

  /// Prints the received lines above the typed text.
  private mutating func showReceivedLines() throws {
    var text: [UInt8] = []
    while let line = connection.nextLine() {
      if tally.recordReceived(line) { hasFailed = true }
      switch replies?.convert(line, .output) ?? .unchanged {
      case .unchanged: text += line + [UInt8(ascii: "\n")]
      case .text(let converted): text += converted.utf8
      case .request(let words, let id): try sendEncoded(encoder.words(words, id: id))
      }
    }
    guard !text.isEmpty else { return }
    Terminal.print(isInteractive && isInputOpen ? Array("\r\u{1b}[K".utf8) + text : text)
    showLine()
  }

  // MARK: - Input

  private mutating func readInput() throws(Unreachable) {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = chunk.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    for byte in chunk.prefix(max(0, count)) where isInputOpen { try handle(byte) }
    if count <= 0 { try endInput() }
    if isInputOpen { showLine() }
  }

  private mutating func handle(_ byte: UInt8) throws(Unreachable) {
    guard isInteractive else {
      guard byte == UInt8(ascii: "\n") else { return partialLine.append(byte) }
      try send(partialLine)
      partialLine = []
      return
    }
    let before = editor.text
    switch editor.handle(byte) {
    case .line(let line)?:
      Terminal.print(Array("\r\u{1b}[K".utf8) + Self.prompt + before + [UInt8(ascii: "\n")])
      try send(line)
    case .end?: try endInput()
    case .interrupt?: raiseSignal(SIGINT)
    case .suspend?: raiseSignal(SIGTSTP)
    case nil: break
    }
  }

  private mutating func raiseSignal(_ number: Int32) {
    Terminal.print("\n")
    keyboard.raiseSignal(number)
  }

  /// Ends the input after a partial line is sent. The daemon still sends the remaining replies.
  private mutating func endInput() throws(Unreachable) {
    guard isInputOpen else { return }
    // Text after the last line end counts too.
    if !partialLine.isEmpty { try send(partialLine) }
    isInputOpen = false
    keyboard.end()
    if isInteractive { Terminal.print("\n") }
    connection.finishSending()
  }

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
    guard let name = words.first.map({ String(decoding: $0, as: UTF8.self) }),
      let spec = CommandName(rawValue: name).flatMap({ CommandTable.spec($0) }),
      case let complete = player.map({ Invocation.words(words, withPlayer: $0) }) ?? words,
      spec.takesPaths || complete.count > words.count
    else { return raw }
    return try encoder.words(complete, id: id)
  }
}
