// Replies about tags. The functions have no state, so any thread can create a reply.
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWireProtocol

/// Creates the replies of `asset.metadata`, `asset.artwork`, `item.metadata` and `item.artwork`.
enum MetadataReply {
  /// The maximum number of bytes of a text value.
  static let valueByteCount = 16_384
  /// The maximum number of bytes of any other string in a row.
  private static let detailByteCount = 1_024
  /// The maximum number of reply bytes for one byte of text: JSON escapes a control character as `\u001f`.
  private static let bytesPerTextByte = 6
  /// The approximate number of bytes of the other fields of a row.
  private static let bytesPerRow = 512

  /// The maximum number of tags for which the thread that read them creates the reply.
  static let quickItemCount = 200

  /// The tags that match the query, limited to the output buffer of the peer. A query without a key space, identifier
  /// or language also returns the warnings.
  static func tags(_ metadata: AssetMetadata, _ query: MetadataQuery, limits: WireLimits) -> TagList {
    let items = items(of: metadata, query)
    let includesWarnings = query.space == nil && query.identifier == nil && query.languages.isEmpty
    let warnings = includesWarnings ? metadata.warnings : []
    let count = items.count + warnings.count
    let (rows, next) = page(of: count, from: query.offset, limits) { index in
      let row = index < items.count ? TagRow.tag(tag(items[index])) : row(warnings[index - items.count])
      return (row, row.textByteCount)
    }
    return TagList(
      count: count, next: next, formats: metadata.availableMetadataFormats.map(\.rawValue),
      artworkCount: metadata.artwork.count, gains: TagList.Gains(metadata.replayGain), rows: rows)
  }

  /// The rows from index `offset` on, and the index of the first row that is not included. The index is nil at the end.
  ///
  /// - Parameter row: Returns a row, and the number of bytes of its texts.
  private static func page<Row>(
    of count: Int, from offset: Int, _ limits: WireLimits, row: (Int) -> (Row, textByteCount: Int)
  ) -> (rows: [Row], next: Int?) {
    let start = min(offset, count)
    var rows: [Row] = []
    var byteCount = 0
    for index in start..<count {
      let (row, textByteCount) = row(index)
      byteCount += textByteCount * bytesPerTextByte + bytesPerRow
      if !rows.isEmpty, rows.count >= limits.listCount || byteCount > limits.outputByteCount / 2 { break }
      rows.append(row)
    }
    let next = start + rows.count
    return (rows, next < count ? next : nil)
  }

  private static func items(of metadata: AssetMetadata, _ query: MetadataQuery) -> [MetadataItem] {
    var metadata = metadata
    let isCommonSpace = query.space == MetadataKeySpace.common.rawValue
    if let space = query.space, !isCommonSpace {
      metadata.items = metadata.metadata(forFormat: MetadataKeySpace(rawValue: space))
    }
    var items = query.isCommon || isCommonSpace ? metadata.commonMetadata : metadata.items
    if let identifier = query.identifier {
      items = MetadataItem.items(from: items, filteredByIdentifier: MetadataIdentifier(rawValue: identifier))
    }
    guard !query.languages.isEmpty else { return items }
    return MetadataItem.items(from: items, filteredAndSortedAccordingToPreferredLanguages: query.languages)
  }

  // MARK: - Rows

  private static func tag(_ item: MetadataItem) -> Tag {
    var tag = Tag(
      identifier: detail(item.identifier.rawValue), key: detail(item.key), content: content(item.value, of: item))
    tag.commonKey = item.commonKey?.rawValue
    let attributes = item.extraAttributes
    if case .data = item.value { tag.mediaType = (item.mediaType ?? attributes[.mediaType]).map(detail) }
    tag.language = item.extendedLanguageTag.map(detail)
    tag.info = attributes[.info].map(detail)
    tag.owner = attributes[.owner].map(detail)
    tag.artworkType = attributes[.artworkType].map(detail)
    tag.artwork = item.artworkIndex
    tag.targetLevel = attributes[.targetLevel].map(TagNumber.init)
    tag.total = attributes[.total].map(TagNumber.init)
    tag.playCount = attributes[.playCount].map(TagNumber.init)
    tag.error = item.omission.map { detail($0.error) }
    return tag
  }

  /// The values of the `timed-metadata` events of a group.
  static func timedTags(_ group: TimedMetadataGroup) -> [TimedTag] {
    group.items.map { item in
      let data = item.dataValue.flatMap { $0.count <= timedDataByteCount ? Base64.text(of: $0[...]) : nil }
      return TimedTag(duration: group.duration, isHeld: group.isCarriedOver, tag: tag(item), data: data)
    }
  }

  /// The maximum number of data bytes in an event.
  private static let timedDataByteCount = 4_096

  private static func content(_ value: MetadataItem.Value, of item: MetadataItem) -> Tag.Content {
    switch value {
    case .string(let text):
      if let omission = item.omission { return .omittedText(byteCount: omission.byteCount) }
      guard let cut = text.cut(toByteCount: valueByteCount) else { return .text(text) }
      return .truncatedText(cut, byteCount: text.utf8.count)
    case .number(let number): return .number(number)
    case .date(let date): return .date(date.description)
    case .data(let bytes): return .data(byteCount: item.omission?.byteCount ?? bytes.count)
    }
  }

