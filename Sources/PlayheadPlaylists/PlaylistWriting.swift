import PlayheadMediaCore

extension Playlist {
  /// The playlist as UTF-8 lines without line ends.
  ///
  /// `base` is the folder of the new playlist. Files below it get relative names, all others absolute paths.
  ///
  /// Parsing the result returns the same playlist, within the limits of the format. Durations are rounded to 1 ns in
  /// M3U, to 1 s in PLS and to 1 ms in XSPF. Line breaks in titles become spaces.
  ///
  /// - Throws: `invalidArgument` for entries that the format cannot represent:
  ///   - parts of files in M3U, PLS and XSPF;
  ///   - in CUE, parts that are not in 75ths of a second or end before the next begins;
  ///   - HLS;
  ///   - paths that are neither absolute nor text.
  public func lines(as format: PlaylistFormat, base: [UInt8]? = nil) throws(MediaError) -> [String] {
    var writer = PlaylistWriter(format: format, base: base)
    (writer.title, writer.metadata) = (title, metadata)
    var lines = writer.head()
    for (index, entry) in entries.enumerated() {
      lines += try writer.lines(of: entry, index: index, after: index > 0 ? entries[index - 1] : nil)
    }
    return lines + (try writer.tail(count: entries.count, last: entries.last))
  }
}

/// Writes playlists incrementally: the head, each entry, the tail. Writing an entry needs the previous entry.
public struct PlaylistWriter {
  /// The format of the playlist.
  public let format: PlaylistFormat
  /// The title of the playlist; nil: none.
  public var title: String?
  /// The metadata of all entries.
  public var metadata: [PlaylistMetadataKey: String] = [:]
  let locationWriter: LocationWriter

  /// Creates a writer of a playlist in the folder `base`.
  public init(format: PlaylistFormat, base: [UInt8]? = nil) {
    self.format = format
    locationWriter = LocationWriter(base: base)
  }

  /// The lines before the first entry.
  public func head() -> [String] {
    switch format {
    case .m3u: return ["#EXTM3U"] + (title.flatMap(Self.line).map { ["#PLAYLIST:\($0)"] } ?? [])
    case .pls: return ["[playlist]"] + (title.flatMap(Self.line).map { ["X-GNOME-Title=\($0)"] } ?? [])
    case .xspf:
      let parts = [
        Self.element("title", title), Self.element("creator", metadata[.creator]),
        Self.element("annotation", metadata[.annotation]), Self.element("info", metadata[.info]),
        Self.element("image", metadata[.image]), Self.element("date", metadata[.date]),
      ]
      return [
        #"<?xml version="1.0" encoding="UTF-8"?>"#, #"<playlist version="1" xmlns="http://xspf.org/ns/0/">"#,
      ] + parts.compactMap { $0.map { "  \($0)" } } + ["  <trackList>"]
    case .cue: return CueWriter(locationWriter: locationWriter).head(title: title, metadata: metadata)
    case .hlsMedia, .hlsMaster: return []
    }
  }

  /// The lines of an entry. `index` counts from 0.
  ///
  /// - Throws: `invalidArgument` for entries that the format cannot represent.
  public func lines(
    of entry: PlaylistEntry, index: Int, after previous: PlaylistEntry?
  ) throws(MediaError) -> [String] {
    if format == .cue {
      return try CueWriter(locationWriter: locationWriter).lines(of: entry, index: index, after: previous)
    }
    guard entry.range == nil else {
      throw MediaError(.invalidArgument, "entry \(index + 1) is a part of a file, which only CUE can represent")
    }
    switch format {
    case .m3u: return try m3uLines(entry)
    case .pls: return try plsLines(entry, number: index + 1)
    case .xspf: return try xspfLines(entry)
    case .cue, .hlsMedia, .hlsMaster: throw MediaError(.invalidArgument, "HLS playlists cannot be written")
    }
  }

  /// The lines after the last entry.
  ///
  /// - Throws: `invalidArgument`.
  public func tail(count: Int, last: PlaylistEntry?) throws(MediaError) -> [String] {
    switch format {
    case .m3u: return []
    case .pls: return ["NumberOfEntries=\(count)", "Version=2"]
    case .xspf: return ["  </trackList>", "</playlist>"]
    case .cue:
      guard count > 0 else { throw MediaError(.invalidArgument, "a CUE sheet needs at least one track") }
      try CueWriter(locationWriter: locationWriter).checkEnd(count: count, last: last)
      return []
    case .hlsMedia, .hlsMaster: throw MediaError(.invalidArgument, "HLS playlists cannot be written")
    }
  }

  // MARK: - Formats

  private func m3uLines(_ entry: PlaylistEntry) throws(MediaError) -> [String] {
    var lines: [String] = []
    let tags: [(String, PlaylistMetadataKey)] = [
      ("#EXTART:", .creator), ("#EXTALB:", .album), ("#EXTGENRE:", .genre),
    ]
    for (tag, key) in tags {
      if let value = entry.metadata[key].flatMap(Self.line) { lines.append("\(tag)\(value)") }
    }
    let (duration, title) = (entry.duration.flatMap(Self.knownDuration), entry.title.flatMap(Self.line))
    if duration != nil || title != nil {
      lines.append("#EXTINF:\(duration?.decimalDescription ?? "-1"),\(title ?? "")")
    }
    return lines + [try locationWriter.name(of: entry.location)]
  }

  private func plsLines(_ entry: PlaylistEntry, number: Int) throws(MediaError) -> [String] {
    var lines = ["File\(number)=\(try locationWriter.name(of: entry.location))"]
    if let title = entry.title.flatMap(Self.line) { lines.append("Title\(number)=\(title)") }
    let seconds = entry.duration.flatMap(Self.knownDuration)?.convertScale(1).value ?? 0
    return lines + ["Length\(number)=\(seconds > 0 ? seconds : -1)"]
  }

  private func xspfLines(_ entry: PlaylistEntry) throws(MediaError) -> [String] {
    let milliseconds = entry.duration.flatMap(Self.knownDuration)?.convertScale(1_000).value
    let parts = [
      "<location>\(Self.escaped(try locationWriter.reference(to: entry.location)))</location>",
      Self.element("title", entry.title),
      Self.element("creator", entry.metadata[.creator]), Self.element("annotation", entry.metadata[.annotation]),
      Self.element("info", entry.metadata[.info]), Self.element("image", entry.metadata[.image]),
      Self.element("album", entry.metadata[.album]), Self.element("trackNum", entry.metadata[.trackNumber]),
      milliseconds.flatMap { $0 > 0 ? "<duration>\($0)</duration>" : nil },
    ]
    return ["    <track>"] + parts.compactMap { $0.map { "      \($0)" } } + ["    </track>"]
  }

  private static func element(_ name: String, _ text: String?) -> String? {
    text.flatMap(line).map { "<\(name)>\(escaped($0))</\(name)>" }
  }

  private static func knownDuration(_ duration: MediaTime) -> MediaTime? {
    duration.isNumeric && duration > .zero && duration <= PlaylistLimits.duration ? duration : nil
  }

  /// Converts a text to a single line; nil when empty.
  static func line(_ text: String) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isBreak = scalar.properties.generalCategory == .control || scalar.value == 0x2028 || scalar.value == 0x2029
      // U+FFFE and U+FFFF are not XML characters.
      scalars.append(isBreak || scalar.value & 0xFFFE == 0xFFFE ? " " : scalar)
    }
    let line = PlaylistText.truncated(String(scalars))
    return line.isEmpty ? nil : line
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
