import PlayheadWireProtocol

/// The newest values of observed keys, from the events of `observe`.
struct ObservedValues {
  /// The keys without a value. Their observers get other events.
  static let keysWithoutValue: Set<ObservableKey> = [
    .playerEvents, .itemEvents, .outputEvents, .sessionEvents,
  ]

  /// The values of keys that do not belong to an entry.
  private var values: [String: String] = [:]
  /// The values of the entries: key, then id.
  private var valuesOfEntries: [String: [String: String]] = [:]

  /// The keys to observe, so that `value(of:)` knows the value of each key.
  static func keys(for keys: [ObservableKey]) -> [ObservableKey] {
    keys + (keys.contains(where: isOfEntry) ? [.playerCurrentItem] : [])
  }

  private static func isOfEntry(_ key: ObservableKey) -> Bool { key.rawValue.hasPrefix("item.") }

  /// Records the value of a `changed` event.
  mutating func update(with event: ServerLine.TextFields) {
    guard let key = event["key"], let value = event["new"] else { return }
    if let item = event["item"], key.hasPrefix("item.") {
      valuesOfEntries[key, default: [:]][item] = value
    } else {
      values[key] = value
    }
  }

  /// The value of a key, for `item.*` that of the current entry. `none` if it is unknown.
  func value(of key: ObservableKey) -> String {
    if let value = values[key.rawValue] { return value }
    let current = values[ObservableKey.playerCurrentItem.rawValue] ?? "none"
    return valuesOfEntries[key.rawValue]?[current] ?? "none"
  }
}
