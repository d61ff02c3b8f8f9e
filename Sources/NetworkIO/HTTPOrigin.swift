/// The origin of an address (RFC 6454): its scheme, host and port. Secrets that were given for one origin stay there.
public struct HTTPOrigin: Sendable, Hashable {
  /// Whether the scheme is `https`.
  public let isSecure: Bool
  /// The host in lower case, as the address spells it. Two spellings of one host are two origins.
  public let host: String
  /// The port; the scheme's own port (80 or 443) when the address names none.
  public let port: UInt16
}

extension HTTPURL {
  /// The scheme, host and port.
  public var origin: HTTPOrigin {
    let isSecure = redacted.utf8.prefix { $0 != UInt8(ascii: ":") }.count == 5
    let authority = Self.authority(of: Array(redacted.utf8))
    let (host, port) = Self.hostAndPort(authority)
    return HTTPOrigin(
      isSecure: isSecure, host: String(decoding: host, as: UTF8.self).lowercased(),
      port: Self.number(ofPort: port) ?? (isSecure ? 443 : 80))
  }

  /// The address with the user name and password of another address, if both have one origin and only the other has some.
  func withCredentials(of other: HTTPURL) -> HTTPURL {
    guard text == redacted, other.text != other.redacted, origin == other.origin else { return self }
    let authority = Self.authority(of: Array(other.text.utf8))
    let credentials = authority[...(authority.lastIndex(of: UInt8(ascii: "@")) ?? authority.startIndex)]
    let bytes = Array(text.utf8)
    let start = Self.authority(of: bytes).startIndex
    // An address that becomes too long stays without credentials, and the server refuses it.
    return (try? HTTPURL(String(decoding: bytes[..<start] + credentials + bytes[start...], as: UTF8.self))) ?? self
  }

  /// The part after `://`, up to the path.
  static func authority(of bytes: [UInt8]) -> ArraySlice<UInt8> {
    let slashes = Array("://".utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: slashes) else { return [] }
    return bytes[(colon + slashes.count)...].prefix { !"/?#".utf8.contains($0) }
  }

  /// The host and the text of the port of an authority without credentials; the port is empty when there is none.
  static func hostAndPort(_ authority: ArraySlice<UInt8>) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>) {
    // The colons of an IPv6 address are within its brackets.
    let start = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    guard let colon = authority[start...].firstIndex(of: UInt8(ascii: ":")) else { return (authority, []) }
    return (authority[..<colon], authority[(colon + 1)...])
  }

  /// The number of a port of digits; nil for every other text.
  static func number(ofPort text: ArraySlice<UInt8>) -> UInt16? {
    guard !text.isEmpty, text.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt16(String(decoding: text, as: UTF8.self))
  }
}

extension HTTPOptions {
  /// The options for an address that a resource names: an entry of a list, a part of a stream, a redirect.
  ///
  /// The header fields go along only when `headerScope` allows it, and never from `https` to `http`.
  ///
  /// - Parameter origin: the origin that the header fields were given for; nil for a local file, which has none.
  public func inherited(from origin: HTTPOrigin?, by url: HTTPURL) -> HTTPOptions {
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
