/// Converts `file:` URLs to byte paths and back (RFC 8089), without Foundation.
package enum FileURL {
  /// The percent-decoded path of a `file:` URL.
  ///
  /// - Throws: `unsupportedLocation` for another scheme or a host other than `localhost`; `invalidArgument` otherwise.
  package static func path(from text: String) throws(MediaError) -> [UInt8] { try path(from: Array(text.utf8)) }

  /// The percent-decoded path of a `file:` URL whose bytes need not be UTF-8. Throws the same errors.
  package static func path(from bytes: [UInt8]) throws(MediaError) -> [UInt8] {
    func text() -> String { String(decoding: bytes, as: UTF8.self) }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw MediaError(.invalidArgument, "invalid URL: \(text())")
    }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self)
    guard scheme.lowercased() == "file" else {
      throw MediaError(.unsupportedLocation, "the scheme \(scheme) is not supported; use a path or a file: URL")
    }
    var rest = bytes[(colon + 1)...]
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let host = rest.prefix { $0 != UInt8(ascii: "/") }
      guard host.isEmpty || String(decoding: host, as: UTF8.self).lowercased() == "localhost" else {
        throw MediaError(.unsupportedLocation, "files on other hosts are not supported: \(text())")
      }
      rest = rest.dropFirst(host.count)
    }
    guard rest.first == UInt8(ascii: "/"), let path = percentDecoded(rest), !path.contains(0) else {
      throw MediaError(.invalidArgument, "invalid file URL: \(text())")
    }
    return path
  }

  /// Decodes percent-encoded bytes. Nil when a `%` is not followed by two hexadecimal digits.
  package static func percentDecoded(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
        return nil
      }
      decoded.append(high << 4 | low)
    }
    return decoded
  }

  /// Encodes the bytes of a path for a URL. Percent-encodes all bytes except unreserved ones (RFC 3986 section 2.3)
  /// and `/`.
  package static func percentEncoded(_ bytes: some Sequence<UInt8>) -> String {
    var encoded: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
        UInt8(ascii: "~"), UInt8(ascii: "/"):
        encoded.append(byte)
      default:
        encoded.append(UInt8(ascii: "%"))
        for digit in [byte >> 4, byte & 15] {
          encoded.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
      }
    }
    return String(decoding: encoded, as: UTF8.self)
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
