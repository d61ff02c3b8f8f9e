/// How a URL is asked for.
public struct HTTPOptions: Sendable, Hashable {
  /// A header field of a request.
  public struct Header: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The servers that header fields are sent to.
  public enum HeaderScope: String, Sendable, Hashable {
    /// The origin (scheme, host and port) of the address that the fields were given for.
    case origin
    /// Every server that a redirect, a list or a stream leads to, but no `http` server on the way from an `https` one.
    case any
  }

  /// Header fields of each request to the servers of `headerScope`. They replace the fields that are sent by default.
  /// `Range`, `Host` and the fields about the connection are refused.
  public var headers: [Header] = [] {
    didSet { headerByteCount = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
  }
  /// The number of bytes of `headers`. Counted once, because many queue entries may share thousands of fields.
  public private(set) var headerByteCount = 0
  /// The servers that `headers` are sent to.
  public var headerScope = HeaderScope.origin
  /// Nil: Playhead's own, `Playhead/VERSION`.
  public var userAgent: String?
  /// Whether the network may be used at all. False: opening fails with `networkNotAllowed` before anything is looked up.
  public var isNetworkAllowed = true
  /// The same, by who may allow more than who asks: true goes before `isNetworkAllowed`.
  public var isNetworkForbidden = false
  /// The servers that may be reached; opening others fails with `addressNotAllowed`.
  public var networkRules = NetworkRules()
  /// Names of network interfaces (`eth0`) that may be used, tried in this order; empty: all.
  public var interfaces: [String] = []
  /// A file with certificates (PEM) of authorities that are believed; nil: those that the system believes.
  public var certificateAuthorityFile: String?
  /// Whether HTTP/2 may be spoken with servers that offer it (over TLS).
  public var allowsHTTP2 = true

  /// The address of the proxy to go through; nil: the one that the environment names, if any (`https_proxy`).
  var proxy: String?

  /// Until a connection stands, its name looked up and TLS agreed on.
  public var connectTimeout = Duration.seconds(10)
  /// From the request to the end of the answer's header.
  public var firstByteTimeout = Duration.seconds(15)
  /// The time in which `leastByteCount` bytes of the body must come, while bytes are wanted.
  public var stallTimeout = Duration.seconds(15)
  /// The pause before each further attempt, when one has failed and another may succeed. After that many attempts the
  /// read fails. The count begins anew whenever `attemptByteCount` further bytes have come.
  public var reconnectDelays: [Duration] = [0.5, 1, 2, 4, 8].map { .seconds($0) }
  /// A server that wants to be asked again later (`Retry-After`) is asked then, but no later than this.
  public var maximumRetryAfter = Duration.seconds(30)

  /// Of an HLS stream's variants the best is heard that has at most so many bits a second; nil or 0: the best of all.
  public var preferredPeakBitRate: Int64?

  public init() {}

  /// Bytes read ahead of what was asked for.
  public static let aheadByteCount = 4 << 20
  /// Bytes kept behind what was asked for.
  public static let behindByteCount = 1 << 20
  /// Forward reads over so many bytes read on instead of asking anew.
  static let nearByteCount: Int64 = 256 << 10
  /// From a server without ranges, so many bytes are read and dropped to come to a place.
  static let skipByteCount: Int64 = 16 << 20
  /// Bytes of a body that must come within `stallTimeout`.
  public static let leastByteCount = 512
  /// Bytes after which failed attempts are forgotten.
  public static let attemptByteCount: Int64 = 4_096
  static let maximumRedirectCount = 10
  /// Bytes of the body of a redirect that are read in order to keep the connection.
  static let redirectBodyByteCount: Int64 = 64 << 10
  /// Bytes of an answer's header.
  static let maximumHeaderByteCount = 256 << 10
  /// Every header of the user's, all together.
  public static let maximumRequestHeaderByteCount = 16 << 10
}

extension Duration {
  /// Nanoseconds, as far as they fit.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : whole &+ attoseconds / 1_000_000_000
  }
}
