import Glibc

/// The worker processes of the system.
package enum WorkerProcesses {
  /// The worker processes that have a file open.
  package static func having(_ path: String) -> [pid_t] {
    entries(of: "/proc").compactMap { pid_t($0) }.filter { process in
      target(of: "/proc/\(process)/exe").split(separator: "/").last == "playhead-worker"
        && entries(of: "/proc/\(process)/fd").contains { target(of: "/proc/\(process)/fd/\($0)") == path }
    }
  }

  /// The names in a folder; empty if it cannot be read.
  private static func entries(of path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  /// The target of a symbolic link; empty if it cannot be read.
  private static func target(of path: String) -> String {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    return String(decoding: target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
