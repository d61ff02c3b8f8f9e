// `playhead record`: the daemon records to a file, and the client shows the level. Keys, or standard input, pause and
// end the recording. A signal that ends the client also ends the recording, so that no microphone stays open by
// accident. After SIGKILL, the recording continues. With `-o`, the client opens the file, gives it its name after the
// recording, and repairs it if the daemon ends first.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

/// The pipe with which signal handlers end the recording.
nonisolated(unsafe) private var endPipe: (read: Int32, write: Int32) = (-1, -1)

enum Record {
  /// Records until Enter, `q`, the end of standard input, or a signal. Returns the exit status: 1 when the
  /// recording ended with an error.
  ///
  /// - Parameters:
  ///   - outputFile: The file of `-o`. Nil: the words contain the file. The daemon opens it below a folder that it may
  ///     write, and the client otherwise.
  ///   - command: Parses a request.
  /// - Throws: `ErrorReply`, `Unreachable`, `Misuse`, or the errors of `command` and `encode`.
  static func run(
    _ words: [[UInt8]], outputFile: [UInt8]?, _ outputFormat: Invocation.OutputFormat?, _ socket: String,
    command: ([[UInt8]]) throws -> ParsedArguments, encode: @escaping ([[UInt8]]) throws -> [UInt8]
  ) throws -> Int32 {
    do {
      return try record(words, outputFile: outputFile, outputFormat, socket, command: command, encode: encode)
    } catch let reply as ErrorReply where reply.error.code == .outsideRoots && outputFile == nil {
      // The daemon has no folder for this file, and the client may have one.
      guard let (file, options) = separated(words) else { throw reply }
      return try record(options, outputFile: file, outputFormat, socket, command: command, encode: encode)
    }
  }

  /// Separates the file from the options. Nil if the words do not contain one file.
  private static func separated(_ words: [[UInt8]]) -> (file: [UInt8], options: [[UInt8]])? {
    let parameters = Invocation.recordParameters
    func isOption(_ word: [UInt8]) -> Bool {
      let key = word.prefix { $0 != UInt8(ascii: "=") }
      return parameters.contains { parameter in
        key.elementsEqual(parameter.name.rawValue.utf8) && (key.count < word.count || parameter.kind == .flag)
      }
    }
    let beginning = words.prefix { !$0.elementsEqual("--".utf8) }
    let files = beginning.filter { !isOption($0) } + words[beginning.endIndex...].dropFirst()
    guard files.count == 1, let file = files.first else { return nil }
    return (file, beginning.filter(isOption))
  }

  private static func record(
    _ words: [[UInt8]], outputFile: [UInt8]?, _ outputFormat: Invocation.OutputFormat?, _ socket: String,
    command: ([[UInt8]]) throws -> ParsedArguments, encode: @escaping ([[UInt8]]) throws -> [UInt8]
  ) throws -> Int32 {
    var (prepare, start) = split(words)
    // Check the words before connecting.
    let startLine = try encode(start)
    var output: OutputRecording?
    if let outputFile {
      let recording = try recording(prepare, to: outputFile, command)
      output = try OutputRecording(recording, socketPath: socket)
      prepare = prepareWords(prepare, recording, descriptorPath: output?.descriptorPath ?? "")
    }
    do {
      let prepareLine = try encode(prepare)
      var session = Session(
        try DaemonConnection(path: socket), outputFormat, output,
        hasDuration: start.contains { $0.starts(with: "duration=".utf8) })
      return try session.run(prepare: prepareLine, start: startLine, encode)
    } catch {
      // Nothing was recorded to a file that a session has not used.
      output?.discard()
      throw error
    }
  }

