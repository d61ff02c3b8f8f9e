// The file after `-o`. The client opens it and the daemon writes it. Therefore the daemon needs no writable folder.
import PlayheadMediaCore
import PlayheadWholeFiles
import PlayheadWireProtocol

/// A file that the daemon writes for one request. It gets its name after a successful reply.
struct OutputFile: PassedOutput {
  /// The request, with the passed descriptor as its file.
  let words: [[UInt8]]
  let descriptorPath: String
  let path: String
  private let file: UnfinishedFile

  /// Opens the file and transfers it to the daemon. Nil if the request writes several images, or to a passed
  /// descriptor. It is then sent unchanged.
  ///
  /// - Parameters:
  ///   - arguments: Those of the request, with the path of the file.
  ///   - words: The words of the request, without the file.
  ///   - socketPath: The socket of the daemon.
  /// - Throws: `Unreachable`, or `ErrorReply`, also for a file that exists or cannot be written.
  init?(for arguments: ParsedArguments, _ words: [[UInt8]], socketPath: () throws -> String) throws {
    guard let target = Target(arguments), target.file.isFile else { return nil }
    let whole = WholeFile(path: target.file.bytes, replaces: target.replaces, hint: "--replace replaces it")
    file = try Self.reporting { () throws(MediaError) in try whole.unnamedUntilComplete().create() }
    descriptorPath = try PassedDescriptor.pass(file.descriptor, named: target.file.text, socketPath: socketPath())
    path = target.file.text
    let options = words.prefix { !$0.elementsEqual("--".utf8) }
    let kept = options.filter { word in
      !word.elementsEqual("replace".utf8) && !["replace=", "format="].contains { word.starts(with: $0.utf8) }
    }
    let format = target.format.map { [Array("format=\($0)".utf8)] } ?? []
    self.words = Self.inserting(format + [Array("file=\(descriptorPath)".utf8)], into: kept + words[options.count...])
  }

  /// The words of a request with more options, which come first because a word after `--` is no option.
  static func inserting(_ options: [[UInt8]], into words: [[UInt8]]) -> [[UInt8]] {
    words.prefix(1) + options + words.dropFirst()
  }

  /// Gives the file its name.
  ///
  /// - Throws: `ErrorReply`, for example if another file has been created meanwhile and must not be replaced.
  func commit() throws { try Self.reporting { () throws(MediaError) in try file.commit() } }

  /// Converts errors, so that the exit status is the same as if the daemon had opened the file.
  static func reporting<Value>(_ body: () throws(MediaError) -> Value) throws -> Value {
    do throws(MediaError) { return try body() } catch { throw ErrorReply(error: error) }
  }

  // MARK: - Replies

  /// Gives the file its name after a successful reply. Returns the reply with the path of the file.
  ///
  /// - Throws: `ErrorReply` if the file cannot get its name.
  func completed(by reply: DaemonReply) throws -> DaemonReply {
    try commit()
    func named(_ fields: ServerLine.TextFields) -> ServerLine.TextFields {
      ServerLine.TextFields(fields.entries.map { .init($0.name, $0.value == descriptorPath ? path : $0.value) })
    }
    return DaemonReply(rows: reply.rows.map(named), fields: named(reply.fields))
  }

  /// Gives the file its name if the line is a successful reply. Returns rows and successful replies with the path of
  /// the file, and other lines unchanged.
  ///
  /// - Throws: `ErrorReply` if the file cannot get its name.
  func completed(by line: [UInt8], isJSON: Bool) throws -> [UInt8] {
    let isReply = isJSON ? (try? JSONValue(parsing: line.span))?["result"] != nil : line.starts(with: "ok ".utf8)
    guard isReply || !isJSON && line.starts(with: "| ".utf8) else { return line }
    if isReply { try commit() }
    var (old, new): ([UInt8], [UInt8]) = (Array(descriptorPath.utf8), [])
    if isJSON {
      old = [UInt8(ascii: "\"")] + old + [UInt8(ascii: "\"")]
      JSONValue.string(path).append(to: &new)
    } else {
      WordsText.append(path, to: &new)
    }
    return Array(line.split(separator: old, omittingEmptySubsequences: false).joined(separator: new))
  }
}

extension OutputFile {
  /// The output file of a request.
  private struct Target {
    var file: FilePath
    var replaces: Bool
    /// The value of `format`. Nil: the command has none.
    var format: String?

    /// Nil for a request that writes no file or several.
    init?(_ arguments: ParsedArguments) {
      switch arguments.name {
      case ExportCommand.name:
        guard let export = try? Arguments<ExportCommand>(parsed: arguments).export() else { return nil }
        self.init(export.file, replaces: export.replaces, format: export.format.rawValue)
      case WaveformCommand.name:
        guard let output = try? Arguments<WaveformCommand>(parsed: arguments).waveform().output else { return nil }
        self.init(output.file, replaces: output.replaces, format: output.format.rawValue)
      case ImageCommand.name:
        guard let images = try? Arguments<ImageCommand>(parsed: arguments).images(),
          images.sheet != nil || images.times.count == 1
        else { return nil }
        let isPNG = if case .png = images.format { true } else { false }
        self.init(images.file(1), replaces: images.replaces, format: isPNG ? "png" : "jpeg")
      case AssetArtworkCommand.name: self.init(try? Arguments<AssetArtworkCommand>(parsed: arguments).artworkQuery())
      case ItemArtworkCommand.name: self.init(try? Arguments<ItemArtworkCommand>(parsed: arguments).artworkQuery())
      default: return nil
      }
    }

    private init?(_ query: ArtworkQuery?) {
      guard case .file(_, let file, let replaces) = query else { return nil }
      self.init(file, replaces: replaces, format: nil)
    }

    private init(_ file: FilePath, replaces: Bool, format: String?) {
      (self.file, self.replaces, self.format) = (file, replaces, format)
    }
  }
}

extension CommandSpec {
  /// Whether the command can write a file that the client has opened.
  var writesOpenedFile: Bool {
    parameter(.file).map { $0.kind == .outputPath && $0.position == .option } ?? false
  }
}
