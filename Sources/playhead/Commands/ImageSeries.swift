// `playhead image` with several times and `-o`: the client opens each file, and requests one image for each.
import PlayheadMediaCore
import PlayheadWireProtocol

/// Several images, each in a file that the client has opened. The files get their names after the last image: either
/// all files are written or none.
struct ImageSeries {
  /// The path of the media, its times and the options of the request. The options name no file.
  private let path: [UInt8]
  private let times: [[UInt8]]
  private let options: [[UInt8]]
  private let images: ImageRequest

  /// Nil for a request of one image or a sheet, or for files that the client cannot open.
  ///
  /// - Parameter words: The words of the request, without the file.
  init?(for arguments: ParsedArguments, _ words: [[UInt8]]) {
    guard arguments.name == ImageCommand.name,
      let images = try? Arguments<ImageCommand>(parsed: arguments).images(),
      images.sheet == nil, images.times.count > 1, images.file.isFile
    else { return nil }
    let (options, positional) = Self.separated(words)
    // The requests would read standard input more than once.
    guard let path = positional.first, !StandardInput.isStandardInput(path) else { return nil }
    (self.path, times, self.options, self.images) = (path, Array(positional.dropFirst()), options, images)
  }

  /// Separates the words after the command into options and positional arguments.
  private static func separated(_ words: [[UInt8]]) -> (options: [[UInt8]], positional: [[UInt8]]) {
    let parameters = ImageCommand.definition.spec.parameters.filter { $0.position == .option }
    var (options, positional): ([[UInt8]], [[UInt8]]) = ([], [])
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      if word.elementsEqual("--".utf8) { return (options, positional + rest) }
      let key = word.prefix { $0 != UInt8(ascii: "=") }
      let isOption = parameters.contains { parameter in
        key.elementsEqual(parameter.name.rawValue.utf8) && (key.count < word.count || parameter.kind == .flag)
      }
      if isOption { options.append(word) } else { positional.append(word) }
    }
    return (options, positional)
  }

  /// Writes the images, with one request for each to `request`. Returns the results and the paths of the files.
  ///
  /// - Parameters:
  ///   - socketPath: The socket of the daemon.
  ///   - arguments: Parses the words of a request.
  /// - Throws: `ErrorReply`, also for a file that exists or cannot be written, or the errors of the closures. No new
  ///   file remains.
  func write<Reply>(
    _ socketPath: String, arguments: ([[UInt8]]) throws -> ParsedArguments, request: ([[UInt8]]) throws -> Reply
  ) throws -> [(reply: Reply, path: String)] {
    var outputs: [OutputFile] = []
    var results: [(reply: Reply, path: String)] = []
    for (index, time) in times.enumerated() {
      let words = [Array(ImageCommand.name.rawValue.utf8)] + options + [Array("--".utf8), path, time]
      let file = Array("file=\(images.file(index + 1).text)".utf8)
      let requested = try arguments(OutputFile.inserting([file], into: words))
      guard let output = try OutputFile(for: requested, words, socketPath: { socketPath }) else {
        throw MediaError(.badArguments, "\(images.file(index + 1)) is not a file")
      }
      do { results.append((try request(output.words), output.path)) } catch var reply as ErrorReply {
        reply.error.message = output.naming(reply.error.message)
        throw reply
      }
      outputs.append(output)
    }
    for output in outputs { try output.commit() }
    return results
  }

  /// The reply to a request of all images, from the replies to the requests of one image.
  static func joined(_ results: [(reply: DaemonReply, path: String)]) -> DaemonReply {
    let rows = results.enumerated().flatMap { index, result in
      result.reply.rows.map { replacing(["image": "\(index + 1)", "file": result.path], in: $0) }
    }
    // A fault of any image is one of the whole reply.
    let first = results.first { $0.reply.fields["fault"] != nil } ?? results.first
    let fields = replacing(["count": "\(rows.count)"], in: first?.reply.fields ?? ServerLine.TextFields())
    return DaemonReply(rows: rows, fields: fields)
  }

  private static func replacing(_ values: [String: String], in fields: ServerLine.TextFields) -> ServerLine.TextFields {
    ServerLine.TextFields(fields.entries.map { .init($0.name, values[$0.name] ?? $0.value) })
  }

  /// The same for replies in JSON.
  static func joined(_ results: [(reply: JSONValue, path: String)]) -> JSONValue {
    let rows = results.enumerated().flatMap { index, result in
      JSONClient.rows(result.reply).map { row in
        replacing(["image": .number("\(index + 1)"), "file": .string(result.path)], in: row)
      }
    }
    let first = results.first { $0.reply["fault"] != nil } ?? results.first
    return replacing(["count": .number("\(rows.count)"), "rows": .array(rows)], in: first?.reply ?? .object([]))
  }

  private static func replacing(_ values: [String: JSONValue], in object: JSONValue) -> JSONValue {
    guard case .object(let members) = object else { return object }
    return .object(members.map { .init($0.name, values[$0.name] ?? $0.value) })
  }
}