  private static func row(_ warning: AssetMetadata.Warning) -> TagRow {
    .warning(detail(warning.subject), detail(warning.error))
  }

  /// The error with at most `detailByteCount` bytes of its message.
  private static func detail(_ error: MediaError) -> MediaError {
    var error = error
    error.message = detail(error.message)
    return error
  }

  private static func detail(_ text: String) -> String { text.cut(toByteCount: detailByteCount) ?? text }

  // MARK: - Artwork

  /// The rows of the images from index `offset` on, limited to the output buffer of the peer.
  static func artwork(_ metadata: AssetMetadata, from offset: Int, limits: WireLimits) -> ArtworkReply {
    let count = metadata.artwork.count
    let (rows, next) = page(of: count, from: offset, limits) { index in
      let image = metadata.artwork[index]
      let row = ArtworkReply.Row(image: properties(image, index), error: image.omission.map(detail))
      return (row, row.textByteCount)
    }
    return ArtworkReply(.list(rows, count: count, next: next))
  }

  /// A range of bytes of an image.
  static func part(_ image: Artwork, _ index: Int, offset: Int, limit: Int) -> ArtworkReply {
    let start = min(offset, image.data.count)
    let end = start + min(limit, image.data.count - start)
    return ArtworkReply(
      .part(
        properties(image, index), offset: start, next: end < image.data.count ? end : nil,
        data: Base64.text(of: image.data[start..<end])))
  }

  /// The reply for an image that was written to a file.
  static func written(_ image: Artwork, _ index: Int, _ file: FilePath) -> ArtworkReply {
    ArtworkReply(.file(properties(image, index), file))
  }

  private static func properties(_ image: Artwork, _ index: Int) -> ArtworkImage {
    ArtworkImage(
      index: index, type: image.type.description, mediaType: detail(image.mediaType),
      description: image.description.isEmpty ? nil : detail(image.description), byteCount: image.byteCount)
  }
}

extension TagList.Gains {
  fileprivate init(_ gain: ReplayGain) {
    self.init(
      track: gain.trackGainDecibels, trackPeak: gain.trackPeak, album: gain.albumGainDecibels,
      albumPeak: gain.albumPeak, r128Track: gain.r128TrackGainDecibels, r128Album: gain.r128AlbumGainDecibels)
  }
}

extension MetadataItem {
  /// The media type, detected from the bytes of the value. Nil if it is unknown, or if the value is not data.
  fileprivate var mediaType: String? { dataValue.flatMap(Artwork.mediaType) }
}

extension TagRow {
  /// The number of bytes of the texts in the row.
  fileprivate var textByteCount: Int {
    switch self {
    case .tag(let tag):
      let texts = [
        tag.identifier, tag.key, tag.commonKey, tag.type.rawValue, tag.content.text, tag.mediaType, tag.language,
        tag.info, tag.owner, tag.artworkType, tag.targetLevel?.unparsedText, tag.total?.unparsedText,
        tag.playCount?.unparsedText,
      ]
      return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } + (tag.error?.textByteCount ?? 0)
    case .warning(let subject, let error): return subject.utf8.count + error.textByteCount
    }
  }
}

extension TagNumber {
  /// The text, unless it is a number.
  fileprivate var unparsedText: String? { Int64(text) == nil ? text : nil }
}

extension Tag.Content {
  fileprivate var text: String? {
    switch self {
    case .text(let text), .truncatedText(let text, _), .date(let text): text
    case .omittedText, .number, .data: nil
    }
  }
}

extension ArtworkReply.Row {
  /// The number of bytes of the texts in the row.
  fileprivate var textByteCount: Int {
    image.type.utf8.count + image.mediaType.utf8.count + (image.description?.utf8.count ?? 0)
      + (error?.textByteCount ?? 0)
  }
}

extension MediaError {
  /// The number of bytes of the texts in a row.
  fileprivate var textByteCount: Int { code.name.utf8.count + message.utf8.count }
}

extension String {
  /// The beginning of the text: at most `count` bytes of UTF-8, without a partial character. Nil if the whole text
  /// fits.
  func cut(toByteCount count: Int) -> String? {
    guard utf8.count > count else { return nil }
    var end = utf8.index(utf8.startIndex, offsetBy: count)
    while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(decoding: utf8[..<end], as: UTF8.self)
  }
}

/// Base64 encoding (RFC 4648, 4).
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The encoded text, with padding.
  static func text(of bytes: ArraySlice<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var remaining = bytes
    while !remaining.isEmpty {
      let group = remaining.prefix(3)
      remaining = remaining.dropFirst(3)
      var bits = group.reduce(0) { $0 << 8 | Int($1) }
      bits <<= 8 * (3 - group.count)
      for index in 0..<4 {
        text.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
