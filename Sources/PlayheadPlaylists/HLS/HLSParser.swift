// Parses HLS playlists (RFC 8216). Unknown tags are ignored, as the RFC requires. Contradictions and exceeded limits
// are errors. Pure.
import PlayheadMediaCore

extension HLSPlaylist {
  /// Whether bytes are an HLS playlist and not a plain M3U playlist.
  package static func recognizes(_ bytes: [UInt8]) -> Bool {
    let format = PlaylistFormat(of: PlaylistText(bytes), extension: nil)
    return format == .hlsMedia || format == .hlsMaster
  }

  /// Parses the playlist at a location. Relative references are resolved against `location`.
  ///
  /// - Throws: `badStreamPlaylist`; `streamLimitExceeded`; `streamLocationNotAllowed` when the playlist references a
  ///   forbidden location.
  package init(parsing bytes: [UInt8], at location: PlaylistLocation) throws(MediaError) {
    guard bytes.count <= HLSLimits.playlistByteCount else {
      throw MediaError(
        .streamLimitExceeded,
        "a playlist must have at most \(HLSLimits.playlistByteCount) bytes: \(location.displayText)")
    }
    let text = PlaylistText(bytes)
    switch PlaylistFormat(of: text, extension: nil) {
    case .hlsMaster:
      var parser = HLSMasterParser(location)
      try parser.read(text)
      self = .master(parser.playlist)
    case .hlsMedia:
      var parser = HLSMediaParser(location)
      try parser.read(text)
      self = .media(parser.playlist)
    default:
      throw MediaError(.badStreamPlaylist, "not an HLS playlist: \(location.displayText)")
    }
  }
}

/// The common part of both parsers.
struct HLSLineReader {
  let location: PlaylistLocation
  private(set) var number = 0

  init(_ location: PlaylistLocation) { self.location = location }

  /// Reads each line: a tag with the value after its colon, or a URI.
  mutating func read(
    _ text: PlaylistText,
    _ body: (_ reader: HLSLineReader, _ tag: String?, _ value: ArraySlice<UInt8>) throws(MediaError) -> Void
  ) throws(MediaError) {
    var lines = text.lines()
    while let line = lines.next() {
      number = line.number
      guard let first = line.bytes.first else { continue }
      guard first == UInt8(ascii: "#") else {
        try body(self, nil, line.bytes)
        continue
      }
      guard line.bytes.starts(with: "#EXT".utf8) else { continue }
      let name = line.bytes.dropFirst().prefix { $0 != UInt8(ascii: ":") }
      guard name.count <= 64 else { continue }
      try body(self, String(decoding: name, as: UTF8.self), line.bytes[name.endIndex...].dropFirst())
    }
  }

  /// The error for an invalid line.
  func invalid(_ problem: String) -> MediaError {
    MediaError(.badStreamPlaylist, "line \(number) of \(location.displayText): \(problem)", operation: "hls")
  }

  /// The error for an exceeded limit.
  func limitExceeded(_ problem: String) -> MediaError {
    MediaError(.streamLimitExceeded, "\(problem): \(location.displayText)", operation: "hls")
  }

  func resolve(_ reference: some Collection<UInt8>) throws(MediaError) -> PlaylistLocation {
    do throws(MediaError) {
      return try LocationResolver(playlistLocation: location).location(ofReference: ArraySlice(reference))
    } catch {
      let code: MediaError.Code =
        error.code == .notAllowed || error.code == .unsupportedLocation ? .streamLocationNotAllowed : .badStreamPlaylist
      throw MediaError(
        code, "line \(number) of \(location.displayText): \(error.message)", operation: "hls")
    }
  }

  func attributes(_ value: ArraySlice<UInt8>) throws(MediaError) -> HLSAttributes {
    guard let attributes = HLSAttributes(value) else { throw invalid("invalid attribute list") }
    return attributes
  }
}

/// Parses a master playlist.
struct HLSMasterParser {
  private(set) var playlist = HLSMasterPlaylist()
  private var reader: HLSLineReader
  /// The attributes that apply to the next URI.
  private var pending: HLSAttributes?
  private var sessionByteCount = 0

  init(_ location: PlaylistLocation) { reader = HLSLineReader(location) }

