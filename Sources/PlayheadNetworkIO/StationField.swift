import PlayheadMediaCore

/// A field with which a station describes itself: `icy-name`, `icy-genre`, `ice-audio-info`, ... No standard exists.
public struct StationField: Sendable, Hashable {
  /// The name in lower case, without `icy-`.
  public var name: String
  /// The value, as the station sends it.
  public var value: String

  /// The maximum number of retained fields of a station, and the maximum number of bytes of one field.
  static let maximumCount = 32
  static let maximumByteCount = 4_096

  /// The fields with a defined order. Others follow them in the order of their names.
  private static let order = ["name", "genre", "description", "url", "br", "pub", "audio-info"]
  /// Fields about the transmission of titles, which are not useful to users.
  private static let ignored: Set = ["metaint", "metadata", "reset"]

  /// The fields in a header, one value for each name; empty when the server is not a station. Empty and oversized
  /// fields are omitted.
  static func fields(of head: ResponseHead) -> [StationField] {
    guard head.isStation else { return [] }
    var found: [String: String] = [:]
    for (key, value) in head.fields {
      // Icecast sends `ice-audio-info`, without the prefix `icy-`.
      let name = key.hasPrefix("icy-") ? String(key.dropFirst(4)) : key == "ice-audio-info" ? "audio-info" : ""
      guard !name.isEmpty, !ignored.contains(name), !value.isEmpty,
        value.utf8.count + name.utf8.count <= maximumByteCount
      else { continue }
      if found[name] == nil || key.hasPrefix("icy-") { found[name] = value }
    }
    let names = found.keys.sorted { one, other in
      let (rank, otherRank) = (order.firstIndex(of: one) ?? order.count, order.firstIndex(of: other) ?? order.count)
      return rank == otherRank ? one < other : rank < otherRank
    }
    return names.prefix(maximumCount).compactMap { name in found[name].map { StationField(name: name, value: $0) } }
  }
}
