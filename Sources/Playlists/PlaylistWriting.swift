import MediaCore

extension Playlist {
  /// The list as text, a line each, without their ends; in UTF-8.
  ///
  /// `base` is the folder in which the list will lie: what is in it is named relative to it, all else by its whole path.
  /// What is written reads back as it was, as far as the format can say it: durations are to 1 ns in M3U, to 1 s in PLS
  /// and to 1 ms in XSPF; line breaks in titles become blanks.
  ///
  /// Errors: `invalidArgument` for entries that the format cannot say: parts of files in M3U, PLS and XSPF; in CUE parts
  /// that are not in 75ths of a second or end before the next begins; HLS; paths that are not absolute and no text.
  public func lines(as format: PlaylistFormat, base: [UInt8]? = nil) throws(MediaError) -> [String] {
    let names = PlaceWriter(base: base)
    switch format {
    case .m3u: return try m3uLines(names)
    case .pls: return try plsLines(names)
    case .xspf: return try xspfLines(names)
    case .cue: return try CueWriter(playlist: self, names: names).lines()
    case .hlsMedia, .hlsMaster: throw MediaError(.invalidArgument, "HLS is not written")
    }
  }

  private func checkWhole(_ format: String) throws(MediaError) {
    guard let index = entries.firstIndex(where: { $0.range != nil }) else { return }
    throw MediaError(.invalidArgument, "entry \(index + 1) is a part of a file, which \(format) cannot say; CUE can")
  }

  private func m3uLines(_ names: PlaceWriter) throws(MediaError) -> [String] {
    try checkWhole("M3U")
    var lines = ["#EXTM3U"]
    if let title = title.flatMap(Self.line) { lines.append("#PLAYLIST:\(title)") }
    for entry in entries {
      let tags: [(String, PlaylistMetadataKey)] = [
        ("#EXTART:", .creator), ("#EXTALB:", .album), ("#EXTGENRE:", .genre),
      ]
      for (tag, key) in tags {
        if let value = entry.metadata[key].flatMap(Self.line) { lines.append("\(tag)\(value)") }
      }
      let (duration, title) = (entry.duration.flatMap(Self.known), entry.title.flatMap(Self.line))
      if duration != nil || title != nil {
        lines.append("#EXTINF:\(duration?.decimalDescription ?? "-1"),\(title ?? "")")
      }
      lines.append(try names.name(of: entry.place))
    }
    return lines
  }

  private func plsLines(_ names: PlaceWriter) throws(MediaError) -> [String] {
    try checkWhole("PLS")
    var lines = ["[playlist]"]
    if let title = title.flatMap(Self.line) { lines.append("X-GNOME-Title=\(title)") }
    for (index, entry) in entries.enumerated() {
      lines.append("File\(index + 1)=\(try names.name(of: entry.place))")
      if let title = entry.title.flatMap(Self.line) { lines.append("Title\(index + 1)=\(title)") }
      let seconds = entry.duration.flatMap(Self.known)?.convertScale(1).value ?? 0
      lines.append("Length\(index + 1)=\(seconds > 0 ? seconds : -1)")
    }
    return lines + ["NumberOfEntries=\(entries.count)", "Version=2"]
  }

