import PlayheadMediaCore

/// The location of media, in one of three kinds:
///
/// - An absolute file path as bytes without NUL.
/// - An `http://` or `https://` URL.
/// - `fd:TOKEN`, which names a file descriptor that a client passed to the daemon.
///
/// On the wire a location is text. A path in UTF-8 is written unchanged. Any other path is written as a `file://` URL
/// with percent-encoding. Every absolute path has exactly one such text, and the text decodes to the same bytes.
package struct FilePath: Sendable, Hashable, CustomStringConvertible {
  /// The bytes of the path, beginning with `/`, without NUL and without a terminator. For URLs and tokens, the bytes of
  /// the text.
  package let bytes: [UInt8]

  /// Whether the location is an `http://` or `https://` URL.
  package var isAddress: Bool { Self.isAddress(bytes[...]) }

  /// Whether the location is a file path.
  package var isFile: Bool { bytes.first == UInt8(ascii: "/") }

  /// The extension of the file name, without its dot. Nil if it has none.
  package var fileExtension: String? {
    let name = bytes.split(separator: UInt8(ascii: "/")).last ?? []
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return String(decoding: name[(dot + 1)...], as: UTF8.self)
  }

  /// The token of a passed descriptor. Nil for other kinds.
  package var descriptorToken: String? { isFile || isAddress ? nil : string.flatMap(Self.descriptorToken) }

  /// The token of a text `fd:TOKEN`: 32 hexadecimal digits. Nil for any other text.
  package static func descriptorToken(of text: String) -> String? {
    isDescriptor(Array(text.utf8)[...]) ? String(text.dropFirst(descriptorScheme.count)) : nil
  }

  /// The length of a token in characters.
  package static let descriptorTokenLength = 32

  private static let descriptorScheme = "fd:"

  /// Creates the location of a passed descriptor.
  package init(descriptorToken: String) { bytes = Array("\(Self.descriptorScheme)\(descriptorToken)".utf8) }

  /// Creates a path from bytes. Returns nil for bytes that are not an absolute path, contain a NUL, or exceed
  /// ``maximumByteCount``.
  package init?(bytes: [UInt8]) {
    guard bytes.first == UInt8(ascii: "/"), bytes.count <= Self.maximumByteCount, !bytes.contains(0) else { return nil }
    self.bytes = bytes
  }

  /// Whether the path of each file in this folder is at most ``maximumByteCount`` bytes long.
  package var isPathOfFolder: Bool { folderPrefix.count + Self.maximumNameByteCount <= Self.maximumByteCount }

  /// The path of a file in this folder.
  package func appending(_ name: [UInt8]) -> FilePath { FilePath(validated: folderPrefix + name) }

  /// The name of this file if it is directly in a folder.
  package func name(in folder: FilePath) -> [UInt8]? {
    let prefix = folder.folderPrefix
    let name = Array(bytes.dropFirst(prefix.count))
    return bytes.starts(with: prefix) && !name.isEmpty && !name.contains(UInt8(ascii: "/")) ? name : nil
  }

  /// The path with one slash at the end.
  private var folderPrefix: [UInt8] { bytes.last == UInt8(ascii: "/") ? bytes : bytes + [UInt8(ascii: "/")] }

  /// Creates a location from a valid URL.
  package init(address: String) { bytes = Array(address.utf8) }

  /// The maximum length of a path, in bytes: PATH_MAX of Linux (limits.h). Playlists have the same limit.
  package static let maximumByteCount = 4_096

  /// The maximum length of the name of a file, in bytes: NAME_MAX of Linux (limits.h).
  private static let maximumNameByteCount = 255

  /// The maximum length of a URL, in bytes.
  static let maximumAddressByteCount = 8_192

  /// Parses the text form: an absolute path, a `file://` URL without a host (or with `localhost`), an `http://` or
  /// `https://` URL, or `fd:TOKEN`.
  ///
  /// Relative paths are rejected, because a client does not know the working directory of the daemon.
  ///
  /// - Throws: `bad-arguments` for a relative or empty path, a path longer than ``maximumByteCount``, a NUL, or invalid
  ///   percent-encoding.
  ///   `unsupported-location` for a URL with another scheme.
  package init(text: String) throws(MediaError) { try self.init(wire: Array(text.utf8)[...]) }

  /// `init(text:)` for bytes.
  init(wire text: ArraySlice<UInt8>) throws(MediaError) {
    guard let path = try Self.escapedPath(text) else {
      bytes = Array(text)
      return
    }
    var decoded: [UInt8] = []
    try Self.unescape(path, of: text) { decoded.append($0) }
    try Self.check(byteCount: decoded.count)
    bytes = decoded
  }

  /// Parses a text and packs the resulting bytes. Returns their number.
  ///
  /// - Throws: The errors of `init(text:)`.
  static func pack(_ text: ArraySlice<UInt8>, into values: inout PackedValues) throws(MediaError) -> Int {
    guard let path = try escapedPath(text) else {
      values.append(text)
      return text.count
    }
    var count = 0
    try unescape(path, of: text) { _ in count += 1 }
    try check(byteCount: count)
    values.startValue(byteCount: count)
    try unescape(path, of: text) { values.append(byte: $0) }
    return count
  }

  /// The percent-encoded path of a `file://` URL. Nil for other texts, which are used unchanged.
  private static func escapedPath(_ text: ArraySlice<UInt8>) throws(MediaError) -> ArraySlice<UInt8>? {
    guard let first = text.first else { throw MediaError(.badArguments, "a path must not be empty") }
    if first == UInt8(ascii: "/") {
      try check(byteCount: text.count)
      guard !text.contains(0) else { throw MediaError(.badArguments, "a path must not contain a NUL byte") }
      return nil
    }
    if isDescriptor(text) { return nil }
    guard let colon = indexOfAuthority(text) else {
      throw MediaError(
        .badArguments,
        "the path \(Excerpt.quoted(text)) is not absolute: it must begin with /, or be a URL or fd:TOKEN")
    }
    let scheme = text[..<colon]
    let rest = text[(colon + 3)...]
    if isWord(scheme, "http") || isWord(scheme, "https") {
      if let fault = faultOfAddress(text, afterScheme: rest) {
        throw MediaError(.badArguments, "\(Excerpt.quoted(text)): \(fault)")
      }
      return nil
    }
    guard isWord(scheme, "file") else {
      throw MediaError(
        .unsupportedLocation,
        "\(Excerpt.quoted(text)): the scheme must be file, http or https")
    }
    let path = rest.starts(with: "localhost/".utf8) ? rest.dropFirst("localhost".utf8.count) : rest
    guard path.first == UInt8(ascii: "/") else {
      throw MediaError(.badArguments, "\(Excerpt.quoted(text)): a file:// URL must have an absolute path and no host")
    }
    return path
  }

  /// The reason why an `http://` or `https://` URL is not accepted. Nil if it is. `rest` follows `://`.
  private static func faultOfAddress(_ text: ArraySlice<UInt8>, afterScheme rest: ArraySlice<UInt8>) -> String? {
    guard text.count <= maximumAddressByteCount else {
      return "a URL must have at most \(maximumAddressByteCount) bytes (got \(text.count))"
    }
    if text.contains(UInt8(ascii: " ")) { return "a URL must not contain spaces; write %20 instead" }
    guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return "a URL must not contain control characters" }
    guard let first = rest.first, !"/?#:".utf8.contains(first) else { return "a URL must have a host" }
    return nil
  }

  /// - Throws: `bad-arguments` for a path that is too long for any file.
  private static func check(byteCount: Int) throws(MediaError) {
    guard byteCount <= maximumByteCount else {
      throw MediaError(.badArguments, "a path must have at most \(maximumByteCount) bytes (got \(byteCount))")
    }
  }

  /// The index of the first `://`.
  private static func indexOfAuthority(_ text: ArraySlice<UInt8>) -> Int? {
    for index in text.indices where text[index] == UInt8(ascii: ":") {
      if text[index...].starts(with: "://".utf8) { return index }
    }
    return nil
  }

  /// Whether a text equals `word`, which consists of lower-case letters and digits, ignoring case.
  private static func isWord(_ text: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    for offset in 0..<text.count {
      let (byte, expected) = (text[text.startIndex + offset], word.utf8Start[offset])
      guard byte == expected || (expected >= UInt8(ascii: "a") && byte | 0x20 == expected) else { return false }
    }
    return true
  }

  private static func isDescriptor(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.starts(with: descriptorScheme.utf8) else { return false }
    let digits = text.dropFirst(descriptorScheme.utf8.count)
    return digits.count == descriptorTokenLength
      && digits.allSatisfy {
        ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }

  /// Calls `body` with each byte of a path in a URL, decoded from percent-encoding. `text` is the whole URL, for
  /// errors.
  private static func unescape(
    _ path: ArraySlice<UInt8>, of text: ArraySlice<UInt8>, _ body: (UInt8) -> Void
  ) throws(MediaError) {
    var index = path.startIndex
    while index < path.endIndex {
      var byte = path[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < path.endIndex, let high = ASCII.hexValue(path[index + 1]),
          let low = ASCII.hexValue(path[index + 2])
        else {
          throw MediaError(
            .badArguments,
            "\(Excerpt.quoted(text)): % must be followed by two hexadecimal digits")
        }
        byte = high << 4 | low
        index += 2
      }
      guard byte != 0 else { throw MediaError(.badArguments, "a path must not contain a NUL byte") }
      body(byte)
      index += 1
    }
  }

  /// The path as a string. Nil if its bytes are not UTF-8.
  package var string: String? { String(validating: bytes, as: UTF8.self) }

  /// Whether the file name extension is that of a playlist. A URL with the extension .m3u8 is an HLS stream unless the
  /// request declares it as a playlist.
  package var isNamedAsPlaylist: Bool { Self.isNamedAsPlaylist(bytes[...]) }

  /// The same for the bytes of a path.
  static func isNamedAsPlaylist(_ path: ArraySlice<UInt8>) -> Bool {
    let isAddress = isAddress(path)
    let bytes = isAddress ? path.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } : path
    let name = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes[($0 + 1)...] } ?? bytes
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
    let fileExtension = name[(dot + 1)...]
    return isWord(fileExtension, "m3u") || (isWord(fileExtension, "m3u8") && !isAddress) || isWord(fileExtension, "pls")
      || isWord(fileExtension, "xspf") || isWord(fileExtension, "cue")
  }

  /// Whether the path may be a playlist, which a descriptor cannot be.
  static func isFileOrAddress(_ path: ArraySlice<UInt8>) -> Bool {
    path.first == UInt8(ascii: "/") || isAddress(path)
  }

  private static func isAddress(_ path: ArraySlice<UInt8>) -> Bool {
    path.first == UInt8(ascii: "h") || path.first == UInt8(ascii: "H")
  }

  /// The text of this location on the wire, in requests and replies.
  package var text: String { string ?? (isFile ? url : String(decoding: bytes, as: UTF8.self)) }

  /// The path as a percent-encoded `file://` URL (RFC 8089, RFC 3986 section 2.3: unreserved characters and `/` stay).
  package var url: String {
    guard isFile else { return text }
    var encoded = Array("file://".utf8)
    for byte in bytes {
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "~") || ASCII.isNameByte(byte) {
        encoded.append(byte)
      } else {
        encoded.append(UInt8(ascii: "%"))
        for digit in [byte >> 4, byte & 15] {
          encoded.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  package var description: String { text }
}

extension FilePath: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> FilePath { FilePath(validated: Array(bytes)) }

  /// Creates a location from bytes that were validated earlier.
  private init(validated bytes: [UInt8]) { self.bytes = bytes }
}
