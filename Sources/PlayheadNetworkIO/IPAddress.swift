import Glibc
import PlayheadMediaCore

/// An IP address.
///
/// The IPv4-mapped form of an address equals the IPv4 address. The unspecified addresses reach this machine, so they
/// equal the loopback addresses.
struct IPAddress: Sendable, Hashable {
  /// The 4 or 16 bytes of the address, in network order.
  let bytes: [UInt8]

  private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

  /// - Parameter bytes: the 4 or 16 bytes of the address, in network order.
  init(bytes: [UInt8]) {
    let short = bytes.count == 16 && bytes.starts(with: Self.mappedPrefix) ? Array(bytes[12...]) : bytes
    guard short.allSatisfy({ $0 == 0 }) else {
      self.bytes = short
      return
    }
    self.bytes = short.count == 4 ? [127, 0, 0, 1] : Array(repeating: 0, count: 15) + [1]
  }

  /// The address in a socket address; nil for other address families.
  init?(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      let raw = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
      self.init(bytes: withUnsafeBytes(of: raw.sin_addr) { Array($0) })
    case AF_INET6:
      let raw = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
      self.init(bytes: withUnsafeBytes(of: raw.sin6_addr) { Array($0) })
    default: return nil
    }
  }

  /// The address of a numeric host, in any form that the system accepts: `127.1`, `0x7f000001`.
  init?(host: String) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return nil }
    defer { freeaddrinfo(list) }
    guard let address = list?.pointee.ai_addr else { return nil }
    self.init(address)
  }

  /// The address, and the IPv4 address embedded in a transition address: 64:ff9b::/96 (RFC 6052), 2002::/16 (RFC 3056)
  /// and ::/96 (RFC 4291, section 2.5.5.1).
  var forms: [IPAddress] {
    guard bytes.count == 16 else { return [self] }
    var forms = [self]
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
      forms.append(IPAddress(bytes: Array(bytes[12...])))
    }
    if bytes.starts(with: [0x20, 0x02]) { forms.append(IPAddress(bytes: Array(bytes[2..<6]))) }
    if bytes[..<12].allSatisfy({ $0 == 0 }), bytes[12] != 0 { forms.append(IPAddress(bytes: Array(bytes[12...]))) }
    return forms
  }
}

/// A network in CIDR notation.
struct IPNetwork: Sendable, Hashable {
  /// The 4 or 16 bytes of the network; bits after the prefix are zero.
  private let bytes: [UInt8]
  private let prefixLength: Int

  /// Parses a network such as `10.0.0.0/8`, or a single address. Nil for other texts, and when a bit after the prefix
  /// is set.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, var bytes = Self.bytes(of: String(first)) else { return nil }
    var length = bytes.count * 8
    if parts.count == 2 {
      guard let number = HTTPURL.decimalUInt16(Array(parts[1].utf8)[...]), Int(number) <= length else { return nil }
      length = Int(number)
    }
    guard bytes.indices.allSatisfy({ bytes[$0] & ~Self.mask(ofByte: $0, length) == 0 }) else { return nil }
    // IPv4-mapped addresses are IPv4 addresses, so their networks are IPv4 networks.
    if bytes.count == 16, length >= 96, bytes.starts(with: Array(repeating: 0, count: 10) + [0xFF, 0xFF]) {
      (bytes, length) = (Array(bytes[12...]), length - 96)
    }
    self.bytes = bytes
    prefixLength = length
  }

  private static func bytes(of text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }

  private static func mask(ofByte index: Int, _ length: Int) -> UInt8 {
    let bits = max(0, min(8, length - index * 8))
    return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
  }

  func contains(_ address: IPAddress) -> Bool {
    address.bytes.count == bytes.count
      && bytes.indices.allSatisfy { address.bytes[$0] & Self.mask(ofByte: $0, prefixLength) == bytes[$0] }
  }

  /// Whether all addresses of the other network are in this one.
  func contains(_ other: IPNetwork) -> Bool {
    other.prefixLength >= prefixLength && other.bytes.count == bytes.count
      && bytes.indices.allSatisfy { other.bytes[$0] & Self.mask(ofByte: $0, prefixLength) == bytes[$0] }
  }
}
