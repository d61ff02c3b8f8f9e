/// The origin of a URL (RFC 6454): scheme, host and port. Secrets for one origin are never sent to another.
package struct HTTPOrigin: Sendable, Hashable {
  /// Whether the scheme is `https`.
  package let isSecure: Bool
  /// The host in lower case, as spelled in the URL. Two spellings of one host are two origins.
  package let host: String
  /// The port; the default port of the scheme (80 or 443) when the URL contains none.
  package let port: UInt16
}

extension HTTPURL {
  /// The scheme, host and port.
  package var origin: HTTPOrigin {
    let isSecure = redacted.utf8.prefix { $0 != UInt8(ascii: ":") }.count == 5
    let authority = Self.authority(of: Array(redacted.utf8))
    let (host, port) = Self.hostAndPort(authority)
    return HTTPOrigin(
      isSecure: isSecure, host: String(decoding: host, as: UTF8.self).lowercased(),
      port: Self.decimalUInt16(port) ?? (isSecure ? 443 : 80))
  }

  /// This URL with the credentials of another URL, if both have one origin and only the other has credentials.
  func withCredentials(of other: HTTPURL) -> HTTPURL {
    guard text == redacted, other.text != other.redacted, origin == other.origin else { return self }
    let authority = Self.authority(of: Array(other.text.utf8))
    let credentials = authority[...(authority.lastIndex(of: UInt8(ascii: "@")) ?? authority.startIndex)]
    let bytes = Array(text.utf8)
    let start = Self.authority(of: bytes).startIndex
    // A URL that would become too long stays without credentials. The server then rejects the request.
    return (try? HTTPURL(String(decoding: bytes[..<start] + credentials + bytes[start...], as: UTF8.self))) ?? self
  }

  /// The part of a URL between `://` and the path.
  static func authority(of bytes: [UInt8]) -> ArraySlice<UInt8> {
    let slashes = Array("://".utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: slashes) else { return [] }
    return bytes[(colon + slashes.count)...].prefix { !"/?#".utf8.contains($0) }
  }

  /// The host and the port text of an authority without credentials; the port is empty when missing.
  static func hostAndPort(_ authority: ArraySlice<UInt8>) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>) {
    // The colons of an IPv6 address are inside its brackets.
    let start = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    guard let colon = authority[start...].firstIndex(of: UInt8(ascii: ":")) else { return (authority, []) }
    return (authority[..<colon], authority[(colon + 1)...])
  }

  /// The number of a text of decimal digits; nil for any other text, and for numbers above 65,535.
  static func decimalUInt16(_ text: ArraySlice<UInt8>) -> UInt16? {
    guard !text.isEmpty, text.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt16(String(decoding: text, as: UTF8.self))
  }
}

extension HTTPOptions {
  /// The options for a URL that a resource references: an entry of a playlist, a part of a stream, or a redirect.
  ///
  /// The header fields are included only when `headerScope` permits it, and never from `https` to `http`.
  ///
  /// - Parameters:
  ///   - origin: the origin that the header fields were specified for; nil for a local file, which has none.
  ///   - url: The referenced URL.
  package func inherited(from origin: HTTPOrigin?, by url: HTTPURL) -> HTTPOptions {
    guard !headers.isEmpty else { return self }
    let target = url.origin
    let isInherited =
      switch headerScope {
      case .origin: origin == target
      case .any: origin?.isSecure != true || target.isSecure
      }
    guard !isInherited else { return self }
    var options = self
    options.headers = []
    return options
  }
}
