// `playhead load`, `append`, `insert` and `play FILE...`: checks the files, and adds them to the queue.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

/// Adds the files that a user names, and the media files in folders, to a queue. Nothing changes if a file cannot be
/// media.
struct Load {
  let options: Invocation.LoadOptions
  let outputFormat: Invocation.OutputFormat?
  /// Makes paths absolute.
  let absolute: ([UInt8]) -> [UInt8]
  let socketPath: () throws -> String
  /// Sends a request, and prints its reply.
  let request: ([[UInt8]]) throws -> Int32

  /// The beginning of the messages: `nothing loaded`.
  private var nothingDone: String { options.edit.command == LoadCommand.name ? "nothing loaded" : "nothing added" }

  /// Checks and adds the files. Returns the exit status: 1 when a file below a folder could not be read.
  ///
  /// - Throws: `Failure`, `Misuse`, `ErrorReply`, `Unreachable`, `MediaError`.
  func run() throws -> Int32 {
    try checkSyntax()
    try StandardInput.check(options.paths)
    let bar = ProgressBar()
    defer { bar.clear() }
    let search = try find(bar)
    guard !search.files.isEmpty else {
      throw Add.Failure(message: "\(nothingDone): no media files found\(Add.parenthesizedSummary(of: search))")
    }
    try add(search.files, bar)
    if outputFormat != .json { Add.reportOmitted(search, isVerbose: false) }
    // The only output is the reply to the edit: one value in JSON.
    if options.plays {
      let client = RequestClient(try DaemonConnection(path: socketPath())) { try RequestEncoder().words($0) }
      _ = try client.send([Array("play".utf8)] + options.edit.words(of: .player))
    }
    return search.failures.isEmpty ? PlayheadClient.Status.done : PlayheadClient.Status.failure
  }

  // MARK: - Checks

  /// Checks the options and the form of the paths.
  ///
  /// - Throws: The error that the daemon would return.
  private func checkSyntax() throws {
    guard !options.paths.isEmpty else {
      throw Invocation.Misuse(
        message: "\(options.edit.command.rawValue) needs a file, a folder, a playlist, an address, or -; "
          + "see playhead \(options.edit.command.rawValue) --help")
    }
    let encoder = RequestEncoder()
    let paths = options.paths.map { path in
      StandardInput.isStandardInput(path)
        ? Array(StandardInput.placeholder.utf8) : path.isEmpty ? path : absolute(path)
    }
    for batch in AddTransfer.batches(paths, options: options.edit.options) {
      try RequestCheck.check(encoder.words(words(batch)))
    }
  }

  /// Checks the files, and searches the folders.
  private func find(_ bar: ProgressBar) throws -> FolderSearch {
    var search = FolderSearch()
    search.progress = { bar.show("\($0) files found, \($1) names inspected") }
    for (index, path) in options.paths.enumerated() {
      guard !StandardInput.isStandardInput(path), let file = localFile(path) else {
        search.add(url: path)
        continue
      }
      let location = try checked(
        file, namedAs: path, inspectsMedia: index < FileCheck.maximumInspectedMediaCount)
      do throws(FolderSearch.Unreadable) { try search.add(location) } catch {
        throw failure(path, error.message)
      }
    }
    return search
  }

  /// The absolute path of a local file; nil for another location.
  private func localFile(_ path: [UInt8]) -> [UInt8]? {
    let location = absolute(path)
    if location.first == UInt8(ascii: "/") { return location }
    let file = try? FilePath(text: String(decoding: location, as: UTF8.self))
    return file.flatMap { $0.isFile ? $0.bytes : nil }
  }

  /// The path of a file or folder that can be added.
  private func checked(
    _ file: [UInt8], namedAs path: [UInt8], inspectsMedia: Bool
  ) throws(Add.Failure) -> [UInt8] {
    let isPlaylist = options.edit.value(of: .list)?.elementsEqual("true".utf8) == true
    if let problem = FileCheck.problem(of: file, acceptsText: isPlaylist, inspectsMedia: inspectsMedia) {
      throw failure(path, problem == FileCheck.textFile ? "\(problem) (list=true reads a playlist)" : problem)
    }
    guard FileCheck.isFolder(file) else { return file }
    guard !isPlaylist else { throw failure(path, "a folder, not a playlist") }
    return Add.cleaned(file)
  }

  private func failure(_ path: [UInt8], _ problem: String) -> Add.Failure {
    Add.Failure(message: "\(nothingDone): \(String(decoding: path, as: UTF8.self)): \(problem)")
  }

  // MARK: - Requests

  private func words(_ paths: some Collection<[UInt8]>) -> [[UInt8]] {
    [Array(options.edit.command.rawValue.utf8)] + options.edit.options + [Array("--".utf8)] + paths
  }

  private func add(_ files: [[UInt8]], _ bar: ProgressBar) throws {
    if AddTransfer.fitsInLine(files, options: options.edit.options) {
      do {
        bar.clear()
        _ = try request(words(files))
        return
      } catch let reply as ErrorReply where reply.error.code == .lineTooLong && files.count > 1 {
        // This daemon accepts only shorter lines.
      }
    }
    let paths = try files.map { path in
      guard StandardInput.isStandardInput(path) else { return path }
      return Array(try StandardInput.pass(forQueue: true, socketPath: socketPath()).utf8)
    }
    var transfer = AddTransfer(try DaemonConnection(path: socketPath()), options.edit)
    let reply = try transfer.send(paths) { bar.show($0, of: paths.count) }
    bar.clear()
    print(reply)
  }

  /// Prints the reply to an edit of several requests in the form of the reply to one.
  private func print(_ reply: DaemonReply) {
    if outputFormat == .json {
      var members: [JSONValue.Member] = []
      if let items = reply.fields.list("items") { members.append(.init("items", .array(items.map { .number($0) }))) }
      if let version = reply.fields["version"] { members.append(.init("version", .number(version))) }
      members.append(.init("rows", .array([])))
      var line: [UInt8] = []
      JSONValue.object(members).append(to: &line)
      Terminal.print(line + [UInt8(ascii: "\n")])
    } else if HumanText.isSelected(outputFormat) {
      Terminal.print(HumanText(ofCommand: options.edit.command.rawValue, reply, .output).text)
    } else {
      let fields = reply.fields.entries.map { "\($0.name)=\(WordsText.quoted($0.value))" }
      Terminal.print(fields.joined(separator: " ") + "\n")
    }
  }
}
