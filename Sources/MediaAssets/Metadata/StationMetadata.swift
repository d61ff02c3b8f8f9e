import NetworkIO

/// What a station says of itself, in the key space `icy`.
enum StationMetadata {
  /// The items of the fields of its answer: `icy/name`, `icy/genre`, ...
  static func items(_ fields: [StationField]) -> [MetadataItem] {
    fields.map { field in
      let number = numbers.contains(field.name) ? Int64(field.value) : nil
      return MetadataItem(
        keySpace: .icy, key: field.name, commonKey: CommonKeyTable.commonKey(of: field.name, in: .icy),
        value: number.map { .number($0) } ?? .string(field.value))
    }
  }

  /// Kilobits a second, and whether it wants to be listed.
  private static let numbers: Set = ["br", "pub"]
}
