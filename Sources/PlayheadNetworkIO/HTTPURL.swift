import PlayheadMediaCore

/// A supported URL: `http:` or `https:`, with a host.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// The maximum number of bytes of a URL.
  public static let maximumByteCount = 8_192

  /// The URL as specified, including credentials. Only for the connection to the server.
  public let text: String
  /// The URL without credentials, for messages, logs and replies.
  public let redacted: String

  /// Whether a text begins with a supported scheme.
  public static func isHTTP(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    return scheme == "http" || scheme == "https"
  }

  /// Parses a URL (RFC 3986). Spaces and control characters must be percent-encoded. Non-ASCII letters are
  /// accepted without encoding.
  ///
  /// - Throws: `unsupportedLocation` for another scheme; `invalidArgument` for an invalid URL.
  public init(_ text: String) throws(MediaError) {
    guard Self.isHTTP(text) else {
      throw MediaError(.unsupportedLocation, "the scheme of a network URL must be http or https")
    }
    let bytes = Array(text.utf8)
    let authority = Self.authority(of: bytes)
    guard bytes.count <= Self.maximumByteCount, !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw MediaError(.invalidArgument, "the URL is invalid or too long")
    }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
    guard let first = host.first, first != UInt8(ascii: ":") else {
      throw MediaError(.invalidArgument, "the URL has no host")
    }
    let port = Self.hostAndPort(host).port
    guard port.isEmpty || Self.decimalUInt16(port) != nil else {
      throw MediaError(.invalidArgument, "the port of the URL must be between 0 and 65535")
    }
    self.text = text
    redacted = String(
      decoding: bytes[..<authority.startIndex] + host + bytes[authority.endIndex...], as: UTF8.self)
  }

  /// The last component of the path, still percent-encoded. Its extension is a hint of the format.
  public var lastPathComponent: String {
    // Compare bytes: a slash with a combining character is a different `Character`.
    let slash = UInt8(ascii: "/")
    let path = redacted.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let name = path.split(separator: slash, omittingEmptySubsequences: false).last.map { String(Substring($0)) } ?? ""
    return path.split(separator: slash).count > 2 ? name : ""
  }

  public var description: String { redacted }
}
