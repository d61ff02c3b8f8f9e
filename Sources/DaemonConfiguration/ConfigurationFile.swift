// Locates and reads the configuration file. A separate program, `playheadd-toml`, parses the TOML. It runs only if
// there is a file.
import Glibc
import MediaCore
import WireProtocol

/// The configuration file of the daemon.
public struct ConfigurationFile: Sendable {
  /// The maximum size of the file in bytes.
  static let maximumByteCount = 1_048_576
  /// The time limit for parsing.
  static let timeoutMilliseconds: Int32 = 10_000

  public let path: String
  /// Whether the path was specified explicitly. Then the file must exist.
  public let isRequired: Bool

  /// Uses the specified file, or else `playhead/playheadd.toml` in `$XDG_CONFIG_HOME` or in `$HOME/.config`. Nil if
  /// neither variable is set.
  public init?(specifiedPath: String?) {
    if let specifiedPath {
      path = specifiedPath
      isRequired = true
      return
    }
    func absolute(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    guard let folder = absolute("XDG_CONFIG_HOME") ?? absolute("HOME").map({ $0 + "/.config" }) else { return nil }
    path = folder + "/playhead/playheadd.toml"
    isRequired = false
  }

  /// Reads the file. Nil if it does not exist and is not required. Blocks.
  public func read() -> ConfigurationText? {
    let bytes: [UInt8]
    switch contents() {
    case .success(let read?): bytes = read
    case .success(nil): return nil
    case .failure(let fault): return ConfigurationText(fault)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let line = Self.lineOfInvalidText(bytes)
      return ConfigurationText(ConfigurationFault(file: path, line: line, column: 1, message: "invalid UTF-8"))
    }
    // Checked here, because the parser would read only the text before the NUL.
    if let zero = bytes.firstIndex(of: 0) {
      let before = bytes[..<zero]
      let begin = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let column = before[begin...].count { $0 & 0xC0 != 0x80 }
      return ConfigurationText(
        ConfigurationFault(
          file: path, line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column + 1,
          message: "unexpected NUL"))
    }
    if let location = KeyLocator(text).firstTooDeep {
      let message = "lists and tables are nested more than \(KeyLocator.maximumDepth) deep"
      return ConfigurationText(
        ConfigurationFault(file: path, line: location.line, column: location.column, message: message))
    }
    switch Self.parse(bytes) {
    case .failure(let failure):
      if failure.line == nil, let location = KeyLocator(text).missingName {
        return ConfigurationText(ConfigurationFault(missingNameAt: location, in: path))
      }
      return ConfigurationText(
        ConfigurationFault(file: path, line: failure.line, column: failure.column, message: failure.message))
    case .success(let json): return ConfigurationText(text, parsed: json, file: path)
    }
  }

  private func contents() -> Result<[UInt8]?, ConfigurationFault> {
    func fault(_ message: String) -> Result<[UInt8]?, ConfigurationFault> {
      .failure(ConfigurationFault(file: path, message: message))
    }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if !isRequired, errno == ENOENT || errno == ENOTDIR { return .success(nil) }
      return fault("cannot read the file: \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return fault("not a regular file") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count == 0 { return .success(bytes) }
      if count < 0 {
        if errno == EINTR { continue }
        return fault("cannot read the file: \(String(cString: strerror(errno)))")
      }
      bytes += chunk[..<count]
      if bytes.count > Self.maximumByteCount { return fault("the file has more than \(Self.maximumByteCount) bytes") }
    }
  }

  private static func lineOfInvalidText(_ bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
  }

  // MARK: - Parsing

  private struct ParseFailure: Error {
    var line: Int?
    var column: Int?
    var message: String
  }

  /// The result of the parser program for a file.
  private static func parse(_ bytes: [UInt8]) -> Result<JSONValue, ParseFailure> {
    let parser: ParserProcess
    do { parser = try ParserProcess(bytes, timeoutMilliseconds: timeoutMilliseconds) } catch {
      return .failure(ParseFailure(message: error.message))
    }
    switch parser.status {
    case 0:
      do throws(MediaError) {
        return .success(try JSONValue(parsing: parser.output.span))
      } catch {
        return .failure(ParseFailure(message: "invalid output of the parser: \(error.message)"))
      }
    case 1:
      let parts = String(decoding: parser.output, as: UTF8.self).split(separator: " ", maxSplits: 2)
      guard parts.count == 3 else { fallthrough }
      return .failure(ParseFailure(line: Int(parts[0]), column: Int(parts[1]), message: String(parts[2])))
    default: return .failure(ParseFailure(message: "\(ParserProcess.name) failed with status \(parser.status)"))
    }
  }
}

extension ConfigurationText {
  /// Creates the result for a file that could not be read.
  init(_ fault: ConfigurationFault) { self.init(faults: [fault], file: fault.file) }
}
