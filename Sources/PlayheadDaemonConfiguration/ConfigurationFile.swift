// Locates and reads the configuration file.
import Glibc
import PlayheadMediaCore

/// The configuration file of the daemon.
public struct ConfigurationFile: Sendable {
  /// The maximum size of the file in bytes.
  static let maximumByteCount = 1_048_576

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
    do throws(TOMLValue.ParseError) {
      return ConfigurationText(try TOMLValue.parse(bytes), file: path)
    } catch {
      return ConfigurationText(ConfigurationFault(file: path, location: error.location, message: error.message))
    }
  }

  private func contents() -> Result<[UInt8]?, ConfigurationFault> {
    func fault(_ message: String) -> Result<[UInt8]?, ConfigurationFault> {
      .failure(ConfigurationFault(file: path, location: nil, message: message))
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
}

extension ConfigurationText {
  /// Creates the result for a file that could not be read.
  init(_ fault: ConfigurationFault) { self.init(faults: [fault], file: fault.file) }
}
