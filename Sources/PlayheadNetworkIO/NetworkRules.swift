import PlayheadMediaCore

/// The permitted servers, by network and by host name.
///
/// <!-- listing: network-rules -->
/// ```swift
/// let rules = try? NetworkRules(allow: ["radio.example", ".music.example"], deny: [])
/// ```
///
/// An entry has one of these forms:
/// - a network in CIDR notation (`10.0.0.0/8`, `fd00::/8`),
/// - an address,
/// - a host name (`radio.example`),
/// - a host name after a dot (`.example`): that name and all names below it.
///
/// Networks are compared with the address of each connection, after name resolution, so names and redirects cannot
/// bypass them. Names are compared with the host in the URL.
///
/// 1. A server that an entry of `deny` matches is denied.
/// 2. Metadata services (`metadataNetworks`) are denied, unless a network in `allow` is within one of these networks.
/// 3. When `allow` has entries, a server that none of them matches is denied.
///
/// With a proxy, the address of the proxy is compared. The server is then compared by name only, or by its numeric
/// address.
public struct NetworkRules: Sendable, Hashable {
  private enum Entry: Sendable, Hashable {
    case network(IPNetwork)
    case host(String)
    /// A name and all names below it.
    case domain(String)

    var isName: Bool { if case .network = self { false } else { true } }

    func matches(_ host: String) -> Bool {
      switch self {
      case .network: false
      case .host(let name): host == name
      case .domain(let name): host == name || host.hasSuffix("." + name)
      }
    }

    func matches(_ address: IPAddress) -> Bool {
      if case .network(let network) = self { network.contains(address) } else { false }
    }
  }

  /// The networks of link-local addresses, and the address of a metadata service. Denied by default.
  public static let metadataNetworks = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128"]
  /// The maximum number of entries of each list.
  public static let maximumEntryCount = 1_024

  private static let metadata = metadataNetworks.compactMap(IPNetwork.init)

  private var allow: [Entry] = []
  private var deny: [Entry] = []

  /// Creates rules that permit everything except cloud metadata services.
  public init() {}

  /// - Throws: `invalidArgument` for an invalid entry, and for more than `maximumEntryCount` entries.
  public init(allow: [String], deny: [String]) throws(MediaError) {
    self.allow = try Self.entries(allow)
    self.deny = try Self.entries(deny)
  }

  private static func entries(_ texts: [String]) throws(MediaError) -> [Entry] {
    guard texts.count <= maximumEntryCount else {
      throw MediaError(
        .invalidArgument, "a list of networks must have at most \(maximumEntryCount) entries (got \(texts.count))")
    }
    var entries: [Entry] = []
    for text in texts { entries.append(try entry(text)) }
    return entries
  }

  private static func entry(_ text: String) throws(MediaError) -> Entry {
    if let network = IPNetwork(text) { return .network(network) }
    let isDomain = text.utf8.first == UInt8(ascii: ".")
    let name = String(Substring(text.utf8.dropFirst(isDomain ? 1 : 0))).lowercased()
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      !label.isEmpty && label.count <= 63
        && label.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || "-_".utf8.contains($0) }
    }
    // A host name never ends in a numeric label: such an entry is a mistyped network.
    guard isName, let last = labels.last, !last.allSatisfy({ (48...57).contains($0) }) else {
      throw MediaError(
        .invalidArgument, "'\(text)' must be a network (10.0.0.0/8, fd00::/8), an address or an ASCII host name")
    }
    return isDomain ? .domain(name) : .host(name)
  }

  /// Whether the rules permit a host, as far as can be decided before name resolution.
  func allows(host: String) -> Bool {
    if let address = IPAddress(host: host) { return allows(address, host: host) }
    if deny.contains(where: { $0.matches(host) }) { return false }
    // Name resolution could convert other characters into a denied name.
    if !host.utf8.allSatisfy({ $0 < 0x80 }), deny.contains(where: \.isName) { return false }
    return allow.isEmpty || allow.contains { !$0.isName || $0.matches(host) }
  }

  /// Whether a connection to an address is permitted.
  ///
  /// - Parameter host: the host in the opened URL, in the form of `HTTPURL.host`.
  func allows(_ address: IPAddress, host: String) -> Bool {
    let forms = address.forms
    if deny.contains(where: { entry in entry.matches(host) || forms.contains(where: entry.matches) }) { return false }
    for network in Self.metadata where forms.contains(where: network.contains) {
      return allow.contains {
        if case .network(let allowed) = $0 { network.contains(allowed) && allowed.contains(address) } else { false }
      }
    }
    return allow.isEmpty || allow.contains { $0.matches(host) || $0.matches(address) }
  }
}

extension HTTPURL {
  /// The host in lower case, percent-decoded, without the brackets of an IPv6 address and without a trailing dot.
  var host: String {
    var bytes = Array(origin.host.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    bytes = decoded
    if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") { bytes = Array(bytes.dropFirst().dropLast()) }
    while bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self).lowercased()
  }
}
