import MediaCore
import WireProtocol

/// `info` and `tags` in JSON: one object per line for each file, from the replies of the daemon.
final class InspectJSON {
  /// Encodes the words of a request as a line of JSON.
  private let encode: ([[UInt8]]) throws -> [UInt8]
  private var connection: DaemonConnection

  init(_ connection: consuming DaemonConnection, encode: @escaping ([[UInt8]]) throws -> [UInt8]) {
    self.encode = encode
    self.connection = connection
  }

  /// Prints an object for each file, or an error on standard error for a file that cannot be read. Returns the exit
  /// status. `opening` returns the words of the request that opens a file.
  func run(_ options: Invocation.InspectOptions, _ opening: ([UInt8], Invocation.InspectOptions) -> [[UInt8]]) throws
    -> Int32
  {
    var status = ExitStatus.done
    for file in options.files {
      do {
        var line: [UInt8] = []
        try describe(file, options, opening).append(to: &line)
        Terminal.print(line + [UInt8(ascii: "\n")])
      } catch {
        guard let reply = error as? ErrorReply ?? (error as? MediaError).map({ ErrorReply(error: $0) }) else {
          throw error
        }
        let failure = Failure(reply)
        failure.printDiagnostic(isJSON: true)
        status = failure.status
        if status == .unreachable { break }
      }
    }
    return status.rawValue
  }

  private func describe(
    _ file: [UInt8], _ options: Invocation.InspectOptions,
    _ opening: ([UInt8], Invocation.InspectOptions) -> [[UInt8]]
  ) throws -> JSONValue {
    guard case .number(let id)? = try request(opening(file, options))["asset"] else {
      throw Unreachable(message: "the daemon's reply has no asset id")
    }
    defer { _ = try? request(["asset.close", id]) }
    let name = StandardInput.isStandardInput(file) ? StandardInput.name : String(decoding: file, as: UTF8.self)
    var members = [JSONValue.Member("file", .string(name))]
    if !options.tagsOnly {
      let values = try rows(request(["asset.load", id, "duration", "providesPreciseDuration", "playable"]))
      for value in values {
        if case .string(let key)? = value["key"], let value = value["value"] { members.append(.init(key, value)) }
      }
      members.append(.init("tracks", .array(try rows(request(["asset.tracks", id])))))
      members.append(.init("chapters", .array(try allRows(["asset.chapters", id]))))
    }
    members.append(.init("tags", .array(try allRows(["asset.metadata", id]))))
    return .object(members)
  }

  private func rows(_ result: JSONValue) -> [JSONValue] {
    guard case .array(let rows)? = result["rows"] else { return [] }
    return rows
  }

  /// The rows of all pages of a list.
  private func allRows(_ words: [String]) throws -> [JSONValue] {
    var all: [JSONValue] = []
    var offset = 0
    while true {
      let page = try request(words + ["offset=\(offset)"])
      all += rows(page)
      guard case .number(let token)? = page["next"], let nextOffset = Int(token), nextOffset > offset else {
        return all
      }
      offset = nextOffset
    }
  }

  private func request(_ words: [String]) throws -> JSONValue { try request(words.map { Array($0.utf8) }) }

  /// Sends a request and returns its result.
  ///
  /// - Throws: `ErrorReply`, `Unreachable`, or the errors of `encode`.
  private func request(_ words: [[UInt8]]) throws -> JSONValue {
    try connection.sendIgnoringDisconnection(encode(words))
    return try connection.waitForLine { line in
      guard let value = try? JSONValue(parsing: line.span), value["id"] != nil else { return nil }
      guard let result = value["result"] else { throw ErrorReply(error: ReplyPrinter.error(ofJSON: value)) }
      return result
    }
  }
}
