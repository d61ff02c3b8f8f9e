import PlayheadNetworkIO

/// Metadata that a radio station sends about itself, in the key space `icy`.
enum StationMetadata {
  /// Returns the items for the fields of the server's reply: `icy/name`, `icy/genre`, ...
  static func items(_ fields: [StationField]) -> [MetadataItem] {
    fields.map { field in
      let number = numbers.contains(field.name) ? Int64(field.value) : nil
      return MetadataItem(
        keySpace: .icy, key: field.name, commonKey: CommonKeyTable.commonKey(of: field.name, in: .icy),
        value: number.map { .number($0) } ?? .string(field.value))
    }
  }

  /// Fields with numbers: kilobits per second, and whether the station is public.
  private static let numbers: Set = ["br", "pub"]
}
