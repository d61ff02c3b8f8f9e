import MediaCore

/// How entries that are addresses are asked for: what is not said is as the daemon does it.
public struct NetworkOptions: Sendable, Hashable {
  /// A header field of requests.
  public struct HeaderField: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// As they were written: `Name: value`, a line each.
  public var header: String?
  /// Whether the header goes to every server, and not only to the origin of the address that it was given for.
  public var isHeaderForAny = false
  public var userAgent: String?
  /// False: nothing is asked of the network.
  public var isNetworkAllowed = true
  /// Names of the network interfaces that may be used; empty: all.
  public var interfaces: WireList<String> = []
  /// How long each step may take that hangs on the server.
  public var timeout: MediaTime?

  /// Bits a second that a stream's variant has at most; nil: any.
  public var peakBitRate: Int?

  public init() {}

  /// Bytes that are kept of it.
  public var byteCount: Int {
    (header?.utf8.count ?? 0) + (userAgent?.utf8.count ?? 0)
      + interfaces.reduce(0) { $0 + $1.utf8.count }
  }

  /// Header fields of requests.
  public var headerFields: [HeaderField] {
    lines.compactMap { line in
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == UInt8(ascii: " ") }
      return HeaderField(name: String(Substring(line[..<colon])), value: String(Substring(value)))
    }
  }

  /// The lines of the header that are not empty.
  private var lines: some Sequence<Substring.UTF8View> {
    let text = (header ?? "").utf8[...]
    return sequence(state: text) { (rest: inout Substring.UTF8View) -> Substring.UTF8View? in
      while !rest.isEmpty {
        var line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[line.endIndex...].dropFirst()
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if !line.isEmpty { return line }
      }
      return nil
    }
  }

  /// Errors: `bad-arguments` for a line of the header without a colon.
  func checkHeader() throws(MediaError) {
    for line in lines where !line.contains(UInt8(ascii: ":")) {
      throw MediaError(
        .badArguments, "\(Excerpt.quoted(Substring(line))): a header field is NAME: VALUE", operation: "header")
    }
  }
}

extension Arguments {
  /// What was said of the network. Errors: `bad-arguments` for what is no header.
  func networkOptions() throws(MediaError) -> NetworkOptions {
    var options = NetworkOptions()
    options.header = text(.header)
    try options.checkHeader()
    options.isHeaderForAny = text(.headerFor) == "any"
    options.userAgent = text(.userAgent)
    options.isNetworkAllowed = boolean(.network) ?? true
    options.interfaces = elements(.interface)
    options.timeout = time(.timeout)
    options.peakBitRate = integer(.peakBitRate)
    return options
  }
}
