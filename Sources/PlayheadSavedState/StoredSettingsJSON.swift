import FoundationEssentials

/// Settings that are saved as a JSON object. A new value has only defaults.
protocol StoredSettings: Codable, Equatable {
  init()
}

extension StoredPlayer.Settings: StoredSettings {}
extension StoredEntry.Settings: StoredSettings {}

/// The JSON text of settings in the database.
enum StoredSettingsJSON {
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
  private static let decoder = JSONDecoder()
  /// The text of default settings, which most entries of a long queue have. It needs no coder.
  private static let empty = "{}"

  static func encode<Settings: StoredSettings>(_ settings: Settings) throws -> String {
    settings == Settings() ? empty : String(decoding: try encoder.encode(settings), as: UTF8.self)
  }

  /// Decodes settings. Nil for text that is no JSON object with values of the expected types.
  static func decode<Settings: StoredSettings>(_ text: String, as _: Settings.Type = Settings.self) -> Settings? {
    text == empty ? Settings() : try? decoder.decode(Settings.self, from: Data(text.utf8))
  }
}
