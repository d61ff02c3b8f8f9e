import PlayheadWireProtocol

/// The values of tags by their keys.
enum TagValues {
  /// The values of a key in the rows of `item.metadata` or `asset.metadata`. Null for none.
  ///
  /// - Parameter key: A common key, or a key of the format.
  static func value(of key: String, in rows: [JSONValue]) -> JSONValue {
    let key = JSONValue.string(key)
    // A common key may have values in several key spaces: those of the first one count.
    let found = rows.filter { $0["commonKey"] == key || $0["key"] == key }
    let space = found.first.map(keySpace(of:))
    let texts = found.filter { keySpace(of: $0) == space }.compactMap { $0["value"] }
    return texts.isEmpty ? .null : .array(texts)
  }

  /// The key space of a tag: the part of its identifier before the slash.
  private static func keySpace(of tag: JSONValue) -> Substring? {
    guard case .string(let identifier)? = tag["identifier"] else { return nil }
    return identifier.prefix { $0 != "/" }
  }
}