  mutating func read(_ text: PlaylistText) throws(MediaError) {
    var reader = reader
    try reader.read(text) { (reader, tag, value) throws(MediaError) in
      switch tag {
      case nil: try addVariant(value, reader)
      case "EXT-X-STREAM-INF": pending = try reader.attributes(value)
      case "EXT-X-MEDIA": try addRendition(try reader.attributes(value), reader)
      case "EXT-X-SESSION-DATA": addSessionData(value, reader)
      case "EXTINF", "EXT-X-TARGETDURATION": throw reader.invalid("a master playlist must not contain segments")
      default: break
      }
    }
    self.reader = reader
    guard !playlist.variants.isEmpty else { throw reader.invalid("a master playlist needs at least one variant") }
  }

  private mutating func addVariant(_ uri: ArraySlice<UInt8>, _ reader: HLSLineReader) throws(MediaError) {
    // A URI without a tag is ignored: some playlists contain duplicate URIs or stray text.
    guard let attributes = pending else { return }
    pending = nil
    guard playlist.variants.count < HLSLimits.variantCount else {
      throw reader.limitExceeded("a master playlist must have at most \(HLSLimits.variantCount) variants")
    }
    playlist.variants.append(
      HLSVariant(
        location: try reader.resolve(uri), bandwidth: attributes.number("BANDWIDTH") ?? 0,
        codecs: attributes["CODECS"].map { text in
          text.split(separator: ",").map { String($0.drop { $0 == " " }) }
        } ?? [],
        audioGroup: attributes["AUDIO"], hasResolution: attributes["RESOLUTION"] != nil,
        subtitleGroup: attributes["SUBTITLES"]))
  }

  private mutating func addSessionData(_ value: ArraySlice<UInt8>, _ reader: HLSLineReader) {
    guard playlist.sessionData.count < HLSSessionData.maximumCount, let attributes = HLSAttributes(value),
      let data = HLSSessionData(attributes, reader),
      sessionByteCount + data.byteCount <= HLSSessionData.maximumByteCount
    else { return }
    sessionByteCount += data.byteCount
    playlist.sessionData.append(data)
  }

  private mutating func addRendition(_ attributes: HLSAttributes, _ reader: HLSLineReader) throws(MediaError) {
    switch attributes["TYPE"] {
    case "AUDIO":
      guard let group = attributes["GROUP-ID"], let name = attributes["NAME"] else {
        throw reader.invalid("a rendition must have a group and a name")
      }
      guard playlist.audioRenditions.count < HLSLimits.variantCount else {
        throw reader.limitExceeded("a master playlist must have at most \(HLSLimits.variantCount) renditions")
      }
      var rendition = HLSRendition(attributes, group: group, name: name)
      if let uri = attributes["URI"] { rendition.location = try reader.resolve(Array(uri.utf8)) }
      playlist.audioRenditions.append(rendition)
    case "SUBTITLES":
      // Subtitles are listed but not read, so errors in them do not affect the audio.
      guard let group = attributes["GROUP-ID"], let name = attributes["NAME"],
        playlist.subtitleRenditions.count < HLSLimits.variantCount
      else { return }
      var rendition = HLSRendition(attributes, group: group, name: name)
      rendition.isForced = attributes.isYes("FORCED")
      playlist.subtitleRenditions.append(rendition)
    default: break
    }
  }
}

extension HLSRendition {
  /// Creates a rendition from attributes, without its location.
  fileprivate init(_ attributes: HLSAttributes, group: String, name: String) {
    self.group = group
    self.name = PlaylistText.truncated(name)
    isDefault = attributes.isYes("DEFAULT")
    // DEFAULT=YES implies AUTOSELECT=YES.
    isAutoselect = attributes.isYes("AUTOSELECT") || isDefault
    language = attributes["LANGUAGE"].map(Self.truncatedCode)
    associatedLanguage = attributes["ASSOC-LANGUAGE"].map(Self.truncatedCode)
    characteristics = (attributes["CHARACTERISTICS"] ?? "").split(separator: ",").prefix(32).map {
      Self.truncatedCode($0.drop { $0 == " " })
    }
    // Examples: `6`, `16/JOC`, `2/-/BINAURAL`.
    let count = attributes["CHANNELS"].flatMap { HLSNumber.integer($0.prefix { $0 != "/" }) }
    channelCount = count.flatMap { (1...64).contains($0) ? Int($0) : nil }
    instreamID = attributes["INSTREAM-ID"].map(Self.truncatedCode)
  }

  /// Truncates a code, such as a language, to 64 characters.
  private static func truncatedCode(_ text: some StringProtocol) -> String { String(text.prefix(64)) }
}

