import MediaCore

/// A field in which a station says something of itself: `icy-name`, `icy-genre`, `ice-audio-info`, ... There is no standard.
public struct StationField: Sendable, Hashable {
  /// Without `icy-`, in lower case.
  public var name: String
  public var value: String

  /// Fields that are kept of a station, and bytes of one.
  static let maximumCount = 32
  static let maximumByteCount = 4_096

  /// Those that have an order; others come behind them by their names.
  private static let order = ["name", "genre", "description", "url", "br", "pub", "audio-info"]
  /// How titles are sent is no business of people.
  private static let ignored: Set = ["metaint", "metadata", "reset"]

  /// What a header says, one value of each name; nothing where it is no station's. What is empty or too long is left out.
  static func fields(of head: ResponseHead) -> [StationField] {
    guard head.isStation else { return [] }
    var found: [String: String] = [:]
    for (key, value) in head.fields {
      // Icecast has the one under its own name.
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
