import MediaCore

/// Places as lists name them.
struct PlaceWriter {
  /// With a `/` behind it.
  private let base: [UInt8]?

  init(base: [UInt8]?) {
    self.base = base.map { $0.last == UInt8(ascii: "/") ? $0 : $0 + [UInt8(ascii: "/")] }
  }

  /// As people write it; `file:` URLs only for paths that are no line of text.
  func name(of place: PlaylistPlace) throws(MediaError) -> String {
    let path: [UInt8]
    switch place {
    case .file(let bytes): path = bytes
    case .url(let text): return try Self.checked(text)
    }
    let relative = relative(path)
    if let text = Self.line(relative.map { Array($0) } ?? path) {
      return try Self.checked(relative.map { Self.isAmbiguous($0) } == true ? "./\(text)" : text)
    }
    return try Self.checked(Self.url(path))
  }

  /// As a URI reference.
  func reference(to place: PlaylistPlace) throws(MediaError) -> String {
    switch place {
    case .url(let text): return try Self.checked(text)
    case .file(let path):
      if let relative = relative(path) { return try Self.checked(FileURL.percentEncoded(relative)) }
      return try Self.checked(Self.url(path))
    }
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
