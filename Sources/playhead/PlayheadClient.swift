// The client: one request, or a watch, or a shell, over a blocking socket.
import Glibc
import MediaCore
import WireProtocol

/// `playhead`. Exit status: 0 done, 1 an error reply, 2 wrong use (no daemon is asked), 3 no daemon, or it went away.
@main
enum PlayheadClient {
  enum Status {
    static let done: Int32 = 0
    static let refused: Int32 = 1
    static let misused: Int32 = 2
    static let unreachable: Int32 = 3

    /// What an error reply ends the client with: a daemon that stops is one that goes away.
    static func of(_ code: MediaError.Code?) -> Int32 { code == .shuttingDown ? unreachable : refused }
  }

  static func main() {
    let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      // Bytes, because a path need not be UTF-8.
      CommandLine.unsafeArgv[index].map {
        Array(UnsafeBufferPointer(start: $0, count: strlen($0))).map(UInt8.init(bitPattern:))
      }
    }
    exit(run(arguments))
  }

  private static func run(_ arguments: [[UInt8]]) -> Int32 {
    do {
      let invocation = try Invocation(parsing: arguments)
      switch invocation.action {
      case .usage: Terminal.print(HelpText.usage)
      case .version: Terminal.print("playhead \(HelpText.version)\n")
      case .help(nil): Terminal.print(HelpText.overview)
      case .help(let command?):
        guard let text = HelpText.explanation(of: command) else {
          throw Invocation.Misuse(message: "there is no command \(command); playhead help lists them")
        }
        Terminal.print(text)
      case .request(let words) where words.first == Array("scan".utf8) && !invocation.isJSON:
        return try Scan.run(try line(for: words, invocation), socketPath(invocation))
      case .request(let words): return try request(words, invocation)
      case .watch(let options):
        return try Watch.run(options, encoder, isJSON: invocation.isJSON, socketPath(invocation))
      case .save(let options): return try Save.run(options, encoder, absolute: absolute, socketPath(invocation))
      case .inspect(let options):
        return try Inspect.run(options, socketPath(invocation)) { try line(for: $0, invocation) }
      case .shell: return try Shell.run(encoder, socketPath(invocation))
      }
      return Status.done
    } catch let failure as Save.Failure {
      Terminal.complain(failure.message)
      return Status.refused
    } catch let refusal as Refusal {
      Terminal.complain(ReplyPrinter.describe(refusal.error))
      return refusal.status
    } catch let misuse as Invocation.Misuse {
      Terminal.complain(misuse.message)
      return Status.misused
    } catch let error as MediaError {
      // A request that cannot be sent, or that no daemon would take.
      Terminal.complain(ReplyPrinter.describe(error))
      return Status.misused
    } catch {
      Terminal.complain((error as? Unreachable)?.message ?? "\(error)")
      return Status.unreachable
    }
  }

  // MARK: - One request

  private static func request(_ words: [[UInt8]], _ invocation: Invocation) throws -> Int32 {
    let line = try line(for: words, invocation)
    var connection = try DaemonConnection(path: socketPath(invocation))
    // The greeting need not be waited for: the daemon reads when it is ready. One that refuses the connection has closed it
    // perhaps, and has said why.
    try? connection.send(line)
    return try connection.waitForLine { ReplyPrinter.printed($0, isJSON: invocation.isJSON) }
  }

  /// A request's line. Standard input is handed over where a `-` stands for a file.
  private static func line(for words: [[UInt8]], _ invocation: Invocation) throws -> [UInt8] {
    try StandardInput.line(
      for: words, socketPath: { try socketPath(invocation) },
      encode: { try encode(words, invocation, input: $0) })
  }

  /// The request's line, in which `input` stands where `-` stands for a file.
  private static func encode(_ words: [[UInt8]], _ invocation: Invocation, input: String) throws -> [UInt8] {
    let encoder = RequestEncoder { StandardInput.isMeant($0) ? Array(input.utf8) : absolute($0) }
    return try invocation.isJSON ? encoder.json(words, id: 1) : encoder.words(words)
  }

  // MARK: - Paths

  /// Makes the paths that people write absolute; URLs stay as they are.
  private static let encoder = RequestEncoder { absolute($0) }

  private static func absolute(_ path: [UInt8]) -> [UInt8] {
    if path.first == UInt8(ascii: "/") || isURL(path) { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    var absolute = Array(UnsafeBufferPointer(start: folder, count: strlen(folder))).map(UInt8.init(bitPattern:))
    if absolute.last != UInt8(ascii: "/") { absolute.append(UInt8(ascii: "/")) }
    return absolute + (path.starts(with: "./".utf8) ? path.dropFirst(2) : path[...])
  }

  /// Whether it begins with a scheme and `://` (RFC 3986 section 3.1).
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

  /// Where the daemon is, or should be. Errors: `Unreachable` for a folder that somebody else may have put there.
  private static func socketPath(_ invocation: Invocation) throws(Unreachable) -> String {
    if let socket = invocation.socket { return socket }
    let choice = SocketLocation.choose(
      environment: { getenv($0).map { String(cString: $0) } }, userID: geteuid(),
      isFolder: { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      })
    guard choice.needsOwnedFolder else { return choice.path }
    let folder = String(choice.path.prefix(upTo: choice.path.lastIndex(of: "/") ?? choice.path.endIndex))
    var status = stat()
    guard lstat(folder, &status) == 0 else { throw Unreachable(message: "no daemon at \(choice.path)") }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw Unreachable(message: "\(folder) is not a folder that only you can write to; see --socket")
    }
    return choice.path
  }
}
