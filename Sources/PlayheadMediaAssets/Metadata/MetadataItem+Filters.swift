extension MetadataItem {
  /// Returns the items with an identifier, in order. Identifiers in the key space `comn` match common keys.
  public static func items(
    from items: [MetadataItem], filteredByIdentifier identifier: MetadataIdentifier
  ) -> [MetadataItem] {
    items.filter { item in
      if let key = item.commonKey, identifier == MetadataIdentifier(key: key.rawValue, keySpace: .common) {
        return true
      }
      return item.identifier == identifier
    }
  }

  /// Returns the items with a key in a key space, in order. Nil matches all keys or key spaces. `comn` matches common
  /// keys.
  public static func items(
    from items: [MetadataItem], withKey key: String?, keySpace: MetadataKeySpace?
  ) -> [MetadataItem] {
    items.filter { item in
      guard let keySpace else { return key == nil || item.key == key }
      if keySpace == .common, let common = item.commonKey { return key == nil || common.rawValue == key }
      return item.keySpace == keySpace && (key == nil || item.key == key)
    }
  }

  /// Returns the items with a common key, in order.
  public static func items(
    from items: [MetadataItem], filteredByCommonKey key: MetadataCommonKey
  ) -> [MetadataItem] {
    items.filter { $0.commonKey == key }
  }

  /// Returns the items with exactly this locale (BCP 47, or like `de_DE`), in order: `de` does not match `de-AT`.
  public static func items(from items: [MetadataItem], withLocale locale: String) -> [MetadataItem] {
    items.filter { item in item.extendedLanguageTag.map { LanguageTag.isSame($0, locale) } ?? false }
  }

  /// Returns the items in one of these languages (BCP 47, most preferred first), sorted by preference. A language also
  /// matches one with more or fewer subtags: `en` and `en-GB`. Items without a language match none.
  public static func items(
    from items: [MetadataItem], filteredAndSortedAccordingToPreferredLanguages languages: [String]
  ) -> [MetadataItem] {
    let ranked = items.enumerated().compactMap { index, item -> (rank: Int, index: Int, item: MetadataItem)? in
      guard let tag = item.extendedLanguageTag,
        let rank = languages.firstIndex(where: { LanguageTag.matches($0, tag) })
      else { return nil }
      return (rank, index, item)
    }
    return ranked.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.item)
  }
}

/// Compares language tags of files and users.
enum LanguageTag {
  /// Returns the BCP 47 tag of an ISO 639-2 code such as `eng`; nil for a code without a meaning.
  static func bcp47(_ code: String) -> String? {
    let code = code.lowercased()
    guard code.utf8.count == 3, code.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }),
      !["und", "xxx", "zxx", "mis", "mul"].contains(code)
    else { return code.utf8.count == 2 ? code : nil }
    return LanguageCode.primary(code)
  }

  /// Returns whether two tags are equal, except for additional subtags of one of them.
  static func matches(_ one: String, _ other: String) -> Bool {
    zip(subtags(one), subtags(other)).allSatisfy { $0 == $1 }
  }

  /// Returns whether two tags are equal, including all subtags.
  static func isSame(_ one: String, _ other: String) -> Bool { subtags(one) == subtags(other) }

  private static func subtags(_ tag: String) -> [Substring] {
    let normal = tag.lowercased()
    return normal.split { $0 == "-" || $0 == "_" }
  }
}