/// Parses a media playlist.
struct HLSMediaParser {
  private(set) var playlist = HLSMediaPlaylist(targetNanoseconds: 0)
  private var reader: HLSLineReader

  // Properties of the next segment and the following ones.
  private var duration: Int64?
  private var range: (count: Int64, start: Int64?)?
  private var discontinuityCount: Int64 = 0
  private var keyIndex: Int?
  private var mapIndex: Int?
  private var date: Int64?
  private var isGap = false
  private var totalNanoseconds: Int64 = 0
  /// The location and the end of the last segment's byte range.
  private var lastRange: (location: PlaylistLocation, end: Int64)?
  private var hasTarget = false
  private var locationByteCount = 0
  private var dateRanges = HLSDateRangeList()

  init(_ location: PlaylistLocation) { reader = HLSLineReader(location) }

  mutating func read(_ text: PlaylistText) throws(MediaError) {
    var reader = reader
    try reader.read(text) { (reader, tag, value) throws(MediaError) in
      if let tag { try parse(tag, value.trimmed(), reader) } else { try addSegment(value, reader) }
    }
    self.reader = reader
    guard hasTarget else { throw reader.invalid("the target duration is missing") }
    // A target duration that is too short would cause constant reloads.
    let longest = playlist.segments.reduce(0) { max($0, $1.durationNanoseconds) }
    playlist.targetNanoseconds = max(playlist.targetNanoseconds, longest, 1_000_000_000)
    playlist.dateRanges = dateRanges.ranges
    for index in playlist.segments.indices {
      playlist.segments[index].number = playlist.firstNumber + Int64(index)
      playlist.segments[index].discontinuityNumber += playlist.firstDiscontinuityNumber
    }
  }

  private mutating func parse(_ tag: String, _ value: ArraySlice<UInt8>, _ reader: HLSLineReader) throws(MediaError) {
    let text = String(decoding: value.prefix(128), as: UTF8.self)
    switch tag {
    case "EXTINF":
      let number = text.prefix { $0 != "," && $0 != " " }
      guard let nanoseconds = HLSNumber.nanoseconds(number, limit: HLSLimits.segmentNanoseconds), nanoseconds >= 0
      else { throw reader.invalid("the duration of a segment must be between 0 and one day") }
      duration = nanoseconds
    case "EXT-X-TARGETDURATION":
      guard let nanoseconds = HLSNumber.nanoseconds(text, limit: HLSLimits.segmentNanoseconds), nanoseconds >= 0
      else { throw reader.invalid("the target duration must be between 0 and one day") }
      playlist.targetNanoseconds = nanoseconds
      hasTarget = true
    case "EXT-X-MEDIA-SEQUENCE": playlist.firstNumber = try number(text, reader)
    case "EXT-X-DISCONTINUITY-SEQUENCE": playlist.firstDiscontinuityNumber = try number(text, reader)
    case "EXT-X-DISCONTINUITY": discontinuityCount += 1
    case "EXT-X-ENDLIST": playlist.isEnded = true
    case "EXT-X-GAP": isGap = true
    case "EXT-X-PROGRAM-DATE-TIME": date = ISODate.parse(text)
    case "EXT-X-DATERANGE": dateRanges.add(value)
    case "EXT-X-BYTERANGE": range = try byteRange(text, reader)
    case "EXT-X-KEY": keyIndex = try parseKey(try reader.attributes(value), reader)
    case "EXT-X-MAP": try parseMap(try reader.attributes(value), reader)
    case "EXT-X-START":
      playlist.startOffsetNanoseconds = try reader.attributes(value)["TIME-OFFSET"].flatMap {
        HLSNumber.nanoseconds($0, limit: HLSLimits.totalNanoseconds)
      }
    case "EXT-X-I-FRAMES-ONLY": throw reader.invalid("playlists of I-frames are not supported")
    case "EXT-X-SKIP": throw reader.invalid("the playlist is a delta update, which was not requested")
    case "EXT-X-STREAM-INF": throw reader.invalid("a media playlist must not contain variants")
    default: break
    }
  }

  private func number(_ text: String, _ reader: HLSLineReader) throws(MediaError) -> Int64 {
    guard let number = HLSNumber.integer(text), number <= 1 << 53 else { throw reader.invalid("not a number: \(text)") }
    return number
  }

