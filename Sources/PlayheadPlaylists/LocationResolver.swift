import PlayheadMediaCore

/// Resolves names and URLs in a playlist to locations, relative to the playlist's location.
struct LocationResolver {
  /// The location of the playlist.
  let playlistLocation: PlaylistLocation

  /// The supported URL schemes.
  static let schemes: Set<String> = ["http", "https"]
  /// Schemes that are recognized without `//` after the colon. Any other name without `//` is a file name.
  private static let opaqueSchemes: Set<String> = [
    "file", "javascript", "data", "mailto", "urn", "about", "cdda", "dvd", "magnet", "pipe", "fd", "concat", "subfile",
  ]

  /// Resolves a name in the form of M3U, PLS and CUE: an absolute or relative path, or a URL.
  ///
  /// A name with backslashes and without slashes is a Windows path: `Album\01.flac` becomes `Album/01.flac`. Drives
  /// (`C:\...`) and shares (`\\host\...`) are not supported.
  ///
  /// - Throws: `unsupportedLocation` for drives, shares, other schemes and files on other hosts; `notAllowed` for a
  ///   local file in a remote playlist; `invalidArgument`; `playlistLimitExceeded`.
  func location(ofName name: ArraySlice<UInt8>) throws(MediaError) -> PlaylistLocation {
    try check(name)
    if let scheme = Self.scheme(of: name) {
      let rest = name.dropFirst(scheme.utf8.count + 1)
      if rest.starts(with: "//".utf8) || Self.opaqueSchemes.contains(scheme) {
        return try location(ofURL: name, scheme: scheme)
      }
    }
    return try location(ofPath: try Self.replacingBackslashes(name))
  }

  /// Resolves a percent-encoded URI reference (RFC 3986), the form of XSPF. Incorrectly encoded references are used as
  /// names.
  func location(ofReference reference: ArraySlice<UInt8>) throws(MediaError) -> PlaylistLocation {
    try check(reference)
    if let scheme = Self.scheme(of: reference) { return try location(ofURL: reference, scheme: scheme) }
    if case .url = playlistLocation { return try location(ofPath: reference) }
    let decoded = FileURL.percentDecoded(reference)
    guard decoded?.contains(0) != true else { throw Self.invalid(reference, "contains a NUL byte") }
    // URIs never contain backslashes, so this one is a Windows path.
    let path = reference.contains(UInt8(ascii: "\\")) ? try Self.replacingBackslashes(reference) : reference
    return try location(ofPath: (FileURL.percentDecoded(path) ?? Array(path))[...])
  }

  // MARK: - Parts

  private func check(_ name: ArraySlice<UInt8>) throws(MediaError) {
    guard name.count <= PlaylistLimits.locationByteCount else {
      throw MediaError(
        .playlistLimitExceeded,
        "a location must have at most \(PlaylistLimits.locationByteCount) bytes (got \(name.count))")
    }
    guard !name.isEmpty else { throw MediaError(.invalidArgument, "the location is empty") }
    guard !name.contains(0) else { throw Self.invalid(name, "contains a NUL byte") }
  }

  /// The error for an invalid name.
  private static func invalid(_ name: ArraySlice<UInt8>, _ problem: String) -> MediaError {
    MediaError(.invalidArgument, "\(excerpt(name)) \(problem)")
  }

