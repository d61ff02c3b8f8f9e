extension MetadataItem {
  /// The items with an identifier, in their order. For one in the key space `comn` the common keys count.
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

  /// The items with a key in a key space, in their order. A nil key or space stands for all; for `comn` the common keys count.
  public static func items(
    from items: [MetadataItem], withKey key: String?, keySpace: MetadataKeySpace?
  ) -> [MetadataItem] {
    items.filter { item in
      guard let keySpace else { return key == nil || item.key == key }
      if keySpace == .common, let common = item.commonKey { return key == nil || common.rawValue == key }
      return item.keySpace == keySpace && (key == nil || item.key == key)
    }
  }

  /// The items with a common key, in their order.
  public static func items(
    from items: [MetadataItem], filteredByCommonKey key: MetadataCommonKey
  ) -> [MetadataItem] {
    items.filter { $0.commonKey == key }
  }

  /// The items in just this locale (BCP 47, or as `de_DE`), in their order: `de` is none of `de-AT`.
  public static func items(from items: [MetadataItem], withLocale locale: String) -> [MetadataItem] {
    items.filter { item in item.extendedLanguageTag.map { LanguageTag.isSame($0, locale) } ?? false }
  }

  /// The items in one of these languages (BCP 47, most wanted first), those in the most wanted ones first. A language fits
  /// one with more subtags, and the other way round: `en` and `en-GB`. Items without a language fit none.
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

/// Languages as files and people name them.
enum LanguageTag {
  /// BCP 47 for a code of ISO 639-2, as tags have it (`eng`); nil for one that says nothing.
  static func bcp47(_ code: String) -> String? {
    let code = code.lowercased()
    guard code.utf8.count == 3, code.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }),
      !["und", "xxx", "zxx", "mis", "mul"].contains(code)
    else { return code.utf8.count == 2 ? code : nil }
    return LanguageCode.primary(code)
  }

  /// Whether two tags are the same but for subtags that one of them has more.
  static func matches(_ one: String, _ other: String) -> Bool {
    zip(subtags(one), subtags(other)).allSatisfy { $0 == $1 }
  }

  /// Whether two tags are the same, subtags and all.
  static func isSame(_ one: String, _ other: String) -> Bool { subtags(one) == subtags(other) }

  private static func subtags(_ tag: String) -> [Substring] {
    let normal = tag.lowercased()
    return normal.split { $0 == "-" || $0 == "_" }
  }
}
