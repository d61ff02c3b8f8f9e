import MediaCore

/// `file:` URLs to paths of bytes (RFC 8089), without Foundation.
enum FileURL {
  /// The path that a `file:` URL names, percent-decoded.
  ///
  /// Errors: `unsupportedPlace` for another scheme or a host other than `localhost`; `invalidArgument` otherwise.
  static func path(from text: String) throws(MediaError) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw MediaError(.invalidArgument, "not a URL: \(text)")
    }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self)
    guard scheme.lowercased() == "file" else {
      throw MediaError(.unsupportedPlace, "the scheme \(scheme) is not supported; use a path or a file: URL")
    }
    var rest = bytes[(colon + 1)...]
    if rest.starts(with: Array("//".utf8)) {
      rest = rest.dropFirst(2)
      let host = rest.prefix { $0 != UInt8(ascii: "/") }
      guard host.isEmpty || String(decoding: host, as: UTF8.self).lowercased() == "localhost" else {
        throw MediaError(.unsupportedPlace, "files on other hosts are not supported: \(text)")
      }
      rest = rest.dropFirst(host.count)
    }
    guard rest.first == UInt8(ascii: "/"), let path = percentDecoded(rest), !path.contains(0) else {
      throw MediaError(.invalidArgument, "not a file URL: \(text)")
    }
    return path
  }

  /// Nil when a `%` is not followed by two hexadecimal digits.
  private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else {
        return nil
      }
      decoded.append(high << 4 | low)
    }
    return decoded
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
