import MediaCore

/// The path of a file as the system knows it: bytes, absolute, without a NUL. Or the address of a resource of an HTTP server, or the
/// number of a descriptor that was handed over, `fd:3`.
///
/// On the wire it is text. A path that is UTF-8 stands there as it is; any other as a `file://` URL whose other bytes are
/// percent-encoded. Every absolute path has exactly one such text, and the text leads back to the same bytes.
public struct FilePath: Sendable, Hashable, CustomStringConvertible {
  /// The path's bytes, beginning with `/`; no NUL at the end and none inside. An address's or a number's text otherwise.
  public let bytes: [UInt8]

  /// Whether it is an address, `http://` or `https://`, not a path.
  public var isAddress: Bool { bytes.first == UInt8(ascii: "h") || bytes.first == UInt8(ascii: "H") }

  /// Whether it is the path of a file, not an address or a descriptor.
  public var isFile: Bool { bytes.first == UInt8(ascii: "/") }

  /// The number of a descriptor that was handed over; nil when it is none.
  public var descriptorNumber: Int? { isFile || isAddress ? nil : string.flatMap(Self.descriptorNumber) }

  /// The number in `fd:3`; nil for any other text.
  public static func descriptorNumber(of text: String) -> Int? {
    let digits = text.utf8.dropFirst(descriptorScheme.utf8.count)
    guard text.hasPrefix(descriptorScheme), (1...18).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Int(String(digits) ?? "")
  }

  private static let descriptorScheme = "fd:"

  /// What stands for a descriptor that was handed over.
  public init(descriptorNumber: Int) { bytes = Array("\(Self.descriptorScheme)\(descriptorNumber)".utf8) }

  /// A path from the system's bytes; nil when they are not an absolute path or hold a NUL.
  public init?(bytes: [UInt8]) {
    guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else { return nil }
    self.bytes = bytes
  }

  /// An address that is known to be one.
  public init(address: String) { bytes = Array(address.utf8) }

  /// Bytes that an address may have.
  static let maximumAddressByteCount = 8_192

  /// Reads the wire's text: an absolute path, a `file://` URL without a host (or with `localhost`), or an `http://` or
  /// `https://` URL, or `fd:N`.
  ///
  /// Errors: `bad-arguments` for a relative path (the daemon's own folder means nothing to a client), an empty one, a NUL or bad
  /// percent-encoding; `unsupported-place` for a URL of another scheme.
  public init(text: String) throws(MediaError) {
    let utf8 = Array(text.utf8)
    guard !utf8.isEmpty else { throw MediaError(.badArguments, "a path cannot be empty") }
    if utf8.first == UInt8(ascii: "/") {
      guard !utf8.contains(0) else { throw MediaError(.badArguments, "a path cannot hold a NUL byte") }
      bytes = utf8
      return
    }
    if Self.descriptorNumber(of: text) != nil {
      bytes = utf8
      return
    }
    guard let colon = text.firstRange(of: "://") else {
      throw MediaError(
        .badArguments, "the path \(Excerpt.quoted(text)) is not absolute: it begins with /, or is a URL, or fd:N")
    }
    let scheme = text[..<colon.lowerBound].lowercased()
    if scheme == "http" || scheme == "https" {
      let rest = text[colon.upperBound...].utf8
      guard utf8.count <= Self.maximumAddressByteCount, !utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
        let first = rest.first, !"/?#:".utf8.contains(first)
      else {
        throw MediaError(.badArguments, "\(Excerpt.quoted(text)): a URL has a host, no spaces, and is not that long")
      }
      bytes = utf8
      return
    }
    guard scheme == "file" else {
      throw MediaError(
        .unsupportedPlace,
        "\(Excerpt.quoted(text)): only files can be played, by path or file:// URL, and http(s):// URLs")
    }
    var rest = utf8[text[..<colon.upperBound].utf8.count...]
    if rest.starts(with: "localhost/".utf8) { rest = rest.dropFirst("localhost".utf8.count) }
    guard rest.first == UInt8(ascii: "/") else {
      throw MediaError(.badArguments, "\(Excerpt.quoted(text)): a file:// URL has no host and an absolute path")
    }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(rest.count)
    var index = rest.startIndex
    while index < rest.endIndex {
      var byte = rest[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < rest.endIndex, let high = ASCII.hexValue(rest[index + 1]),
          let low = ASCII.hexValue(rest[index + 2])
        else { throw MediaError(.badArguments, "\(Excerpt.quoted(text)): % needs two hexadecimal digits behind it") }
        byte = high << 4 | low
        index += 2
      }
      guard byte != 0 else { throw MediaError(.badArguments, "a path cannot hold a NUL byte") }
      decoded.append(byte)
      index += 1
    }
    bytes = decoded
  }

  /// The path as a string; nil when its bytes are not UTF-8.
  public var string: String? { String(validating: bytes, as: UTF8.self) }

  /// Whether the path's name says that it is a list of media. An address that ends in .m3u8 is a stream (HLS) unless it is said to be
  /// a list.
  public var isNamedAsPlaylist: Bool {
    let bytes = isAddress ? bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } : bytes[...]
    let name = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
    let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return Self.playlistExtensions.contains(ending) && !(isAddress && ending == "m3u8")
  }

  private static let playlistExtensions: Set<String> = ["m3u", "m3u8", "pls", "xspf", "cue"]

  /// The text that stands for this path on the wire, in requests and replies.
  public var text: String { string ?? (isFile ? url : String(decoding: bytes, as: UTF8.self)) }

  /// The path as a percent-encoded `file://` URL (RFC 8089, RFC 3986 section 2.3: unreserved characters and `/` stay).
  public var url: String {
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

  public var description: String { text }
}
