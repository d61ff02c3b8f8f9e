import MediaCore

/// An address that may be opened: `http:` or `https:`, with a host.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// Bytes that an address may have.
  public static let maximumByteCount = 8_192

  /// The address as it was given, with a user's name and password if it has them: for the server's ears only.
  public let text: String
  /// The same without them: for messages, logs and replies.
  public let redacted: String

  /// Whether a text begins as an address that this type reads.
  public static func isHTTP(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    return scheme == "http" || scheme == "https"
  }

  /// Reads an address (RFC 3986). What is not ASCII, or a space, must be percent-encoded, but letters beyond ASCII are let through.
  ///
  /// Errors: `unsupportedPlace` for another scheme; `invalidArgument` for what is no address.
  public init(_ text: String) throws(MediaError) {
    guard Self.isHTTP(text) else {
      throw MediaError(.unsupportedPlace, "only http: and https: are read from the network")
    }
    let bytes = Array(text.utf8)
    let authority = Self.authority(of: bytes)
    guard bytes.count <= Self.maximumByteCount, !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw MediaError(.invalidArgument, "not a URL, or one that is too long")
    }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
    guard let first = host.first, first != UInt8(ascii: ":") else {
      throw MediaError(.invalidArgument, "the URL has no host")
    }
    let port = Self.hostAndPort(host).port
    guard port.isEmpty || Self.number(ofPort: port) != nil else {
      throw MediaError(.invalidArgument, "the URL's port is not a number from 0 to 65535")
    }
    self.text = text
    redacted = String(
      decoding: bytes[..<authority.startIndex] + host + bytes[authority.endIndex...], as: UTF8.self)
  }

  /// The path's last part, still encoded: its ending hints at the format.
  public var lastPathComponent: String {
    // By bytes: with what is combined with it, a slash is another character.
    let slash = UInt8(ascii: "/")
    let path = redacted.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let name = path.split(separator: slash, omittingEmptySubsequences: false).last.map { String(Substring($0)) } ?? ""
    return path.split(separator: slash).count > 2 ? name : ""
  }

  public var description: String { redacted }
}