  /// The beginning of a name for a message, without credentials.
  static func excerpt(_ name: some Collection<UInt8>) -> String {
    let shown = String(decoding: AddressText.withoutCredentials(Array(name)[...]).prefix(80), as: UTF8.self)
    let clean = shown.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : Character($0) }
    return "\"\(String(clean))\""
  }

  /// The lower-case scheme of a name; nil when the name has none. A single letter is a drive, not a scheme.
  static func scheme(of name: ArraySlice<UInt8>) -> String? {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":")), colon - name.startIndex >= 2 else { return nil }
    let scheme = name[..<colon].map(\.asciiLowercased)
    func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    guard let first = scheme.first, isLetter(first),
      scheme.allSatisfy({ byte in
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
      })
    else { return nil }
    return String(decoding: scheme, as: UTF8.self)
  }

  /// Whether the path begins with a drive: `C:\` or `C:/`.
  static func isDrive(_ path: ArraySlice<UInt8>) -> Bool {
    guard let letter = path.first?.asciiLowercased, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else {
      return false
    }
    let rest = path.dropFirst()
    let separator = rest.dropFirst().first
    return rest.first == UInt8(ascii: ":") && (separator == UInt8(ascii: "/") || separator == UInt8(ascii: "\\"))
  }

  /// Converts a relative Windows path. Throws for drives and shares.
  private static func replacingBackslashes(_ name: ArraySlice<UInt8>) throws(MediaError) -> ArraySlice<UInt8> {
    guard !isDrive(name), name.first != UInt8(ascii: "\\") else {
      throw MediaError(.unsupportedLocation, "\(excerpt(name)) is on a Windows drive or share")
    }
    guard name.contains(UInt8(ascii: "\\")), !name.contains(UInt8(ascii: "/")) else { return name }
    return name.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }[...]
  }

  private func location(ofURL text: ArraySlice<UInt8>, scheme: String) throws(MediaError) -> PlaylistLocation {
    if scheme == "file" {
      if case .url = playlistLocation {
        throw MediaError(.notAllowed, "\(Self.excerpt(text)): a remote playlist must not refer to local files")
      }
      let path = text.dropFirst(scheme.utf8.count + 1)
      guard !Self.isDrive(path.drop { $0 == UInt8(ascii: "/") }) else {
        throw MediaError(.unsupportedLocation, "\(Self.excerpt(text)) is on a Windows drive")
      }
      return .file(try FileURL.path(from: Array(text)))
    }
    guard Self.schemes.contains(scheme) else {
      throw MediaError(.unsupportedLocation, "\(Self.excerpt(text)): the scheme \(scheme) is not supported")
    }
    let rest = text.dropFirst(scheme.utf8.count + 3)
    guard text.dropFirst(scheme.utf8.count + 1).starts(with: "//".utf8), let first = rest.first,
      first != UInt8(ascii: "/")
    else { throw Self.invalid(text, "has no host") }
    return .url("\(scheme)://\(Self.escaped(rest))")
  }

  private func location(ofPath path: ArraySlice<UInt8>) throws(MediaError) -> PlaylistLocation {
    switch playlistLocation {
    case .file(let listPath):
      if path.first == UInt8(ascii: "/") { return .file(Array(path)) }
      var name = path
      while name.starts(with: "./".utf8) { name = name.dropFirst(2).drop { $0 == UInt8(ascii: "/") } }
      guard !name.isEmpty else { throw Self.invalid(path, "has no file name") }
      let end = listPath.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
      return .file(Array(listPath[..<end]) + name)
    case .url(let text): return .url(Self.resolved(Self.escaped(path), against: Self.escaped(text.utf8)))
    }
  }

  // MARK: - URLs

  /// Percent-encodes all characters that URLs do not permit. Existing encoding is preserved.
  private static func escaped(_ bytes: some Sequence<UInt8>) -> String {
    var result = ""
    for byte in bytes {
      if byte > 0x20, byte < 0x7F, !"\"<>\\^`{|}".utf8.contains(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += FileURL.percentEncoded(CollectionOfOne(byte))
      }
    }
    return result
  }

  /// Resolves a path reference (RFC 3986 section 5.2).
  static func resolved(_ reference: String, against base: String) -> String {
    guard let colon = base.firstRange(of: "://") else { return reference }
    if reference.hasPrefix("//") { return base[..<colon.lowerBound] + ":" + reference }
    let rest = base[colon.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let path = rest[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    let suffixStart = reference.firstIndex { $0 == "?" || $0 == "#" } ?? reference.endIndex
    let referencePath = reference[..<suffixStart]
    let whole: String =
      if referencePath.isEmpty {
        String(path)
      } else if referencePath.hasPrefix("/") {
        String(referencePath)
      } else {
        String(folder) + referencePath
      }
    return base[..<colon.upperBound] + authority + removingDotSegments(whole) + reference[suffixStart...]
  }

  /// Removes dot segments (RFC 3986 section 5.2.4).
  private static func removingDotSegments(_ path: String) -> String {
    var segments: [Substring] = []
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      switch part {
      case ".": if isLast { segments.append("") }
      case "..":
        _ = segments.popLast()
        if isLast { segments.append("") }
      default: segments.append(part)
      }
    }
    return "/" + segments.joined(separator: "/")
  }
}