  private func xspfLines(_ names: PlaceWriter) throws(MediaError) -> [String] {
    try checkWhole("XSPF")
    func element(_ name: String, _ text: String?) -> String? {
      text.flatMap(Self.line).map { "<\(name)>\(Self.escaped($0))</\(name)>" }
    }
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#, #"<playlist version="1" xmlns="http://xspf.org/ns/0/">"#,
    ]
    let head = [
      element("title", title), element("creator", metadata[.creator]), element("annotation", metadata[.annotation]),
      element("info", metadata[.info]), element("image", metadata[.image]), element("date", metadata[.date]),
    ]
    lines += head.compactMap { $0.map { "  \($0)" } }
    lines.append("  <trackList>")
    for entry in entries {
      let milliseconds = entry.duration.flatMap(Self.known)?.convertScale(1_000).value
      let parts = [
        "<location>\(Self.escaped(try names.reference(to: entry.place)))</location>", element("title", entry.title),
        element("creator", entry.metadata[.creator]), element("annotation", entry.metadata[.annotation]),
        element("info", entry.metadata[.info]), element("image", entry.metadata[.image]),
        element("album", entry.metadata[.album]), element("trackNum", entry.metadata[.trackNumber]),
        milliseconds.flatMap { $0 > 0 ? "<duration>\($0)</duration>" : nil },
      ]
      lines.append("    <track>")
      lines += parts.compactMap { $0.map { "      \($0)" } }
      lines.append("    </track>")
    }
    return lines + ["  </trackList>", "</playlist>"]
  }

  private static func known(_ duration: MediaTime) -> MediaTime? {
    duration.isNumeric && duration > .zero && duration <= PlaylistLimits.duration ? duration : nil
  }

  /// A text that stands in one line; nil for nothing.
  static func line(_ text: String) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isBreak = scalar.properties.generalCategory == .control || scalar.value == 0x2028 || scalar.value == 0x2029
      // Not characters of XML.
      scalars.append(isBreak || scalar.value & 0xFFFE == 0xFFFE ? " " : scalar)
    }
    let line = PlaylistText.cut(String(scalars))
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

/// Places as lists name them.
struct PlaceWriter {
  /// With a `/` behind it.
  private let base: [UInt8]?

  init(base: [UInt8]?) {
    self.base = base.map { $0.last == UInt8(ascii: "/") ? $0 : $0 + [UInt8(ascii: "/")] }
  }

  /// As people write it; `file:` URLs only for paths that are no line of text.
  func name(of place: PlaylistPlace) throws(MediaError) -> String {
    guard case .file(let path) = place else { return try Self.checked(place.displayText) }
    let relative = relative(path)
    if let text = Self.line(relative.map { Array($0) } ?? path) {
      return try Self.checked(relative.map { Self.isAmbiguous($0) } == true ? "./\(text)" : text)
    }
    return try Self.checked(Self.url(path))
  }

  /// As a URI reference.
  func reference(to place: PlaylistPlace) throws(MediaError) -> String {
    guard case .file(let path) = place else { return try Self.checked(place.displayText) }
    if let relative = relative(path) { return try Self.checked(FileURL.percentEncoded(relative)) }
    return try Self.checked(Self.url(path))
  }

  /// What stands behind the base; nil when nothing does, or what is not read back as it is.
  private func relative(_ path: [UInt8]) -> ArraySlice<UInt8>? {
    guard let base, path.starts(with: base) else {
      // Of a list that lies nowhere yet.
      return path.first == UInt8(ascii: "/") || path.starts(with: "./".utf8) ? nil : path[...]
    }
    let rest = path.dropFirst(base.count)
    return rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.starts(with: "./".utf8) ? nil : rest
  }

  private static func line(_ bytes: [UInt8]) -> String? {
    func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") }
    guard let text = String(validating: bytes, as: UTF8.self), !isBlank(bytes.first), !isBlank(bytes.last),
      text.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control && $0.value != 0x2028 && $0.value != 0x2029
      })
    else { return nil }
    return text
  }

  /// Whether a relative name would be read as something else: a comment, a URL, a drive, Windows' separators.
  private static func isAmbiguous(_ name: ArraySlice<UInt8>) -> Bool {
    name.first == UInt8(ascii: "#") || PlaceResolver.scheme(of: name) != nil || PlaceResolver.isDrive(name)
      || name.first == UInt8(ascii: "\"") || name.contains(UInt8(ascii: "\\"))
  }

  private static func url(_ path: [UInt8]) throws(MediaError) -> String {
    guard path.first == UInt8(ascii: "/"), !path.contains(0) else {
      throw MediaError(.invalidArgument, "\(PlaceResolver.excerpt(path)) is not an absolute path")
    }
    return "file://\(FileURL.percentEncoded(path))"
  }

  private static func checked(_ text: String) throws(MediaError) -> String {
    guard text.utf8.count <= PlaylistLimits.placeByteCount else {
      throw MediaError(.invalidArgument, "a name of more than \(PlaylistLimits.placeByteCount) bytes")
    }
    return text
  }
}
