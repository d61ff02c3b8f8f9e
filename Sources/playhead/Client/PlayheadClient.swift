import Glibc
// The client: one request, a watch, or a shell, over a blocking socket.
import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadWireProtocol

/// The program `playhead`. ``ExitStatus`` lists its exit statuses.
@main
enum PlayheadClient {
  /// The exit statuses as numbers.
  enum Status {
    static let done = ExitStatus.done.rawValue
    static let failure = ExitStatus.failure.rawValue
    static let unreachable = ExitStatus.unreachable.rawValue

    /// The exit status of an error reply. A daemon that shuts down counts as disconnected.
    static func of(_ code: MediaError.Code?) -> Int32 { code == .shuttingDown ? unreachable : failure }
  }

  static func main() {
    StandardDescriptors.openMissing()
    let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      // Bytes, because a path need not be UTF-8.
      CommandLine.unsafeArgv[index].map {
        Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map(UInt8.init(bitPattern:))
      }
    }
    exit(run(arguments))
  }

  private static func run(_ arguments: [[UInt8]]) -> Int32 {
    var isJSON = arguments.prefix { $0 != Array("--".utf8) }.contains(Array("--json".utf8))
    var socket: String?
    do {
      var invocation = try Invocation(parsing: arguments)
      invocation.selectPlayer(otherwise: environmentPlayer)
      (isJSON, socket) = (invocation.isJSON, invocation.socket)
      return invocation.startsDaemon ? try performWithDaemon(invocation) : try perform(invocation)
    } catch {
      var failure = Failure(error)
      if (error as? Unreachable)?.isNotRunning == true {
        failure.message += "; start it with: \(DaemonStart.commandLine(socket: socket))"
      }
      failure.printDiagnostic(isJSON: isJSON)
      return failure.status.rawValue
    }
  }

  /// Performs the action, and first starts the daemon if none runs. Returns the exit status.
  private static func performWithDaemon(_ invocation: Invocation) throws -> Int32 {
    // Wrong use starts nothing.
    if case .request(let words) = invocation.action { _ = try checkedArguments(words) }
    if invocation.action.needsDaemon, try !isRunning(invocation.socket) {
      let socket = invocation.socket.map { String(decoding: absolute(Array($0.utf8)), as: UTF8.self) }
      try DaemonStart.start(socket: socket) { (try? isRunning(invocation.socket)) == true }
    }
    return try perform(invocation)
  }

  /// Whether a daemon accepts connections.
  ///
  /// - Throws: `Unreachable` if there is another reason than that no daemon runs.
  private static func isRunning(_ socket: String?) throws(Unreachable) -> Bool {
    let path = try socketPath(socket)
    do throws(Unreachable) {
      _ = try DaemonConnection(path: path)
    } catch {
      guard error.isNotRunning else { throw error }
      return false
    }
    return true
  }

  /// Performs the action of the command line. Returns the exit status.
  private static func perform(_ invocation: Invocation) throws -> Int32 {
    if let seconds = invocation.daemonWait, invocation.action.needsDaemon {
      try DaemonWait.run(until: Invocation.deadline(in: seconds)) { try socketPath(invocation.socket) }
    }
    switch invocation.action {
    case .usage: Terminal.print(HelpText.usage)
    case .version: Terminal.print("playhead \(HelpText.version)\n")
    case .help(let word):
      let command = word.map(CommandAlias.resolved)
      let text = command.map { HelpText.explanation(of: $0).map { Array($0.utf8) } } ?? Array(HelpText.overview.utf8)
      guard let text = invocation.isJSON ? HelpText.json(of: command) : text else {
        throw CommandAlias.unknown(command ?? "")
      }
      Terminal.print(text)
    case .completions(let script): Terminal.print(script.text)
    case .manual(let page): try page.print()
    case .complete(let words): LiveCandidates.print(words) { try socketPath($0 ?? invocation.socket) }
    case .spool(let capacity):
      var spool = Spool(from: STDIN_FILENO, to: STDOUT_FILENO, capacity: capacity)
      spool.run()
    case .request(let words): return try request(words, invocation)
    case .add(let options):
      return try Add.run(options, outputFormat: invocation.outputFormat, absolute: absolute) {
        try socketPath(invocation.socket)
      }
    case .load(let options):
      let load = Load(
        options: options, outputFormat: invocation.outputFormat, absolute: absolute,
        socketPath: { try socketPath(invocation.socket) }, request: { try plainRequest($0, invocation, nil) })
      return try load.run()
    case .watch(let options):
      return try Watch.run(options, encoder, outputFormat: invocation.outputFormat, socketPath(invocation.socket))
    case .wait(let options): return try Wait.run(options, encoder, socketPath(invocation.socket))
    case .save(let options):
      return try Save.run(
        options, encoder, isJSON: invocation.isJSON, absolute: absolute, socketPath(invocation.socket))
    case .get(let options): return try Get.run(options, jsonClient(invocation), isJSON: invocation.isJSON)
    case .list(let options): return try FormattedList.run(options, jsonClient(invocation))
    case .record(let words):
      return try Record.run(
        words, outputFile: invocation.outputFile, invocation.outputFormat, socketPath(invocation.socket),
        command: checkedArguments
      ) { try line(for: $0, invocation) }
    case .inspect(let options):
      let path = try socketPath(invocation.socket)
      var requests = invocation
      // A template needs replies in JSON.
      if options.template != nil { requests.outputFormat = .json }
      return try Inspect.run(options, path, isJSON: invocation.isJSON) { [requests] in try line(for: $0, requests) }
    case .shell:
      return try Shell.run(
        encoder, player: invocation.player, socketPath(invocation.socket),
        isHuman: HumanText.isSelected(invocation.outputFormat), isVerbose: invocation.isVerbose)
    }
    return Status.done
  }

  private static func jsonClient(_ invocation: Invocation) throws -> JSONClient {
    JSONClient(try DaemonConnection(path: socketPath(invocation.socket))) { try encoder.json($0, id: 1) }
  }

  /// The player that the environment selects.
  static var environmentPlayer: [UInt8]? {
    getenv(Invocation.playerVariable).map {
      Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map(UInt8.init(bitPattern:))
    }
  }

  // MARK: - Requests

  /// The arguments of a request, before standard input is transferred.
  ///
  /// - Throws: The errors of wrong use.
  private static func checkedArguments(_ words: [[UInt8]]) throws -> ParsedArguments {
    let encoder = RequestEncoder {
      StandardInput.isStandardInput($0) ? Array(StandardInput.placeholder.utf8) : absolute($0)
    }
    return try RequestCheck.arguments(try encoder.words(words))
  }

  /// Sends a request, with the file of `-o`.
  private static func request(_ words: [[UInt8]], _ invocation: Invocation) throws -> Int32 {
    guard let name = invocation.outputFile else { return try request(words, invocation, nil) }
    let requested = OutputFile.inserting([Array("file=".utf8) + name], into: words)
    let arguments = try checkedArguments(requested)
    if let series = ImageSeries(for: arguments, words) { return try write(series, invocation) }
    guard let output = try OutputFile(for: arguments, words, socketPath: { try socketPath(invocation.socket) }) else {
      return try request(requested, invocation, nil)
    }
    do { return try request(output.words, invocation, output) } catch var reply as ErrorReply {
      reply.error.message = output.naming(reply.error.message)
      throw reply
    }
  }

  /// Writes several images to files of the client, and prints one reply. Returns the exit status.
  private static func write(_ series: ImageSeries, _ invocation: Invocation) throws -> Int32 {
    let path = try socketPath(invocation.socket)
    if invocation.isJSON {
      let client = try jsonClient(invocation)
      let results = try series.write(path, arguments: checkedArguments, request: { try client.request($0) })
      Terminal.print("\(ImageSeries.joined(results).text)\n")
      return Status.done
    }
    guard HumanText.isSelected(invocation.outputFormat) else {
      let client = RequestClient(try DaemonConnection(path: path)) { try encoder.words($0) }
      let results = try series.write(path, arguments: checkedArguments, request: { try client.send($0) })
      let reply = ImageSeries.joined(results)
      for fields in reply.rows + [reply.fields] {
        Terminal.print(fields.entries.map { "\($0.name)=\(WordsText.quoted($0.value))" }.joined(separator: " ") + "\n")
      }
      return Status.done
    }
    let results = try series.write(
      path, arguments: checkedArguments,
      request: { try MediaWork.reply(to: line(for: $0, invocation), path, nil) })
    let text = HumanText(
      ofCommand: ImageCommand.name.rawValue, ImageSeries.joined(results), .output, isVerbose: invocation.isVerbose)
    Terminal.print(text.text)
    return Status.done
  }

  /// Sends a request. Commands that take long show their progress, unless the raw format is requested.
  private static func request(_ words: [[UInt8]], _ invocation: Invocation, _ output: OutputFile?) throws -> Int32 {
    if QueueList.includesAllEntries(words) { return try listQueue(words, invocation) }
    guard invocation.outputFormat != .json, invocation.outputFormat != .raw, !invocation.isVerbose else {
      return try plainRequest(words, invocation, output)
    }
    switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
    case "scan":
      return try Scan.run(try line(for: words, invocation), socketPath(invocation.socket)) { path in
        StandardInput.displayName(ofReplyPath: path, words: words) ?? path
      }
    case "waveform":
      return try WaveformView.run(
        try line(for: WaveformView.words(words), invocation), socketPath(invocation.socket), output)
    case "export": return try MediaWork.export(try line(for: words, invocation), socketPath(invocation.socket), output)
    case "image" where HumanText.isSelected(invocation.outputFormat):
      let reply = try MediaWork.reply(to: try line(for: words, invocation), socketPath(invocation.socket), output)
      Terminal.print(HumanText(ofCommand: "image", reply, .output).text)
      return Status.done
    default: return try plainRequest(words, invocation, output)
    }
  }

  /// Prints all entries of a queue. Returns the exit status.
  private static func listQueue(_ words: [[UInt8]], _ invocation: Invocation) throws -> Int32 {
    // Invalid arguments are reported without a daemon.
    _ = try line(for: words, invocation)
    let connection = try DaemonConnection(path: socketPath(invocation.socket))
    if invocation.isJSON {
      try QueueList.printJSON(words, JSONClient(connection) { try encoder.json($0, id: 1) })
    } else {
      let isHuman = HumanText.isSelected(invocation.outputFormat)
      try QueueList.printText(words, connection, isHuman: isHuman, isVerbose: invocation.isVerbose) {
        try line(for: $0, invocation)
      }
    }
    return Status.done
  }

  /// Sends a request and prints its reply. Returns the exit status.
  private static func plainRequest(
    _ words: [[UInt8]], _ invocation: Invocation, _ output: OutputFile?
  ) throws -> Int32 {
    let line = try Self.line(for: words, invocation)
    var connection = try DaemonConnection(path: socketPath(invocation.socket))
    // The client does not wait for the greeting: the daemon reads when it is ready.
    try connection.sendIgnoringDisconnection(line)
    if HumanText.isSelected(invocation.outputFormat) {
      var reply = try connection.waitForReply()
      reply = try output?.completed(by: reply) ?? reply
      var context: DaemonReply?
      if !invocation.isVerbose, let request = ReplyContext.request(after: words, reply) {
        // The request itself has succeeded, so its reply is printed even without the context.
        try? connection.send(encoder.words(request))
        context = try? connection.waitForReply()
      }
      let command = String(decoding: words.first ?? [], as: UTF8.self)
      let text = HumanText(ofCommand: command, reply, context: context, .output, isVerbose: invocation.isVerbose)
      Terminal.print(text.text)
      return Status.done
    }
    return try connection.waitForLine { line throws in
      let named = try output?.completed(by: line, isJSON: invocation.isJSON) ?? line
      return try ReplyPrinter.print(named, isJSON: invocation.isJSON)
    }
  }

  /// The line of a request. Standard input is transferred when a `-` means a file.
  private static func line(for words: [[UInt8]], _ invocation: Invocation) throws -> [UInt8] {
    try StandardInput.line(
      for: words, socketPath: { try socketPath(invocation.socket) },
      encode: { try encode(words, invocation, input: $0) })
  }

  /// The line of a request, with `input` for each `-` that means a file.
  private static func encode(_ words: [[UInt8]], _ invocation: Invocation, input: String) throws -> [UInt8] {
    let encoder = RequestEncoder { StandardInput.isStandardInput($0) ? Array(input.utf8) : absolute($0) }
    return try invocation.isJSON ? encoder.json(words, id: 1) : encoder.words(words)
  }

  // MARK: - Paths

  /// Encodes requests with absolute paths.
  private static let encoder = RequestEncoder { absolute($0) }

  /// Makes a relative path absolute; a URL is unchanged.
  private static func absolute(_ path: [UInt8]) -> [UInt8] {
    if path.first == UInt8(ascii: "/") || isURL(path) || isDescriptor(path) { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    var absolute = Array(UnsafeBufferPointer(start: folder, count: strlen(folder))).map(UInt8.init(bitPattern:))
    if absolute.last != UInt8(ascii: "/") { absolute.append(UInt8(ascii: "/")) }
    return absolute + (path.starts(with: "./".utf8) ? path.dropFirst(2) : path[...])
  }

  /// Whether the text is `fd:TOKEN`. A file with such a name needs `./`.
  private static func isDescriptor(_ path: [UInt8]) -> Bool {
    FilePath.descriptorToken(of: String(decoding: path, as: UTF8.self)) != nil
  }

  /// Whether the text begins with a scheme and `://` (RFC 3986 section 3.1).
  private static func isURL(_ path: [UInt8]) -> Bool {
    let scheme = path.prefix { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }
    return !scheme.isEmpty && path[scheme.count...].starts(with: "://".utf8)
  }

  /// The specified socket, or else the socket that `SocketLocation` chooses.
  ///
  /// - Throws: `Unreachable` for a missing folder that must be owned by the user, or for a folder that another user
  ///   may have created.
  private static func socketPath(_ socket: String?) throws(Unreachable) -> String {
    if let socket { return socket }
    let choice = SocketLocation.choose(
      environment: { getenv($0).map { String(cString: $0) } }, userID: geteuid(),
      isFolder: { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      })
    guard choice.requiresFolderOwnership else { return choice.path }
    let folder = String(choice.path.prefix(upTo: choice.path.lastIndex(of: "/") ?? choice.path.endIndex))
    var status = stat()
    guard lstat(folder, &status) == 0 else {
      throw Unreachable(message: "no daemon at \(choice.path)", isNotRunning: errno == ENOENT)
    }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw Unreachable(message: "\(folder) must be a folder that only your user can write; see --socket")
    }
    return choice.path
  }
}