  /// The recording that `record.prepare` would make to the file of `-o`.
  ///
  /// - Throws: `Invocation.Misuse` without a known container, or the errors of `command`.
  private static func recording(
    _ prepare: [[UInt8]], to file: [UInt8], _ command: ([[UInt8]]) throws -> ParsedArguments
  ) throws -> RecordingRequest {
    guard !prepare.contains(Array("--".utf8)) else {
      throw Invocation.Misuse(message: "record accepts no file name with -o")
    }
    guard FilePath.descriptorToken(of: String(decoding: file, as: UTF8.self)) == nil else {
      throw Invocation.Misuse(message: "-o needs the path of a file")
    }
    let arguments = Arguments<RecordPrepareCommand>(parsed: try command(prepare + [Array("--".utf8), file]))
    var recording = arguments.recording
    let name = String(decoding: recording.file.bytes, as: UTF8.self).split(separator: "/").last ?? ""
    let fileExtension = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
    recording.container = recording.container ?? .init(fileExtension: String(fileExtension))
    guard recording.container != nil else {
      throw Invocation.Misuse(
        message: "the extension of the file name must be wav, caf, flac, m4a, ogg or opus, or --container must be given"
          + " (got '\(fileExtension.prefix(16))')")
    }
    return recording
  }

  /// The words of `record.prepare` with the passed descriptor.
  private static func prepareWords(
    _ prepare: [[UInt8]], _ recording: RecordingRequest, descriptorPath: String
  ) -> [[UInt8]] {
    let options = prepare.filter { word in
      !word.elementsEqual("replace".utf8) && !["replace=", "container="].contains { word.starts(with: $0.utf8) }
    }
    let container = recording.container?.rawValue ?? ""
    return OutputFile.inserting([Array(descriptorPath.utf8), Array("container=\(container)".utf8)], into: options)
  }

  /// Splits the words into those of `record.prepare` and those of `record.start`.
  private static func split(_ words: [[UInt8]]) -> (prepare: [[UInt8]], start: [[UInt8]]) {
    let isStartOption = { (word: [UInt8]) in
      word.starts(with: "duration=".utf8) || word.starts(with: "at=".utf8)
    }
    let options = words.prefix { $0 != Array("--".utf8) }
    return (
      [Array("record.prepare".utf8)] + options.filter { !isStartOption($0) } + words[options.endIndex...],
      [Array("record.start".utf8)] + options.filter(isStartOption)
    )
  }

  /// A recording over a connection.
  private struct Session: ~Copyable {
    private var connection: DaemonConnection
    private let outputFormat: Invocation.OutputFormat?
    /// The file of `-o`. Nil: the daemon opens the file.
    private let output: OutputRecording?
    /// Whether `record.start` has a duration, which ends the recording automatically.
    private let hasDuration: Bool
    /// Whether the state and the level are displayed on standard error.
    private let showsLevel: Bool
    private var keyboard = Keyboard()
    /// The id of the recorder.
    private var recorderID = ""
    private var state = "preparing"
    /// The recorded time in seconds.
    private var time = "0"
    /// The peak level of the loudest channel, in dB.
    private var peakDecibels = -160.0
    /// The same level in the scale of the meter, 0 to 1.
    private var peakScale = 0.0
    /// The position of the peak mark, 0 to 1.
    private var peakHold = 0.0
    /// The number of source frames that were lost.
    private var lostFrameCount = "0"
    /// Whether `record.stop` was sent.
    private var isEnding = false
    /// Whether standard input is still read.
    private var hasInput = true
    /// Whether the reply to `record.stop` has arrived.
    private var isFinished = false
    private var exitStatus = PlayheadClient.Status.done

    init(
      _ connection: consuming DaemonConnection, _ outputFormat: Invocation.OutputFormat?, _ output: OutputRecording?,
      hasDuration: Bool
    ) {
      self.connection = connection
      (self.outputFormat, self.output, self.hasDuration) = (outputFormat, output, hasDuration)
      showsLevel = isatty(STDERR_FILENO) == 1 && outputFormat != .json && outputFormat != .raw
    }

