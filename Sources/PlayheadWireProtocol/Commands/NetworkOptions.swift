import PlayheadMediaCore

/// Options for requests of entries that are URLs. Unset options use the configuration of the daemon.
package struct NetworkOptions: Sendable, Hashable {
  /// A header field of requests.
  package struct HeaderField: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The header fields as given in the request: one `Name: value` per line.
  package var header: String?
  /// Whether the header fields are sent to every server. Otherwise only to the origin of the URL that they were given
  /// for.
  package var isHeaderForAny = false
  package var userAgent: String?
  /// False: network access fails.
  package var isNetworkAllowed = true
  /// The names of the allowed network interfaces. Empty: all.
  package var interfaces: WireList<String> = []
  /// The time limit of each step that depends on the server.
  package var timeout: MediaTime?

  /// The maximum bit rate of an HLS variant, in bits per second. Nil: no limit.
  package var peakBitRate: Int?

  package init() {}

  /// The number of stored bytes.
  package var byteCount: Int {
    (header?.utf8.count ?? 0) + (userAgent?.utf8.count ?? 0)
      + interfaces.reduce(0) { $0 + $1.utf8.count }
  }

  /// The parsed header fields.
  package var headerFields: [HeaderField] {
    lines.compactMap { line in
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == UInt8(ascii: " ") }
      return HeaderField(name: String(Substring(line[..<colon])), value: String(Substring(value)))
    }
  }

  /// The non-empty lines of the header.
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

  /// Checks that every line of the header contains a colon.
  ///
  /// - Throws: `bad-arguments` for a line without one.
  func checkHeader() throws(MediaError) {
    for (index, line) in lines.enumerated() where !line.contains(UInt8(ascii: ":")) {
      // The line may be a secret.
      throw MediaError(
        .badArguments, "a header field must be NAME: VALUE (field \(index + 1) has no colon)", operation: "header")
    }
  }
}

extension ParsedArguments {
  /// The network options of the request. Their header is not checked.
  var network: NetworkOptions {
    var options = NetworkOptions()
    options.header = text(.header)
    options.isHeaderForAny = text(.headerFor) == "any"
    options.userAgent = text(.userAgent)
    options.isNetworkAllowed = boolean(.network) ?? true
    options.interfaces = elements(.interface)
    options.timeout = time(.timeout)
    options.peakBitRate = integer(.peakBitRate)
    return options
  }

  /// The network options of the request.
  ///
  /// - Throws: `bad-arguments` for an invalid header field.
  func networkOptions() throws(MediaError) -> NetworkOptions {
    let options = network
    try options.checkHeader()
    return options
  }
}
