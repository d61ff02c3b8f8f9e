// The interactive client: waits for the keyboard and the daemon at once, and for nothing else.
import Glibc
import MediaCore
import WireProtocol

/// `playhead shell`: sends the lines that it reads, and prints what the daemon sends, as it comes.
enum Shell {
  private static let prompt = "playhead> "

  /// Ends with the input, once everything is answered. The status is 1 when the input was no terminal and a request failed.
  static func run(_ encoder: RequestEncoder, _ path: String) throws -> Int32 {
    var connection = try DaemonConnection(path: path)
    let isInteractive = isatty(STDIN_FILENO) != 0
    var input: [UInt8] = []
    var isInputOpen = true
    var hasFailed = false
    var polled = [
      pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
    ]
    if isInteractive { Terminal.print(prompt) }
    while true {
      guard poll(&polled, isInputOpen ? 2 : 1, -1) >= 0 || errno == EINTR else { break }
      if polled[0].revents != 0 {
        guard try connection.receive() else { break }
        var text: [UInt8] = []
        while let line = connection.nextLine() {
          if isError(line) { hasFailed = true }
          text += line + [UInt8(ascii: "\n")]
        }
        show(text, isInteractive && isInputOpen)
      }
      if isInputOpen, polled[1].revents != 0 {
        isInputOpen = readInput(&input)
        // What stands behind the last line end counts, too: a person ended the input there.
        if !isInputOpen, !input.isEmpty { input.append(UInt8(ascii: "\n")) }
        while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
          let line = Array(input[..<end])
          input.removeSubrange(...end)
          if !(try send(line, encoder, connection)) { hasFailed = true }
        }
        if !isInputOpen { connection.finishSending() }
      }
    }
    if isInteractive { Terminal.print("\n") }
    return hasFailed && !isInteractive ? PlayheadClient.Status.refused : PlayheadClient.Status.done
  }

  /// Appends what was typed; false at its end.
  private static func readInput(_ input: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = chunk.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
    if count > 0 { input.append(contentsOf: chunk[..<count]) }
    return count > 0 || (count < 0 && errno == EINTR)
  }

  /// Prints above the prompt, where a person types.
  private static func show(_ text: [UInt8], _ hasPrompt: Bool) {
    guard !text.isEmpty else { return }
    Terminal.print(hasPrompt ? Array("\r\u{1b}[K".utf8) + text + Array(prompt.utf8) : text)
  }

  private static func isError(_ line: [UInt8]) -> Bool {
    if case .error? = try? ServerLine(parsing: line) { return true }
    return line.starts(with: #"{"jsonrpc":"2.0","id":"#.utf8) && line.contains(sequence: Array(#","error":{"#.utf8))
  }

  /// Sends a line: as it is, but for the paths in it. False when it cannot be sent.
  private static func send(
    _ line: [UInt8], _ encoder: RequestEncoder, _ connection: borrowing DaemonConnection
  ) throws(Unreachable) -> Bool {
    let bytes: [UInt8]
    do throws(MediaError) {
      bytes = try resolved(line, encoder)
    } catch {
      Terminal.complain(ReplyPrinter.describe(error))
      return false
    }
    try connection.send(bytes)
    return true
  }

  /// The line with its relative paths made absolute; as it is when it is JSON or has no paths.
  private static func resolved(_ line: [UInt8], _ encoder: RequestEncoder) throws(MediaError) -> [UInt8] {
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
      spec.parameters.contains(where: { $0.kind == .path })
    else { return raw }
    return try encoder.words(words, id: id)
  }
}

extension [UInt8] {
  fileprivate func contains(sequence: [UInt8]) -> Bool {
    guard count >= sequence.count else { return false }
    return (0...(count - sequence.count)).contains { self[$0...].starts(with: sequence) }
  }
}
