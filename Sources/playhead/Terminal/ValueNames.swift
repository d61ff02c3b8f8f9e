/// The names of the values that a command can print, for `get` and `--format`.
struct ValueNames {
  /// The prefix of the names of tags. The rest of such a name is the value of `commonKey` or `key` of a tag.
  static let tagPrefix = "tags."

  let all: [String]
  /// Whether names with `tagPrefix` are valid, too.
  var includesTags = false

  /// Checks the names of the values.
  ///
  /// - Throws: `Misuse` for an unknown name.
  func check(_ requested: [String]) throws(Invocation.Misuse) {
    let known = (all + (includesTags ? [Self.tagPrefix + "KEY"] : [])).joined(separator: " ")
    for name in requested where !all.contains(name) && !isTag(name) {
      throw Invocation.Misuse(message: "unknown value \(name); the values are: \(known)")
    }
  }

  private func isTag(_ name: String) -> Bool {
    includesTags && name.hasPrefix(Self.tagPrefix) && name.utf8.count > Self.tagPrefix.utf8.count
  }
}
