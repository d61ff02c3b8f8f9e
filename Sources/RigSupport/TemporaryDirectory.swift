import Glibc

/// A new folder with mode 0700 that is removed with its content.
package final class TemporaryDirectory: Sendable {
  package let path: String

  /// Creates the folder.
  ///
  /// - Parameter parent: the parent folder. Default: `TMPDIR`, or `/tmp`.
  package init(_ name: String = "rig", in parent: String? = nil) throws {
    let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let template = strdup("\(parent)/playhead-\(name).XXXXXX")
    defer { free(template) }
    guard let template, mkdtemp(template) != nil else {
      throw RigError.system(call: "mkdtemp", errno: errno)
    }
    path = String(cString: template)
  }

  deinit { Self.removeTree(path) }

  /// The path of `name` inside the folder.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Removes `path` and its content; follows no symbolic links.
  private static func removeTree(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    if let folder = opendir(path) {
      var names: [String] = []
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
      }
      closedir(folder)
      for name in names { removeTree("\(path)/\(name)") }
    }
    rmdir(path)
  }
}
