// Locates and reads the configuration file.
import Glibc
import PlayheadMediaCore

/// The configuration file of the daemon.
package struct ConfigurationFile: Sendable {
  /// The maximum size of the file in bytes.
  static let maximumByteCount = 1_048_576

  package let path: String
  /// Whether the path was specified explicitly. Then the file must exist.
  package let isRequired: Bool

  /// Uses the specified file, or else the first that exists: `playhead/playheadd.toml` in the folder of the user
  /// (`$XDG_CONFIG_HOME`, by default `$HOME/.config`), then in those of the system (`$XDG_CONFIG_DIRS`, by default
  /// `/etc/xdg`). Without any, uses the path in the first folder.
  ///
  /// Source: XDG Base Directory Specification, section 3. Relative paths are ignored.
  package init(specifiedPath: String?) {
    if let specifiedPath {
      path = specifiedPath
      isRequired = true
      return
    }
    let paths = Self.folders.map { $0 + "/playhead/playheadd.toml" }
    path = paths.first { access($0, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR } ?? paths[0]
    isRequired = false
  }

  /// The folders of configuration files, the most important first. Never empty.
  private static var folders: [String] {
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    let home = variable("HOME")
    let user = [variable("XDG_CONFIG_HOME"), home.isEmpty ? "" : home + "/.config"].first { $0.hasPrefix("/") }
    let system = variable("XDG_CONFIG_DIRS").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return (user.map { [$0] } ?? []) + (system.isEmpty ? ["/etc/xdg"] : system)
  }

  /// Reads the file. Nil if it does not exist and is not required. Blocks.
  package func read() -> ConfigurationText? {
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
