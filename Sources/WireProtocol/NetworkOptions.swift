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

  public var headerFields: [HeaderField] = []
  public var userAgent: String?
  /// False: nothing is asked of the network.
  public var isNetworkAllowed = true
  /// Names of the network interfaces that may be used; empty: all.
  public var interfaces: [String] = []
  /// How long each step may take that hangs on the server.
  public var timeout: MediaTime?

  /// Bits a second that a stream's variant has at most; nil: any.
  public var peakBitRate: Int?

  public init() {}

  /// Bytes that are kept of it.
  public var byteCount: Int {
    headerFields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } + (userAgent?.utf8.count ?? 0)
      + interfaces.reduce(0) { $0 + $1.utf8.count }
  }

  /// Header fields from their lines. Errors: `bad-arguments` for one without a colon.
  static func headerFields(_ text: String) throws(MediaError) -> [HeaderField] {
    var fields: [HeaderField] = []
    for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
      guard let colon = line.firstIndex(of: ":") else {
        throw MediaError(
          .badArguments, "\(Excerpt.quoted(String(line))): a header field is NAME: VALUE", operation: "header")
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields.append(HeaderField(name: String(line[..<colon]), value: String(value)))
    }
    return fields
  }
}

extension Arguments {
  /// What was said of the network. Errors: `bad-arguments` for what is no header.
  func networkOptions() throws(MediaError) -> NetworkOptions {
    var options = NetworkOptions()
    options.headerFields = try NetworkOptions.headerFields(text(.header) ?? "")
    options.userAgent = text(.userAgent)
    options.isNetworkAllowed = boolean(.network) ?? true
    options.interfaces = elements(.interface)
    options.timeout = time(.timeout)
    options.peakBitRate = integer(.peakBitRate)
    return options
  }
}
