import PlayheadMediaCore

/// A filter for a file's tags. A tag must satisfy all conditions.
package struct MetadataQuery: Sendable, Hashable {
  /// A key space, such as `id3`. Nil: any.
  package var space: String?
  /// Key space and key, such as `id3/TIT2`. Nil: any.
  package var identifier: String?
  /// The languages, most preferred first. The tags are sorted in this order. Empty: any language, including tags
  /// without one.
  package var languages: [String]
  /// Whether only tags with a common key are returned, under that key.
  package var isCommon: Bool
  /// The number of tags to skip.
  package var offset: Int
  /// The encoding of texts that do not state one. Nil: unchanged.
  package var charset: TextCharset?

  package init(
    space: String? = nil, identifier: String? = nil, languages: [String] = [], isCommon: Bool = false,
    offset: Int = 0, charset: TextCharset? = nil
  ) {
    self.space = space
    self.identifier = identifier
    self.languages = languages
    self.isCommon = isCommon
    self.offset = offset
    self.charset = charset
  }
}

extension ParameterListBuilder {
  /// Adds the options of a metadata query.
  mutating func metadataQuery() -> Parameter<MetadataQuery> {
    let space = option(
      "space", .text(maximumByteCount: 256), "SPACE",
      "only this key space: `comn`, `id3`, `itsk`, `itlk`, `vorbis`, `ape`, `riff`, `asf`, `mdta`, `udta`, `matroska`, `icy`, `hls`, ..."
    )
    let identifier = option(
      "identifier", .text(maximumByteCount: 4_096), "SPACE/KEY",
      "only this key, such as `id3/TIT2`, or `comn/title` for every key with that meaning")
    let languages = option(
      .language, .texts(maximumByteCount: 1_024), "LANG,...", default: [],
      "only values in one of these languages, sorted by their order")
    let common = flag(
      "common",
      "common keys only, from the tag format with the highest priority; values have types, such as number or date")
    let (offset, charset) = (rowOffset(), charset())
    return Parameter(startingWith: space) {
      MetadataQuery(
        space: space.value(in: $0), identifier: identifier.value(in: $0), languages: languages.value(in: $0),
        isCommon: common.value(in: $0), offset: offset.value(in: $0), charset: charset.value(in: $0))
    }
  }

  /// Adds the option with the encoding of texts in tags that do not state one. Nil: that of the configuration.
  mutating func charset() -> Parameter<TextCharset?> {
    option(
      "charset", .word, "CHARSET",
      "the encoding of tags that do not state one (ID3v1, RIFF INFO, Latin-1 in ID3v2); default: `tags.charset` of the"
        + " configuration")
  }
}
