import FoundationEssentials

/// The JSON text of settings in the database.
enum StoredSettingsJSON {
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
  private static let decoder = JSONDecoder()

  static func encode(_ settings: some Encodable) throws -> String {
    String(decoding: try encoder.encode(settings), as: UTF8.self)
  }

  /// Decodes settings. Nil for text that is no JSON object with values of the expected types.
  static func decode<Settings: Decodable>(_ text: String, as _: Settings.Type = Settings.self) -> Settings? {
    try? decoder.decode(Settings.self, from: Data(text.utf8))
  }
}
