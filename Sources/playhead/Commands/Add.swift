// `playhead add`: adds files, and the media files in folders, to the queue, atomically.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

enum Add {
  /// The reason why nothing was added. The client exits with status 1.
  struct Failure: Error {
    var message: String
  }

  /// Finds the files and adds them. Returns the exit status: 1 when a file below a folder could not be read.
  ///
  /// - Throws: `Failure`, `Misuse`, `ErrorReply`, `Unreachable`, `MediaError`.
  static func run(
    _ options: Invocation.AddOptions, outputFormat: Invocation.OutputFormat?, absolute: ([UInt8]) -> [UInt8],
    socketPath: () throws -> String
  ) throws -> Int32 {
    let isHuman = HumanText.isSelected(outputFormat)
    let bar = ProgressBar()
    defer { bar.clear() }
    let search = try find(options, absolute, bar)
    guard !search.files.isEmpty else {
      throw Failure(
        message: "nothing to add: no media files found\(parenthesizedSummary(of: search))")
    }
    var reply = DaemonReply()
    if !options.isDryRun {
      var transfer = AddTransfer(try DaemonConnection(path: socketPath()), options.edit)
      reply = try transfer.send(search.files) { bar.show($0, of: search.files.count) }
    }
    bar.clear()
    if outputFormat != .json { reportOmitted(search, isVerbose: options.isVerbose) }
    switch outputFormat {
    case .json?: Terminal.print(json(search, reply, options))
    case _ where options.isDryRun: Terminal.print(search.files.map { "\(displayText($0))\n" }.joined())
    case _ where isHuman:
      Terminal.print(HumanText.additions("Added", reply.fields))
    default:
      let fields = reply.fields.entries.map { "\($0.name)=\(WordsText.quoted($0.value))" }
      Terminal.print((fields + ["left-out=\(search.omitted.count)"]).joined(separator: " ") + "\n")
    }
    return search.failures.isEmpty ? PlayheadClient.Status.done : PlayheadClient.Status.failure
  }

  // MARK: - Search

  private static func find(
    _ options: Invocation.AddOptions, _ absolute: ([UInt8]) -> [UInt8], _ bar: ProgressBar
  ) throws -> FolderSearch {
    var search = FolderSearch()
    (search.includesAll, search.prefersPlaylists) = (options.includesAll, options.prefersPlaylists)
    search.followsLinks = options.followsLinks
    search.progress = { bar.show("\($0) files found, \($1) names inspected") }
    for (index, path) in options.paths.enumerated() {
      guard !StandardInput.isStandardInput(path) else {
        throw Invocation.Misuse(message: "add does not accept standard input; use `append -`")
      }
      let location = absolute(path)
      // URLs are passed to the daemon without a search.
      guard location.first == UInt8(ascii: "/") else {
        search.add(url: location)
        continue
      }
      let inspectsMedia = index < FileCheck.maximumInspectedMediaCount
      if let problem = FileCheck.problem(of: location, acceptsText: false, inspectsMedia: inspectsMedia) {
        throw failure(path, problem)
      }
      do throws(FolderSearch.Unreadable) { try search.add(cleaned(location)) } catch {
        throw failure(path, error.message)
      }
    }
    return search
  }

  private static func failure(_ path: [UInt8], _ problem: String) -> Failure {
    Failure(message: "nothing added: \(String(decoding: path, as: UTF8.self)): \(problem)")
  }

  /// Removes `/./`, `//` and a trailing slash from an absolute path. `..` is preserved, because a link may precede it.
  static func cleaned(_ path: [UInt8]) -> [UInt8] {
    let parts = path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    return parts.isEmpty ? [UInt8(ascii: "/")] : parts.flatMap { [UInt8(ascii: "/")] + $0 }
  }

  // MARK: - Messages

  /// The path in the form of the wire protocol: on one line, for all bytes.
  private static func displayText(_ path: [UInt8]) -> String {
    WordsText.quoted(FilePath(bytes: path)?.text ?? String(decoding: path, as: UTF8.self))
  }

  /// The maximum number of omitted files that a message names.
  private static let maximumNamedCount = 3

  /// The omitted files with the reasons, such as `/m/cover.jpg: not a media file`.
  private static func namedOmissions(of search: FolderSearch) -> [String] {
    search.omitted.map { path, reason in "\(displayText(path)): \(reason.statement)" }
  }

  /// An array with one summary such as `3 no media, 1 hidden`; empty when nothing was omitted.
  private static func summary(of search: FolderSearch) -> [String] {
    let parts = FolderSearch.Reason.allCases.compactMap { reason -> String? in
      let count = search.omitted.count { $0.reason == reason }
      return count == 0 ? nil : "\(count) \(reason.rawValue)"
    }
    return parts.isEmpty ? [] : [parts.joined(separator: ", ")]
  }

  /// The omitted files or their summary in parentheses; empty when nothing was omitted.
  static func parenthesizedSummary(of search: FolderSearch) -> String {
    let texts = search.omitted.count <= maximumNamedCount ? namedOmissions(of: search) : summary(of: search)
    return texts.isEmpty ? "" : " (omitted: \(texts.joined(separator: ", ")))"
  }

  /// Prints the paths that could not be read, and the omitted paths. Of many paths, prints a summary.
  static func reportOmitted(_ search: FolderSearch, isVerbose: Bool) {
    for (path, error) in search.failures {
      Terminal.printDiagnostic("\(displayText(path)): \(FolderSearch.Unreadable(error: error).message)")
    }
    guard isVerbose || search.omitted.count <= maximumNamedCount else {
      for text in summary(of: search) {
        Terminal.printDiagnostic("omitted: \(text); `add --dry-run --verbose` lists them")
      }
      return
    }
    for text in namedOmissions(of: search) { Terminal.printDiagnostic("omitted \(text)") }
  }

  private static func json(_ search: FolderSearch, _ reply: DaemonReply, _ options: Invocation.AddOptions) -> [UInt8] {
    func text(_ path: [UInt8]) -> JSONValue {
      .string(FilePath(bytes: path)?.text ?? String(decoding: path, as: UTF8.self))
    }
    var members: [JSONValue.Member] = []
    if options.isDryRun { members.append(.init("paths", .array(search.files.map(text)))) }
    if let items = reply.fields.list("items") { members.append(.init("items", .array(items.map { .number($0) }))) }
    for name in ["version", "skipped"] {
      if let value = reply.fields[name] { members.append(.init(name, .number(value))) }
    }
    let omitted = search.omitted.map { path, reason in
      JSONValue.object([.init("path", text(path)), .init("reason", .string(reason.rawValue))])
    }
    members.append(.init("leftOut", .array(omitted)))
    var line: [UInt8] = []
    JSONValue.object(members).append(to: &line)
    return line + [UInt8(ascii: "\n")]
  }
}