    mutating func run(
      prepare: [UInt8], start: [UInt8], _ encode: ([[UInt8]]) throws -> [UInt8]
    ) throws -> Int32 {
      try makeEndPipe()
      installSignalHandlers()
      defer { keyboard.end() }
      try connection.sendIgnoringDisconnection(prepare)
      do { recorderID = try connection.waitForReply().fields["recorder"] ?? "" } catch var reply as ErrorReply {
        reply.error.message = output?.naming(reply.error.message) ?? reply.error.message
        throw reply
      }
      do { try record(start: start, encode) } catch {
        guard let output, !isFinished else { throw error }
        // Without this client, nothing would give the file its name.
        try? connection.send(try encode(words(["record.stop", recorderID])))
        throw Self.appending(output.recover(), to: error)
      }
      return exitStatus
    }

    /// Appends a sentence to the message of an error.
    private static func appending(_ sentence: String, to error: any Error) -> any Error {
      switch error {
      case var error as ErrorReply:
        error.error.message += "; \(sentence)"
        return error
      case var error as Unreachable:
        error.message += "; \(sentence)"
        return error
      default: return error
      }
    }

    /// Records with a prepared recorder.
    private mutating func record(start: [UInt8], _ encode: ([[UInt8]]) throws -> [UInt8]) throws {
      let isTerminal = keyboard.begin()
      // `Keyboard.begin` has replaced the handlers.
      installSignalHandlers()
      let watch = try encode(words(["record.watch", recorderID] + (showsLevel ? ["rate=20"] : [])))
      try connection.send(watch)
      _ = try connection.waitForReply()
      try connection.send(start)
      if showsLevel { show(isTerminal ? "Space: pause. Enter: stop." : "") }
      while !isFinished {
        while let line = connection.nextLine() { try receive(line) }
        if showsLevel, !isFinished { draw() }
        if isFinished { break }
        try wait(encode)
      }
    }

    private func words(_ texts: [String]) -> [[UInt8]] { texts.filter { !$0.isEmpty }.map { Array($0.utf8) } }

    /// Creates the pipe that makes signals readable.
    private func makeEndPipe() throws {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw Unreachable(message: "too many open files: no pipe can be created") }
      endPipe = (ends[0], ends[1])
    }

    private func installSignalHandlers() {
      for number in [SIGINT, SIGTERM, SIGHUP] {
        signal(number) { _ in
          var byte: UInt8 = 0
          _ = Glibc.write(endPipe.write, &byte, 1)
        }
      }
    }

    // MARK: - Input

    /// Waits for lines of the daemon, keys or a signal, and handles keys and signals.
    private mutating func wait(_ encode: ([[UInt8]]) throws -> [UInt8]) throws {
      var polled = [
        pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: endPipe.read, events: Int16(POLLIN), revents: 0),
        pollfd(fd: hasInput ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&polled, nfds_t(polled.count), -1) > 0 else { return }
      if polled[1].revents != 0 {
        var byte: UInt8 = 0
        _ = Glibc.read(endPipe.read, &byte, 1)
        try end(encode)
      }
      if polled[2].revents != 0 { try readKeys(encode) }
      if polled[0].revents != 0, try !connection.receive() {
        throw Unreachable(
          message: output == nil
            ? "the daemon disconnected; it completes the recording at its next start" : "the daemon disconnected")
      }
    }

    private mutating func readKeys(_ encode: ([[UInt8]]) throws -> [UInt8]) throws {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = bytes.withUnsafeMutableBytes { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else {
        // Without keyboard input, a recording with a duration ends automatically.
        hasInput = false
        if !hasDuration { try end(encode) }
        return
      }
      for key in bytes[..<count] {
        switch key {
        case UInt8(ascii: " "), UInt8(ascii: "p"):
          // The key refers to the displayed state.
          let word = state == "paused" ? "record.start" : "record.pause"
          state = state == "paused" ? "recording" : "paused"
          try connection.send(try encode(words([word, recorderID])))
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "q"), 3, 4: try end(encode)
        default: break
        }
      }
    }

