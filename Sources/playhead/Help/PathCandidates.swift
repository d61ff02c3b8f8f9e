import Glibc

/// The paths that complete a partial path in `playhead shell`.
enum PathCandidates {
  /// The maximum number of names that are read of a folder, so that a large folder does not delay typing.
  private static let maximumNameCount = 10_000

  /// The paths that begin with `partial`, in natural order. Those of folders end with `/`. Hidden files need a dot.
  /// Names that are not UTF-8 are omitted, because they cannot be typed.
  static func paths(_ partial: String) -> [String] {
    let slash = partial.lastIndex(of: "/")
    let folder = slash.map { String(partial[...$0]) } ?? ""
    let prefix = slash.map { String(partial[partial.index(after: $0)...]) } ?? partial
    guard let stream = opendir(folder.isEmpty ? "." : folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    var count = 0
    while count < maximumNameCount, let entry = readdir(stream) {
      count += 1
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(validating: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard let name, name.utf8.starts(with: prefix.utf8), name != ".", name != "..",
        prefix.hasPrefix(".") || !name.hasPrefix(".")
      else { continue }
      names.append(name)
    }
    names.sort { NaturalOrder.isLess(Array($0.utf8), Array($1.utf8)) }
    return names.map { name in
      var status = stat()
      let isFolder = stat(folder + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      return folder + name + (isFolder ? "/" : "")
    }
  }
}
