import PlayheadMediaCore

/// Converts locations to names in playlists.
struct LocationWriter {
  /// The base folder with a trailing `/`.
  private let base: [UInt8]?

  init(base: [UInt8]?) {
    self.base = base.map { $0.last == UInt8(ascii: "/") ? $0 : $0 + [UInt8(ascii: "/")] }
  }

  /// The name in the form of M3U, PLS and CUE. Paths that cannot be a line of text become `file:` URLs.
  func name(of location: PlaylistLocation) throws(MediaError) -> String {
    let path: [UInt8]
    switch location {
    case .file(let bytes): path = bytes
    case .url(let text): return try Self.checked(text)
    }
    let relative = relative(path)
    if let text = Self.line(relative.map { Array($0) } ?? path) {
      return try Self.checked(relative.map { Self.isAmbiguous($0) } == true ? "./\(text)" : text)
    }
    return try Self.checked(Self.url(path))
  }

  /// The location as a URI reference.
  func reference(to location: PlaylistLocation) throws(MediaError) -> String {
    switch location {
    case .url(let text): return try Self.checked(text)
    case .file(let path):
      if let relative = relative(path) { return try Self.checked(FileURL.percentEncoded(relative)) }
      return try Self.checked(Self.url(path))
    }
  }

  /// The path relative to the base. Nil when the path is not below the base, or when a parser would resolve the result
  /// to another path.
  private func relative(_ path: [UInt8]) -> ArraySlice<UInt8>? {
    guard let base, path.starts(with: base) else {
      // The entries of a playlist without a location have relative paths.
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

  /// Whether a parser would not read the name as a relative path, but as a comment, a URL, a drive or a Windows path.
  private static func isAmbiguous(_ name: ArraySlice<UInt8>) -> Bool {
    name.first == UInt8(ascii: "#") || LocationResolver.scheme(of: name) != nil || LocationResolver.isDrive(name)
      || name.first == UInt8(ascii: "\"") || name.contains(UInt8(ascii: "\\"))
  }

  private static func url(_ path: [UInt8]) throws(MediaError) -> String {
    guard path.first == UInt8(ascii: "/"), !path.contains(0) else {
      throw MediaError(.invalidArgument, "\(LocationResolver.excerpt(path)) is not an absolute path")
    }
    return "file://\(FileURL.percentEncoded(path))"
  }

  private static func checked(_ text: String) throws(MediaError) -> String {
    guard text.utf8.count <= PlaylistLimits.locationByteCount else {
      throw MediaError(.invalidArgument, "a location must have at most \(PlaylistLimits.locationByteCount) bytes")
    }
    return text
  }
}