    /// Ends the recording, once. The reply ends the session.
    private mutating func end(_ encode: ([[UInt8]]) throws -> [UInt8]) throws {
      guard !isEnding else { return }
      isEnding = true
      try connection.send(Array("@stop ".utf8) + (try encode(words(["record.stop", recorderID]))))
    }

    private mutating func receive(_ line: [UInt8]) throws {
      switch try ServerLine(parsing: line) {
      case .event(EventName.recording.rawValue, let fields):
        state = fields["state"] ?? state
        lostFrameCount = fields["lost"] ?? lostFrameCount
        if state == "stopped", !isEnding {
          isEnding = true
          try connection.send(Array("@stop record.stop \(recorderID)\n".utf8))
        }
      case .event(EventName.recordMeter.rawValue, let fields):
        time = fields["time"] ?? time
        let levels = (fields["peak"] ?? "").split(separator: ",").compactMap { Double($0) }
        peakDecibels = levels.max() ?? -160
        peakScale = (fields["peakScale"] ?? "").split(separator: ",").compactMap { Double($0) }.max() ?? 0
        // The peak mark falls slowly.
        peakHold = max(peakScale, peakHold - 0.02)
      case .event(EventName.closing.rawValue, let fields):
        throw Unreachable(message: fields["message"] ?? "the daemon closed the connection")
      case .ok(let id, let fields): if id == "stop" { try finish(fields) }
      case .error(let id, let error, _):
        // A pause that arrives too late is harmless.
        guard id != "stop", isEnding || error.code == .invalidState else { throw ErrorReply(error: error) }
      case .event, .hello, .row: break
      }
    }

    private mutating func finish(_ fields: ServerLine.TextFields) throws {
      isFinished = true
      if showsLevel { show("") }
      var file = fields["file"]
      var unnamedOutput: OutputRecording?
      if let output {
        if file != nil {
          try output.commit()
        } else if output.isEmpty {
          output.discard()
        } else {
          // The daemon could not complete the file, so it may contain audio.
          unnamedOutput = output
        }
        file = file.map(output.naming)
      }
      if let file {
        let duration = fields["duration"].map { ClockTime.precise($0) } ?? "unknown duration"
        Terminal.print("\(Terminal.printable(file)): \(duration), \(fields["size"] ?? "0") bytes\n")
      }
      if let count = fields["lost"].flatMap({ Int($0) }), count > 0 {
        Terminal.printDiagnostic("\(count) samples of the source were lost and replaced by silence")
      }
      if let message = fields["message"] {
        Terminal.printDiagnostic(Terminal.printable(output?.naming(message) ?? message))
        exitStatus = PlayheadClient.Status.failure
      }
      if let unnamedOutput {
        Terminal.printDiagnostic(Terminal.printable(unnamedOutput.recover()))
        exitStatus = PlayheadClient.Status.failure
      }
    }

    // MARK: - Display

    private func show(_ text: String) {
      let width = max(1, Keyboard.columnCount(of: STDERR_FILENO) - 1)
      Terminal.write(Array("\r\u{1B}[K\(DisplayWidth.cut(text, to: width, ellipsis: "."))".utf8), to: STDERR_FILENO)
    }

    private func draw() {
      let width = max(10, min(40, Keyboard.columnCount(of: STDERR_FILENO) - 40))
      let filled = Int((peakScale * Double(width)).rounded())
      let mark = min(width - 1, Int((peakHold * Double(width)).rounded()))
      var bar = ""
      for column in 0..<width { bar += column < filled ? "=" : column == mark && mark > 0 ? "|" : " " }
      let level = peakDecibels <= -160 ? "-inf" : "\(Int(peakDecibels.rounded()))"
      let stateText = state == "recording" ? "REC" : state == "paused" ? "paused" : state
      let lostText = lostFrameCount == "0" ? "" : "  lost \(lostFrameCount)"
      show("\(stateText)  \(ClockTime.precise(time))  [\(bar)] \(level) dB\(lostText)")
    }
  }
}
