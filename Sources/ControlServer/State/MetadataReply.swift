// Replies about tags. The functions have no state, so any thread can create a reply.
import MediaAssets
import MediaCore
import WireProtocol

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
  ///
  /// - Parameter head: The first fields of the reply, which identify the asset or item.
  static func tags(_ metadata: AssetMetadata, _ query: MetadataQuery, head: Fields, limits: WireLimits) -> Reply {
    let items = items(of: metadata, query)
    let includesWarnings = query.space == nil && query.identifier == nil && query.languages.isEmpty
    let warnings = includesWarnings ? metadata.warnings : []
    let count = items.count + warnings.count
    let (rows, next) = page(of: count, from: query.offset, limits) { index in
      index < items.count ? row(items[index]) : row(warnings[index - items.count])
    }
    var fields = head
    fields.append("count", .int(count))
    fields.append("next", next)
    fields.append("formats", .strings(metadata.availableMetadataFormats.map(\.rawValue)))
    fields.append("artworkCount", .int(metadata.artwork.count))
    append(metadata.replayGain, to: &fields)
    return .ok(fields, rows: rows)
  }

  /// The rows from index `offset` on, and the index of the first row that is not included. The index is `none` at the
  /// end.
  private static func page(
    of count: Int, from offset: Int, _ limits: WireLimits, row: (Int) -> Fields
  ) -> (rows: [Fields], next: FieldValue) {
    let start = min(offset, count)
    var rows: [Fields] = []
    var byteCount = 0
    for index in start..<count {
      let row = row(index)
      byteCount += row.textByteCount * bytesPerTextByte + bytesPerRow
      if !rows.isEmpty, rows.count >= limits.listCount || byteCount > limits.outputByteCount / 2 { break }
      rows.append(row)
    }
    let next = start + rows.count
    return (rows, next < count ? .int(next) : .none)
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
    return MetadataItem.items(from: items, filteredAndSortedAccordingToPreferredLanguages: Array(query.languages))
  }

  private static func append(_ gain: ReplayGain, to fields: inout Fields) {
    fields.append("trackGain", ifPresent: gain.trackGainDecibels.map { .float($0) })
    fields.append("trackPeak", ifPresent: gain.trackPeak.map { .float($0) })
    fields.append("albumGain", ifPresent: gain.albumGainDecibels.map { .float($0) })
    fields.append("albumPeak", ifPresent: gain.albumPeak.map { .float($0) })
    fields.append("r128TrackGain", ifPresent: gain.r128TrackGainDecibels.map { .float($0) })
    fields.append("r128AlbumGain", ifPresent: gain.r128AlbumGainDecibels.map { .float($0) })
  }

  // MARK: - Rows

  private static func row(_ item: MetadataItem) -> Fields {
    var row: Fields = [
      "identifier": detail(item.identifier.rawValue), "key": detail(item.key),
    ]
    row.append("commonKey", ifPresent: item.commonKey.map { .string($0.rawValue) })
    append(item.value, of: item, to: &row)
    let attributes = item.extraAttributes
    if case .data = item.value {
      row.append("mediaType", ifPresent: (item.mediaType ?? attributes[.mediaType]).map(detail))
    }
    row.append("language", ifPresent: item.extendedLanguageTag.map(detail))
    row.append("info", ifPresent: attributes[.info].map(detail))
    row.append("owner", ifPresent: attributes[.owner].map(detail))
    row.append("artworkType", ifPresent: attributes[.artworkType].map(detail))
    row.append("artwork", ifPresent: item.artworkIndex.map { .int($0) })
    row.append(
      "targetLevel", ifPresent: attributes[.targetLevel].map { Int64($0).map(FieldValue.integer) ?? .string($0) })
    row.append("total", ifPresent: attributes[.total].map { Int64($0).map(FieldValue.integer) ?? .string($0) })
    row.append("playCount", ifPresent: attributes[.playCount].map { Int64($0).map(FieldValue.integer) ?? .string($0) })
    if let omission = item.omission { append(omission.error, to: &row) }
    return row
  }

  /// The fields of `timed-metadata` events for a group, without the time.
  static func timedRows(_ group: TimedMetadataGroup) -> [Fields] {
    group.items.map { item in
      var fields = Fields()
      fields.append("duration", ifPresent: group.duration.map { .time($0) })
      if group.isCarriedOver { fields.append("held", true) }
      var row = row(item)
      if let bytes = item.dataValue, bytes.count <= timedDataByteCount {
        row.append("data", .string(Base64.text(of: bytes[...])))
      }
      fields.append(contentsOf: row)
      return fields
    }
  }

  /// The maximum number of data bytes in an event.
  private static let timedDataByteCount = 4_096

  private static func append(_ value: MetadataItem.Value, of item: MetadataItem, to row: inout Fields) {
    switch value {
    case .string(let text):
      row.append("type", "string")
      if let omission = item.omission { return row.append("bytes", .int(omission.byteCount)) }
      let cut = text.cut(toByteCount: valueByteCount)
      row.append("value", .string(cut ?? text))
      guard cut != nil else { return }
      row.append("truncated", true)
      row.append("bytes", .int(text.utf8.count))
    case .number(let number):
      row.append("type", "number")
      row.append("value", .integer(number))
    case .date(let date):
      row.append("type", "date")
      row.append("value", .string(date.description))
    case .data(let bytes):
      row.append("type", "data")
      row.append("bytes", .int(item.omission?.byteCount ?? bytes.count))
    }
  }

  private static func row(_ warning: AssetMetadata.Warning) -> Fields {
    var row: Fields = ["warning": detail(warning.subject)]
    append(warning.error, to: &row)
    return row
  }

  private static func append(_ error: MediaError, to row: inout Fields) {
    row.append("code", .int(error.code.rawValue))
    row.append("name", .string(error.code.name))
    row.append("message", detail(error.message))
  }

  private static func detail(_ text: String) -> FieldValue {
    .string(text.cut(toByteCount: detailByteCount) ?? text)
  }

  // MARK: - Artwork

  /// The rows of the images from index `offset` on, limited to the output buffer of the peer.
  static func artwork(_ metadata: AssetMetadata, from offset: Int, head: Fields, limits: WireLimits) -> Reply {
    let count = metadata.artwork.count
    let (rows, next) = page(of: count, from: offset, limits) { index in
      let image = metadata.artwork[index]
      var row = imageFields(image, index)
      if let error = image.omission { append(error, to: &row) }
      return row
    }
    var fields = head
    fields.append("count", .int(count))
    fields.append("next", next)
    return .ok(fields, rows: rows)
  }

  /// A range of bytes of an image.
  static func part(_ image: Artwork, _ index: Int, offset: Int, limit: Int, head: Fields) -> Reply {
    var fields = head
    fields.append(contentsOf: imageFields(image, index))
    let start = min(offset, image.data.count)
    let end = start + min(limit, image.data.count - start)
    fields.append("offset", .int(start))
    fields.append("next", end < image.data.count ? .int(end) : FieldValue.none)
    fields.append("data", .string(Base64.text(of: image.data[start..<end])))
    return .ok(fields)
  }

  /// The reply for an image that was written to a file.
  static func written(_ image: Artwork, _ index: Int, _ file: FilePath, head: Fields) -> Reply {
    var fields = head
    fields.append(contentsOf: imageFields(image, index))
    fields.append("file", .path(file))
    return .ok(fields)
  }

  private static func imageFields(_ image: Artwork, _ index: Int) -> Fields {
    var fields: Fields = [
      "artwork": .int(index), "type": .string(image.type.description), "mediaType": detail(image.mediaType),
    ]
    if !image.description.isEmpty { fields.append("description", detail(image.description)) }
    fields.append("bytes", .int(image.byteCount))
    return fields
  }
}

extension MetadataItem {
  /// The media type, detected from the bytes of the value. Nil if it is unknown, or if the value is not data.
  fileprivate var mediaType: String? { dataValue.flatMap(Artwork.mediaType) }
}

extension Fields {
  /// The number of bytes of the texts in the fields.
  fileprivate var textByteCount: Int {
    entries.reduce(0) { count, entry in
      if case .string(let text) = entry.value { count + text.utf8.count } else { count }
    }
  }
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