  /// Parses `COUNT[@START]`.
  private func byteRange(_ text: String, _ reader: HLSLineReader) throws(MediaError) -> (count: Int64, start: Int64?) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let count = HLSNumber.integer(parts[0]), count > 0 else {
      throw reader.invalid("invalid byte range: \(text)")
    }
    if parts.count == 1 { return (count, nil) }
    guard let start = HLSNumber.integer(parts[1]) else { throw reader.invalid("invalid byte range: \(text)") }
    return (count, start)
  }

  private func byteRange(start: Int64, count: Int64, _ reader: HLSLineReader) throws(MediaError) -> HLSByteRange {
    guard start <= HLSLimits.rangeEnd, count <= HLSLimits.rangeEnd - start else {
      throw reader.invalid("the end of the byte range is too large")
    }
    return HLSByteRange(start: start, count: count)
  }

  private mutating func parseKey(_ attributes: HLSAttributes, _ reader: HLSLineReader) throws(MediaError) -> Int? {
    guard let method = attributes["METHOD"] else { throw reader.invalid("the METHOD of the key is missing") }
    if method == "NONE" { return nil }
    // A stream may offer several key systems, each with a tag. Only AES-128 with an `identity` key is supported.
    let format = attributes["KEYFORMAT"] ?? "identity"
    let isPlain = method == "AES-128" && format == "identity"
    if !isPlain, let keyIndex, playlist.keys[keyIndex].method == .aes128, duration == nil, !isGap,
      playlist.segments.last?.keyIndex != keyIndex
    {
      return keyIndex
    }
    var key = HLSKey(method: isPlain ? .aes128 : .other(PlaylistText.truncated(String(method.prefix(64)))))
    if isPlain {
      guard let uri = attributes["URI"] else { throw reader.invalid("the URI of the key is missing") }
      key.location = try reader.resolve(Array(uri.utf8))
      if attributes["IV"] != nil {
        guard let vector = attributes.sixteenBytes("IV") else { throw reader.invalid("invalid initialization vector") }
        key.initializationVector = vector
      }
    }
    if let known = playlist.keys.lastIndex(of: key) { return known }
    guard playlist.keys.count < 4_096 else { throw reader.limitExceeded("a playlist must have at most 4096 keys") }
    playlist.keys.append(key)
    return playlist.keys.count - 1
  }

  private mutating func parseMap(_ attributes: HLSAttributes, _ reader: HLSLineReader) throws(MediaError) {
    guard let uri = attributes["URI"] else { throw reader.invalid("the URI of the map is missing") }
    var map = HLSMap(location: try reader.resolve(Array(uri.utf8)), key: keyIndex.map { playlist.keys[$0] })
    if let text = attributes["BYTERANGE"] {
      let range = try byteRange(text, reader)
      map.byteRange = try byteRange(start: range.start ?? 0, count: range.count, reader)
    }
    if let known = playlist.maps.lastIndex(of: map) {
      mapIndex = known
      return
    }
    guard playlist.maps.count < 4_096 else { throw reader.limitExceeded("a playlist must have at most 4096 maps") }
    playlist.maps.append(map)
    mapIndex = playlist.maps.count - 1
  }

  private mutating func addSegment(_ uri: ArraySlice<UInt8>, _ reader: HLSLineReader) throws(MediaError) {
    guard let duration else { throw reader.invalid("the duration of the segment is missing") }
    guard playlist.segments.count < HLSLimits.segmentCount else {
      throw reader.limitExceeded("a playlist must have at most \(HLSLimits.segmentCount) segments")
    }
    totalNanoseconds += duration
    guard totalNanoseconds <= HLSLimits.totalNanoseconds else { throw reader.limitExceeded("the playlist is too long") }
    var segment = HLSSegment(
      location: try reader.resolve(uri), durationNanoseconds: duration, number: 0,
      discontinuityNumber: discontinuityCount, keyIndex: keyIndex, mapIndex: mapIndex, date: date, isGap: isGap)
    locationByteCount += segment.location.byteCount
    guard locationByteCount <= HLSLimits.locationByteCount else {
      throw reader.limitExceeded("the URIs of the segments are too long in total")
    }
    if let range {
      let follows = lastRange.flatMap { $0.location == segment.location ? $0.end : nil }
      guard let start = range.start ?? follows else { throw reader.invalid("the start of the byte range is missing") }
      let bytes = try byteRange(start: start, count: range.count, reader)
      segment.byteRange = bytes
      lastRange = (segment.location, bytes.end)
    } else {
      lastRange = nil
    }
    playlist.segments.append(segment)
    self.duration = nil
    range = nil
    date = nil
    isGap = false
  }
}
